"""A problem: its cases, inputs, reference, tolerance and cost.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from engine.model.case import Case
from engine.model.parsing import parse

if TYPE_CHECKING:
    import torch

    Value: TypeAlias = (
        torch.Tensor | torch.dtype | bool | int | float | str | list["Value"] | tuple["Value", ...] | None
    )
    Arguments: TypeAlias = tuple[Value, ...]
    Outputs: TypeAlias = torch.Tensor | tuple[torch.Tensor, ...]


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far an output may lie from its float64 reference.

    An element passes when |got - expected| <= relative * |expected| + absolute * scale, where
    `scale` is the root mean square of the finite expected values of that output.  Zero for both
    asks for equality to the bit (integers, copies).
    """

    relative: float
    absolute: float

    def __post_init__(self) -> None:
        for value in (self.relative, self.absolute):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(
                    f"a tolerance must be finite and not negative, got {self.relative} and {self.absolute}"
                )


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The least work that a case asks for: each input byte read once, each output byte written once."""

    flops: int
    bytes_read: int
    bytes_written: int

    def __post_init__(self) -> None:
        if min(self.flops, self.bytes_read, self.bytes_written) < 0:
            raise ValueError(f"a cost cannot be negative: {self}")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An operator: what it computes, on which cases, and how closely.

    The functions import torch when they are called, never when the module is imported.
    `make_inputs` returns the entry's arguments in the order of the signature.  `reference` takes
    private copies of them and returns the expected outputs, computed in higher precision and
    rounded to the output dtype: first the `returns` returned tensors, then one for each name in
    `mutates`.  `eager` is what a PyTorch user would write, in the dtype of the inputs, with the
    entry's own contract; it is the baseline and the honest same-precision witness.
    """

    name: str
    entry: str
    signature: str
    summary: str
    category: str
    cases: tuple[Case, ...]
    make_inputs: Callable[[Case, torch.Generator], Arguments]
    reference: Callable[..., Outputs]
    eager: Callable[..., Outputs | None]
    tolerance: Callable[[Case], Tolerance]
    cost: Callable[[Case], Cost]
    origin: str
    returns: int = 1
    mutates: tuple[str, ...] = ()
    written_only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError(f"{self.origin}: PROBLEM.cases is empty; a problem needs at least one case to verify")
        names = [case.name for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"{self.origin}: two cases are called {sorted(twice)[0]!r}; case names must differ")
        try:
            parse(f"def {self.signature}: ...")
        except SyntaxError as error:
            raise ValueError(f"{self.origin}: {self.signature!r} is no signature: {error.msg}") from error
        unknown = (set(self.mutates) - set(self.arguments)) | (set(self.written_only) - set(self.mutates))
        if unknown:
            raise ValueError(
                f"{self.origin}: {sorted(unknown)[0]!r} is no argument of {self.signature!r} that is written in place"
            )
        if self.returns + len(self.mutates) < 1:
            raise ValueError(
                f"{self.origin}: {self.name} neither returns nor writes anything; there is nothing to verify"
            )

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The argument names of the signature, in order."""
        definition = parse(f"def {self.signature}: ...").body[0]
        assert isinstance(definition, ast.FunctionDef)
        spec = definition.args
        return tuple(argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))

    @property
    def source(self) -> str:
        """Where the operator comes from: aten, vllm, cublas."""
        return self.name.partition("::")[0]

    @property
    def outputs(self) -> tuple[str, ...]:
        """What is compared, in order: "return" (or "return[i]") and the names written in place."""
        returned = ("return",) if self.returns == 1 else tuple(f"return[{i}]" for i in range(self.returns))
        return (*returned, *self.mutates)

    def case(self, name: str) -> Case:
        """The case called `name`.

        Raises:
            KeyError: there is none.
        """
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(name)
