"""A problem outside of the judge: names, cases, tolerances and costs; values only, no code.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from engine.model.parsing import parse
from engine.model.problems.case import Case
from engine.model.problems.category import POSITIONED, REARRANGING, Category
from engine.model.problems.form import CandidateForm
from engine.model.problems.semantics import Determinism, FrameworkWork, Rearrangement, ReturnedMemory
from engine.model.problems.suite_origin import SuiteOrigin


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Permitted distance of an output from its float64 reference.

    An element passes when |got - expected| <= relative * |expected| + absolute * scale, where `scale` is the root mean
    square of the finite expected values of that output, but at least `least_scale`.  Zero for the first two requires
    equal values (integers, copies). With `signed_zeros` a zero must have the sign of the expected zero, in both parts
    of a complex number; otherwise it may have either.

    `least_scale` is for outputs of few elements: the root mean square of one element is that element, which may be near
    zero by chance, while the rounding errors of its terms are not smaller then.  It is at most the root mean square of
    such outputs over many draws.
    """

    relative: float
    absolute: float
    least_scale: float = 0.0
    signed_zeros: bool = False

    def __post_init__(self) -> None:
        for value in (self.relative, self.absolute, self.least_scale):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"a tolerance must be finite and not negative, got {value}")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The least work of a case: each input byte read once, each output byte written once."""

    flops: int
    bytes_read: int
    bytes_written: int

    def __post_init__(self) -> None:
        if min(self.flops, self.bytes_read, self.bytes_written) < 0:
            raise ValueError(f"a cost cannot be negative: {self}")


@dataclass(frozen=True, kw_only=True)
class ProblemId:
    """Key that opens a problem: the id of its source and its full name there.

    `source` is the name of a module with `open_source`, and after a colon its argument; see engine/problem_source.py.
    `version` is the hash of the file of a problem that may change; empty for one that comes with the program.
    """

    source: str
    name: str
    version: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProblemContract:
    """Contract between a problem and its candidates: entry, signature, returned and written values, and cases.

    `returns` is the number of returned tensors; None for a sequence whose length depends on the case.  With
    `returns_scalar` the one returned value is a Python number, and the reference returns it as a 0-d tensor. With
    `materialises` a returned tensor must not have torch's lazy conjugate or negative bit, and `returned_memory` is
    where it may lie. `mutates` names the arguments that are written in place: a tensor, or a sequence or PointerArray
    of them, whose elements are compared one by one; `written_only` those of them whose content before the call is not
    read. `on_cpu` names arguments that are tensors in host memory on every device; they are never written. `may_write`
    names arguments that a call may change, and that are not compared: buffers of a foreign suite. `framework` is the
    work that may be left to PyTorch without computing the answer.  `suite` is set for a problem of another suite: its
    reference runs in a process of its own, which calibrates the tolerance. `rearranges` is set where the category does
    not imply it: the answer is a rearrangement of the arguments.
    """

    name: str
    entry: str
    signature: str
    summary: str
    category: Category
    cases: tuple[Case, ...]
    returns: int | None = 1
    returns_scalar: bool = False
    materialises: bool = False
    returned_memory: ReturnedMemory = ReturnedMemory.ANY
    mutates: tuple[str, ...] = ()
    written_only: tuple[str, ...] = ()
    on_cpu: tuple[str, ...] = ()
    may_write: tuple[str, ...] = ()
    determinism: Determinism = Determinism.ROUNDING
    framework: tuple[FrameworkWork, ...] = ()
    suite: SuiteOrigin | None = None
    rearranges: bool = False

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError(f"{self.name}: cases is empty; a problem needs at least one case to verify")
        names = [case.name for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"{self.name}: two cases are called {sorted(twice)[0]!r}; case names must differ")
        try:
            parse(f"def {self.signature}: ...")
        except SyntaxError as error:
            raise ValueError(f"{self.name}: {self.signature!r} is not a signature: {error.msg}") from error
        unknown = (set(self.mutates) - set(self.arguments)) | (set(self.written_only) - set(self.mutates))
        if unknown:
            raise ValueError(
                f"{self.name}: {sorted(unknown)[0]!r} is not an argument of {self.signature!r} that is written in place"
            )
        if self.returns == 0 and not self.mutates:
            raise ValueError(f"{self.name} neither returns nor writes anything; there is nothing to verify")
        if self.returns_scalar and self.returns != 1:
            raise ValueError(f"{self.name}: returns_scalar needs returns=1, got returns={self.returns}")
        if self.returned_memory is ReturnedMemory.WRITTEN and not (self.returns == 1 and self.mutates):
            raise ValueError(f"{self.name}: returned_memory needs one returned tensor and an argument written in place")
        misplaced = set(self.on_cpu) - (set(self.arguments) - set(self.mutates))
        if misplaced:
            raise ValueError(f"{self.name}: on_cpu names {sorted(misplaced)[0]!r}; it must be an argument that is read")

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The argument names of the signature, in order."""
        definition = parse(f"def {self.signature}: ...").body[0]
        assert isinstance(definition, ast.FunctionDef)
        spec = definition.args
        return tuple(argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))

    @property
    def rearrangement(self) -> Rearrangement:
        """Whether the answer is a rearrangement, so that moves by the framework can compute it."""
        if self.category in POSITIONED:
            return Rearrangement.BY_POSITIONS
        if self.category is Category.SORT:
            return Rearrangement.BY_ORDER
        if self.rearranges or self.category in REARRANGING:
            return Rearrangement.YES
        if self.suite is not None or self.category is Category.OTHER:
            return Rearrangement.BY_CONTENT
        return Rearrangement.NO

    @property
    def form(self) -> CandidateForm:
        """Form of a candidate's entry."""
        return self.suite.form if self.suite is not None else CandidateForm.FUNCTION

    @property
    def shown_signature(self) -> str:
        """Signature that a candidate defines; for a foreign problem without the arguments for weights."""
        return (self.suite.signature if self.suite is not None else "") or self.signature

    @property
    def shown_category(self) -> str:
        """The category; for a foreign problem the suite's own."""
        return (self.suite.category if self.suite is not None else "") or str(self.category)

    @property
    def file_stem(self) -> str:
        """Stem of a kernel file's name: the entry, or for a foreign problem, whose entries are all alike, its name."""
        return self.entry if self.suite is None else re.sub(r"\W+", "_", self.name.rpartition("::")[2])

    @property
    def library(self) -> str:
        """Library of the operator, the first part of its name: aten, vllm, cublas."""
        return self.name.partition("::")[0]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the compared outputs, in order: "return" (or "return[i]") and the arguments written in place.

        If the number of returned tensors depends on the case, "return[...]" is the name of all of them.
        """
        if self.returns is None:
            return ("return[...]", *self.mutates)
        return (*returned_names(self.returns), *self.mutates)

    def case(self, name: str) -> Case:
        """The case called `name`.

        Raises:
            KeyError: there is none.
        """
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(name)


def returned_names(count: int, *, is_sequence: bool = False) -> tuple[str, ...]:
    """The names of `count` returned values; a single one is "return" unless it is in a sequence."""
    return ("return",) if count == 1 and not is_sequence else tuple(f"return[{i}]" for i in range(count))


@dataclass(frozen=True, kw_only=True)
class Problem(ProblemContract):
    """An operator without its code, which is a ProblemDefinition that the judge opens by `id`.

    `source` and `version` are those of the id.  `weakness` is why it cannot distinguish a right candidate from some
    wrong ones, found by an audit; empty if it can, or was not audited.
    """

    source: str
    version: str = ""
    tolerance_by_case: Mapping[str, Tolerance]
    cost_by_case: Mapping[str, Cost]
    weakness: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tolerance_by_case", "cost_by_case"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
            missing = [case.name for case in self.cases if case.name not in getattr(self, name)]
            if missing:
                raise ValueError(f"{self.name}: {name} has no entry for the case {missing[0]!r}")

    @property
    def id(self) -> ProblemId:
        """Id by which the judge opens it."""
        return ProblemId(source=self.source, name=self.name, version=self.version)

    def rearrangement_in(self, case: Case) -> Rearrangement:
        """As `rearrangement`, for one case: with arithmetic, such as sums at positions, it is not certain."""
        if self.rearrangement is Rearrangement.BY_POSITIONS and self.cost(case).flops:
            return Rearrangement.SUMMED_BY_POSITIONS
        return self.rearrangement

    def tolerance(self, case: Case) -> Tolerance:
        """Permitted distance of outputs of this case from the reference."""
        return self.tolerance_by_case[case.name]

    def cost(self, case: Case) -> Cost:
        """The least work of this case."""
        return self.cost_by_case[case.name]
