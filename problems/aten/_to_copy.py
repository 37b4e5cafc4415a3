"""A copy with a cast: y[i] = dtype(self[i]).

Any rank, any strides, any dtypes.  Without a dtype the answer has that of self.  The answer shares no memory with self.
A cast to a floating dtype rounds to nearest, ties to even, and may overflow to infinity; one unit in the last place is
allowed.  A cast to an integer dtype truncates towards 0, a cast to bool is true for values other than 0, a cast of a
complex number to another real dtype keeps the real part.  Numbers beyond an integer dtype are outside of the contract.
Values are compared, not strides.  Overloads: _to_copy is tested; .out computes the same; layout, device, pin_memory,
non_blocking and memory_format are left out.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, ReturnedMemory, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, result_dtype, torch, torch_dtype
from problems.kit.casts import COPIES, cast, cast_tolerance, castable, copy_cost, elements
from problems.kit.movement import EVERY_DTYPE

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", result="same")
_NAME = "{shape} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(31, 257), (8, 7, 9), (2, 3, 4, 2, 3)], dtype=FLOATS),
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
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=[(3, 7, 2, 3), (9,)], dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, f"{_NAME} to {{result}}", shape=(4096, 4096), dtype=[F32, BF16], result="float16"),
    *_over(Tier.BENCH, f"{_NAME} to {{result}}", shape=(4096, 4096), dtype=F32, result="int32"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dtype or None."""
    target = result_dtype(case)
    dtype = None if case.word("result") == "same" else torch_dtype(target)
    return castable(case, rng, source=case.dtype, target=target), dtype


def reference(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape of self, new memory."""
    return cast(x, dtype or x.dtype)


def eager(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten._to_copy.default(x, dtype=dtype)
    return result


def tolerance(case: Case) -> Tolerance:
    """One rounding at most."""
    return cast_tolerance(case.dtype, result_dtype(case))


def cost(case: Case) -> Cost:
    """Every element is read and written once."""
    return copy_cost(case, read=elements(case), written=elements(case))


PROBLEM = ProblemDefinition(
    name="aten::_to_copy",
    entry="_to_copy",
    signature="_to_copy(self: Tensor, dtype: DType | None = None) -> Tensor",
    summary="Copy with an optional change of dtype",
    category=Category.COPY_CAST,
    second_oracle="numpy.ndarray.astype, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    returned_memory=ReturnedMemory.NEW,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    framework=COPIES,
    determinism=Determinism.ROUNDING,
    cannot_reject={"unchanged_input": "the answer is a copy of self"},
)
