"""A copy in place: self[i] = dtype(src[i]) with src broadcast to self.

Any rank, any strides, any dtypes of both; memory between the elements of self stays as it is.  Casts as those of
`_to_copy`: to nearest for floating dtypes, without the fraction for integers, other than 0 for bool, else the real part
of a complex number.  Returns self.  Overloads: copy_ is tested with tensors; .int and .float are TorchScript's.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, ReturnedMemory, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, result_dtype, torch
from problems.kit.casts import COPIES, cast, cast_tolerance, castable, copy_cost, elements
from problems.kit.movement import EVERY_DTYPE, any_values, count

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", result="same", to=(), to_layout=Layout.CONTIGUOUS)
_NAME = "{shape} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(31, 257), (2, 3, 4, 2, 3)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.SMOKE, f"{_NAME} to {{result}}", shape=(5, 33), dtype=F32, result="int32"),
    *_over(Tier.FULL, f"{_NAME} to {{result}}", shape=(9, 40), dtype=EVERY_DTYPE,
           result=["float32", "float16", "int64", "uint8", "bool"]),
    *_over(Tier.FULL, f"{_NAME} to {{result}}", shape=(9, 40), dtype=[F32, DType.FLOAT64, DType.INT32, DType.BOOL],
           result=["bfloat16", "float64", "int32", "int16", "int8", "complex64"]),
    *_over(Tier.FULL, f"{_NAME} to {{result}} {{layout}}", shape=(13, 65), dtype=[F32, DType.INT32], result="float16",
           layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, f"{_NAME} to {{result}} {{values}}", shape=(7, 33), dtype=FLOATS, values="special",
           result=["float32", "float16", "bfloat16", "bool"]),
    *_over(Tier.FULL, f"{_NAME} in {{to}}", shape=[(1,), (9, 1), (1, 40), (40,), ()], to=(9, 40), dtype=F32),
    *_over(Tier.FULL, f"{_NAME} in {{to}}", shape=(7, 1, 3), to=(2, 7, 5, 3), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} self {{to_layout}}", shape=(33, 65), dtype=[F32, BF16],
           to_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(3, 7, 2, 3), dtype=F16, layout=Layout.IRREGULAR,
           to_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, f"{_NAME} in {{to}} to {{result}}", shape=(4096, 1), to=(4096, 4096), dtype=F32,
           result="bfloat16"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `to`, or the shape of src, of dtype `result`; src: `shape`; non_blocking: False."""
    target = result_dtype(case)
    x = any_values(_shape(case), target, rng, layout=case.word("to_layout"))
    return x, castable(case, rng, source=case.dtype, target=target), False


def _shape(case: Case) -> tuple[int, ...]:
    return case.shape("to") or case.shape("shape")


def reference(x: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: as the returned and as the written tensor."""
    copy = cast(src, x.dtype).expand(x.shape)
    return copy, copy


def eager(x: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    return x.copy_(src, non_blocking)


def tolerance(case: Case) -> Tolerance:
    """One rounding at most."""
    return cast_tolerance(case.dtype, result_dtype(case))


def cost(case: Case) -> Cost:
    """Every element of src is read, every one of self written once."""
    written = count(_shape(case))
    return copy_cost(case, read=min(elements(case), written), written=written)


PROBLEM = ProblemDefinition(
    name="aten::copy_",
    entry="copy_",
    signature="copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor",
    summary="Copy src into self with broadcast and dtype conversion",
    category=Category.COPY_CAST,
    second_oracle="PyTorch's copy_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    framework=COPIES,
    determinism=Determinism.ROUNDING,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
    written_only=("self",),
    cannot_reject={"unchanged_input": "the answer is a copy of src"},
)
