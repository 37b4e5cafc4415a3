"""Results of a run: outcomes, findings, output reports and the verdict.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from engine.model.diagnosis import Explanation
from engine.model.problems.case import Tier


class Outcome(enum.StrEnum):
    """Outcome of a stage, a case or a run.

    Neither ENGINE_ERROR, an internal error, nor PROBLEM_ERROR, a fault of a foreign problem's own reference, ever
    counts against a candidate.
    """

    PASS = "pass"
    WRONG_VALUE = "wrong_value"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    NONFINITE = "nonfinite"
    MUTATED_INPUT = "mutated_input"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    CHEATED = "cheated"
    TAMPERED = "tampered"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    UNSUPPORTED = "unsupported"
    PROBLEM_ERROR = "problem_error"
    ENGINE_ERROR = "engine_error"


class Severity(enum.StrEnum):
    """Severity of a finding, lightest first."""

    NOTE = "note"
    HINT = "hint"
    SUSPECT = "suspect"
    PROOF = "proof"


class Stage(enum.StrEnum):
    """The steps of a run, in their order."""

    PARSE = "parse"
    STATIC = "static"
    LOAD = "load"
    VERIFY = "verify"
    PROVE = "prove"
    PROBE = "probe"
    COMPILE = "compile"
    BENCHMARK = "benchmark"


class Stream(enum.StrEnum):
    """Source of a log line."""

    STDOUT = "stdout"
    STDERR = "stderr"
    ENGINE = "engine"


@dataclass(frozen=True, kw_only=True)
class Location:
    """A place in the candidate's source; lines and columns count from one."""

    line: int
    column: int | None = None

    def __post_init__(self) -> None:
        if self.line < 1 or (self.column is not None and self.column < 1):
            raise ValueError(f"lines and columns count from one, got line {self.line} and column {self.column}")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An observation with its evidence.  The policy determines its effect on the verdict."""

    check: str
    severity: Severity
    message: str
    location: Location | None = None
    case: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutOfBounds:
    """A load or store outside every tensor of its launch, detected when kernels run on the CPU.

    `index` counts elements from the first element of `tensor`'s storage, the tensor nearest to the address; `elements`
    is the number of elements of that storage.
    """

    access: str
    kernel: str
    tensor: str
    index: int
    elements: int
    program: tuple[int, int, int]
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class WrongElement:
    """One output element that is out of tolerance; values as text, so that nan and inf survive."""

    index: tuple[int, ...]
    expected: str
    got: str


@dataclass(frozen=True, kw_only=True)
class OutputReport:
    """Comparison of one output of one case with its reference.

    Errors are over the elements where both values are finite, None when there are none or the shapes differ.  `ulp`
    counts representable numbers of the output dtype between got and expected. `error_map` is the output as (leading
    dimensions, last dimension) cut into at most 16 x 48 tiles, a text row per row of tiles: "." for no wrong element,
    "1" to "9" for the share in tenths, "#" for all. `explanation` is set for wrong values in a verified case, otherwise
    None.
    """

    name: str
    outcome: Outcome
    message: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    mismatched: int = 0
    total: int = 0
    nonfinite_got: int = 0
    nonfinite_expected: int = 0
    max_absolute_error: float | None = None
    max_relative_error: float | None = None
    max_ulp_error: float | None = None
    worst: WrongElement | None = None
    first_wrong: tuple[int, ...] | None = None
    last_wrong: tuple[int, ...] | None = None
    error_map: tuple[str, ...] = ()
    explanation: Explanation | None = None


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """Result of one case.  `seed` reproduces the inputs; None when none were made."""

    case: str
    tier: Tier
    outcome: Outcome
    elapsed_s: float
    calls: int
    seed: int | None
    message: str = ""
    location: Location | None = None
    outputs: tuple[OutputReport, ...] = ()
    out_of_bounds: OutOfBounds | None = None

    @property
    def answers_bools(self) -> bool:
        """Whether every output, of which there are some, is of bools, as that of a comparison."""
        return bool(self.outputs) and all(output.dtype == "bool" for output in self.outputs)

    @property
    def answers_integers(self) -> bool:
        """Whether an output is of whole numbers that are not the codes of fractions, such as indices."""
        return any(output.dtype in ("int32", "int64") for output in self.outputs)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Result of a run, in one word and one sentence.

    `proven` of the `passed` cases are proven; None if no proof was tried.
    """

    outcome: Outcome
    sentence: str
    passed: int
    total: int
    flagged: bool = False
    proven: int | None = None
    location: Location | None = None
