"""Problems of a few numbers, small enough to compute by hand; imported by the judge under test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.errors import EngineError
from engine.model import (
    CalledCase,
    Case,
    Cost,
    Determinism,
    DType,
    OutputMatch,
    PointerArray,
    ProblemDefinition,
    Tier,
    Tolerance,
)

CASE = Case(name="one", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
LARGE = Case(name="large", dtype=DType.FLOAT32, tier=Tier.FULL, params={})
REFERENCE_CALLS: list[tuple[Any, ...]] = []


def _problem(
    attribute: str, signature: str, make_inputs: Callable[..., Any], reference: Callable[..., Any], **changes: Any
) -> ProblemDefinition:
    def noted(*arguments: Any) -> Any:
        REFERENCE_CALLS.append(arguments)
        return reference(*arguments)

    return ProblemDefinition(
        name=f"toy::{attribute.lower()}",
        entry="f",
        signature=signature,
        summary="",
        category="toy",
        cases=(CASE, LARGE),
        make_inputs=make_inputs,
        reference=noted,
        eager=reference,
        tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
        **changes,
    )


def _random(*shape: int) -> Callable[[Case, torch.Generator], tuple[torch.Tensor]]:
    return lambda case, rng: (torch.randn(shape, generator=rng),)


TWICE = _problem("TWICE", "f(x: Tensor) -> Tensor", _random(4), lambda x: 2 * x)
"""Returns; the input must stay."""

PAIR = _problem("PAIR", "f(x: Tensor) -> tuple", _random(3), lambda x: (x + 1, x - 1), returns=2)
"""Returns two."""


def _doubled_in_place(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(2)


IN_PLACE = _problem("IN_PLACE", "f(x: Tensor) -> None", _random(4), _doubled_in_place, returns=0, mutates=("x",))
"""Writes its argument, and so does the reference."""


def _strided_output(case: Case, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, 2, generator=rng), torch.zeros(2, 4)[:, :2]


INTO = _problem(
    "INTO",
    "f(x: Tensor, out: Tensor) -> None",
    _strided_output,
    lambda x, out: x + 1,
    returns=0,
    mutates=("out",),
    written_only=("out",),
)
"""Writes a strided output: two of four columns."""


def _two_cleared(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.zeros(2), x[2:]])


CLEARS = _problem("CLEARS", "f(x: Tensor) -> None", _random(4), _two_cleared, returns=0, mutates=("x",))
"""Writes zeros to two elements of its argument and leaves the other two."""

PADDED = _problem("PADDED", "f(x: Tensor) -> Tensor", _random(4), lambda x: torch.cat([2 * x, torch.full((5,), 7.0)]))
"""Five of nine elements are one number that is no element of the input."""

OPTIONAL = _problem(
    "OPTIONAL",
    "f(x: Tensor, out: Tensor | None) -> Tensor",
    lambda case, rng: (torch.randn(2, generator=rng), None),
    lambda x, out: 2 * x,
    mutates=("out",),
)
"""Could write an argument, which is None in its case."""


def _drawn_scalar(case: Case, rng: torch.Generator) -> tuple[torch.Tensor, int]:
    return torch.zeros(4), int(torch.randint(1 << 30, (), generator=rng))


SCALAR = _problem("SCALAR", "f(x: Tensor, n: int) -> Tensor", _drawn_scalar, lambda x, n: x)
"""Takes a number that depends on the seed."""

ALIASES = _problem(
    "ALIASES",
    "f(xs: list[Tensor]) -> Tensor",
    lambda case, rng: ([(base := torch.randn(4, generator=rng))[:2], base[2:]],),
    lambda xs: xs[0] + xs[1],
)
"""Takes a list of two views of one storage."""

EMPTY = _problem("EMPTY", "f(x: Tensor) -> Tensor", _random(0, 3), lambda x: x.sum(1))
"""Returns no element at all."""


def _batch(case: Case, rng: torch.Generator) -> tuple[PointerArray, PointerArray]:
    given = tuple(torch.randn(3, generator=rng) for _ in range(2))
    return PointerArray(tensors=given), PointerArray(tensors=(torch.zeros(3), torch.zeros(3)))


BATCHED = _problem(
    "BATCHED",
    "f(xs: Pointers, ys: Pointers) -> None",
    _batch,
    lambda xs, ys: tuple(2 * x for x in xs.tensors),
    returns=0,
    mutates=("ys",),
    written_only=("ys",),
)
"""Writes tensors that it knows by their addresses."""

LISTED = _problem(
    "LISTED",
    "f(x: Tensor, outs: list[Tensor | None]) -> None",
    lambda case, rng: (torch.randn(3, generator=rng), [torch.zeros(3), None, torch.zeros(3)]),
    lambda x, outs: (x + 1, x - 1),
    returns=0,
    mutates=("outs",),
)
"""Writes the tensors of a list that also holds None."""

SPLIT = _problem("SPLIT", "f(x: Tensor) -> list[Tensor]", _random(5), lambda x: tuple(x.split(2)), returns=None)
"""Returns as many tensors as the case has."""

ITEM = _problem("ITEM", "f(x: Tensor) -> float", _random(1), lambda x: x[0].double(), returns_scalar=True)
"""Returns a Python number."""

ON_CPU = _problem(
    "ON_CPU", "f(x: Tensor, n: Tensor) -> Tensor", lambda case, rng: (torch.ones(2), torch.ones(1)), lambda x, n: x + n,
    on_cpu=("n",),
)  # fmt: skip
"""Takes a tensor that is in host memory on every device."""

CONJUGATED = _problem(
    "CONJUGATED",
    "f(x: Tensor) -> Tensor",
    lambda case, rng: (torch.randn(3, generator=rng, dtype=torch.complex64).conj(),),
    lambda x: x.resolve_conj(),
)
"""Takes a tensor whose conjugation torch has not carried out."""


WRITTEN_OUT = _problem(
    "WRITTEN_OUT",
    "f(x: Tensor) -> Tensor",
    lambda case, rng: (torch.randn(3, generator=rng, dtype=torch.complex64).conj(),),
    lambda x: x.resolve_conj(),
    materialises=True,
)
"""Carries out the conjugation that torch has not."""


def _any_order(call: CalledCase) -> tuple[OutputMatch]:
    wrong = call.outputs[0].sort().values != call.expected[0].sort().values
    return (OutputMatch(wrong=wrong, message="another set of numbers"),)


SHUFFLED = _problem(
    "SHUFFLED",
    "f(x: Tensor) -> Tensor",
    _random(4),
    lambda x: x,
    determinism=Determinism.ORDER_FREE,
    compare=_any_order,
)
"""Returns its input in any order."""


def _first_two(call: CalledCase) -> tuple[OutputMatch]:
    wrong = call.outputs[0] != call.expected[0]
    wrong[2:] = False
    return (OutputMatch(wrong=wrong, left_open=torch.tensor([False, False, True, True])),)


OPEN_TAIL = _problem("OPEN_TAIL", "f(x: Tensor) -> Tensor", _random(4), lambda x: 2 * x, compare=_first_two)
"""Returns twice its input; what the last two elements hold is open."""


def _unlike_before(call: CalledCase) -> tuple[OutputMatch]:
    is_repeated = any(torch.equal(call.outputs[0], before) for before in call.earlier)
    wrong = torch.full_like(call.outputs[0], is_repeated, dtype=torch.bool)
    return (OutputMatch(wrong=wrong, message="the numbers of the call before"),)


DRAWN = _problem(
    "DRAWN",
    "f(x: Tensor) -> Tensor",
    _random(4),
    torch.rand_like,
    determinism=Determinism.RANDOM,
    compare=_unlike_before,
)
"""Returns random numbers."""


def _raising(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("this reference is broken")


BROKEN = _problem("BROKEN", "f(x: Tensor) -> Tensor", _random(1), _raising)
NOT_A_PROBLEM = 3


class _Toys:
    """The source of these problems; the judge opens it by the name of this module."""

    id = __name__

    def load(self, name: str, *, version: str = "") -> ProblemDefinition:
        """The problem of that name here."""
        found = globals().get(name)
        if not isinstance(found, ProblemDefinition):
            raise EngineError(f"{self.id} has no {name}")
        return found


def open_source(argument: str) -> _Toys:
    """What engine.problem_source.open_source calls."""
    return _Toys()
