"""A problem as code: the content of a problem file, called by the judge.  Never part of a message or a plan.

No torch here: the functions import it when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from engine.model.problems.case import Case
from engine.model.problems.comparison import CalledCase, OutputMatch
from engine.model.problems.problem import Cost, Problem, ProblemContract, Tolerance
from engine.model.problems.reference_timer import ReferenceTimer

if TYPE_CHECKING:
    import torch

    from engine.model.problems.values import Arguments, Outputs, Returned


# Compared by identity: two versions of one file may differ in a function alone.
@dataclass(frozen=True, kw_only=True, eq=False)
class ProblemDefinition(ProblemContract):
    """An operator: its computation, its cases, and its tolerance.

    The functions import torch when they are called, never when the module is imported. `make_inputs` returns the
    entry's arguments in the order of the signature.  `reference` takes private copies of them and returns the expected
    outputs, computed in higher precision and rounded to the output dtype: first the `returns` returned tensors, then
    one for each name in `mutates`.  `eager` is what a PyTorch user would write, in the dtype of the inputs, with the
    entry's own contract; it is the baseline and an honest computation in the same precision.

    `second_oracle` names an independent implementation with which tests compare the reference; it is a literal.
    `compare` replaces the tolerance, with one result for each output; it runs if the shapes and dtypes of all outputs
    are right.  `cannot_reject` has, for wrong answers of the generic rules (problems/rules/lies.py), the reason why no
    case of this problem can detect them, by name.  `passes_own_rule` is the result of the suite's own rule for outputs
    of a foreign problem, None without a result; it decides nothing.  `structured` names arguments whose values have a
    property together that other values lack, such as a well-conditioned matrix: they are not varied.  `timer` times the
    reference of a foreign problem, which runs in another process.
    """

    make_inputs: Callable[[Case, torch.Generator], Arguments]
    reference: Callable[..., Outputs]
    eager: Callable[..., Returned]
    tolerance: Callable[[Case], Tolerance]
    cost: Callable[[Case], Cost]
    second_oracle: str = ""
    compare: Callable[[CalledCase], tuple[OutputMatch, ...]] | None = None
    cannot_reject: Mapping[str, str] = field(default_factory=dict)
    passes_own_rule: Callable[[CalledCase], bool | None] | None = None
    structured: tuple[str, ...] = ()
    timer: ReferenceTimer | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = set(self.structured) - set(self.arguments)
        if unknown:
            raise ValueError(f"{self.name}: structured names {sorted(unknown)[0]!r}, not an argument")

    def problem(self, source: str, *, version: str = "") -> Problem:
        """The values of this definition, as found in the source with this id."""
        contract = {field.name: getattr(self, field.name) for field in fields(ProblemContract)}
        return Problem(
            **contract,
            source=source,
            version=version,
            tolerance_by_case={case.name: self.tolerance(case) for case in self.cases},
            cost_by_case={case.name: self.cost(case) for case in self.cases},
        )
