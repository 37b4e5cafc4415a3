"""Materialise a lazy conjugate: y = conj(stored values) where self has the conjugate bit, y = self where it has not.

Any rank, any strides, complex64 and complex128; other dtypes never have the bit.  PyTorch returns an argument without
the bit itself.  The answer must not have the conjugate bit set; its values are compared, zeros of
either sign, since 0 - x is a negation too.  The answer may share memory with self if the bit is not set.  Overload:
resolve_conj is the only one.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, FrameworkWork, ProblemDefinition, Tier
from problems.kit import F32, Arguments, Layout, torch
from problems.kit.movement import case_values, count, equal
from problems.kit.views import VIEW, over, written_out

_over = partial(over, lazy=True)
_NAME = "{shape} {dtype} conj {lazy}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 33), dtype=[DType.COMPLEX64, DType.COMPLEX128]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 5), dtype=DType.COMPLEX64, lazy=False),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (3, 1025)], dtype=DType.COMPLEX64),
    *_over(Tier.FULL, _NAME, shape=(2, 3, 4, 2, 3), dtype=[DType.COMPLEX64, DType.COMPLEX128], lazy=[True, False]),
    *_over(Tier.FULL, _NAME, shape=(9, 40), dtype=[F32, DType.INT64, DType.BOOL], lazy=False),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dtype=DType.COMPLEX64, lazy=[True, False],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 2, 3), dtype=DType.COMPLEX128, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=[DType.COMPLEX64, DType.COMPLEX128],
           values="special"),
    *_over(Tier.BENCH, _NAME, shape=(2048, 4096), dtype=[DType.COMPLEX64, DType.COMPLEX128]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, with the conjugate bit where `lazy`."""
    x = case_values(case, rng)
    return (x.conj() if case.claim("lazy") else x,)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of self: real and imaginary part computed separately, the sign of the latter flipped."""
    if not x.is_conj():
        return x.clone()
    stored = torch.view_as_real(x.conj())
    return torch.complex(stored[..., 0], -stored[..., 1])


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator, which does nothing if the argument does not have the bit."""
    return torch.resolve_conj(x)


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::resolve_conj",
    entry="resolve_conj",
    signature="resolve_conj(self: Tensor) -> Tensor",
    summary="Materialise a lazily conjugated tensor",
    category=Category.VIEW,
    second_oracle="PyTorch's resolve_conj, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=equal,
    cost=cost,
    framework=(*VIEW, FrameworkWork.COPIES, FrameworkWork.ALLOCATION),
    determinism=Determinism.EXACT,
    materialises=True,
    cannot_reject={"unchanged_input": "an argument equals the answer in value: its conjugate bit is part of its value"},
)
