"""The records that everything else speaks in.

Frozen, keyword-only, checked when they are made.  No torch here: tensors live in the child
processes, and the functions of a problem name their types only for the type checker.
"""

from __future__ import annotations

import ast
import enum
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from engine.parsing import parse

if TYPE_CHECKING:
    import torch

    Value: TypeAlias = (
        torch.Tensor | torch.dtype | bool | int | float | str | list["Value"] | tuple["Value", ...] | None
    )
    Arguments: TypeAlias = tuple[Value, ...]
    Outputs: TypeAlias = torch.Tensor | tuple[torch.Tensor, ...]

Parameter: TypeAlias = bool | int | float | str | tuple[int, ...]


class DType(enum.StrEnum):
    """Element types by their torch names."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return _ELEMENT_BYTES[self]

    @property
    def short(self) -> str:
        """The two to four letters that tables use: f32, bf16, i64."""
        return _SHORT_NAMES[self]

    @property
    def epsilon(self) -> float:
        """Distance from 1.0 to the next number of this type; 0.0 for integers and booleans."""
        return _EPSILONS.get(self, 0.0)


_ELEMENT_BYTES = {
    DType.FLOAT64: 8, DType.FLOAT32: 4, DType.FLOAT16: 2, DType.BFLOAT16: 2,
    DType.INT64: 8, DType.INT32: 4, DType.INT16: 2, DType.INT8: 1, DType.UINT8: 1, DType.BOOL: 1,
    DType.COMPLEX64: 8, DType.COMPLEX128: 16,
}  # fmt: skip
_SHORT_NAMES = {
    DType.FLOAT64: "f64", DType.FLOAT32: "f32", DType.FLOAT16: "f16", DType.BFLOAT16: "bf16",
    DType.INT64: "i64", DType.INT32: "i32", DType.INT16: "i16", DType.INT8: "i8", DType.UINT8: "u8",
    DType.BOOL: "bool", DType.COMPLEX64: "c64", DType.COMPLEX128: "c128",
}  # fmt: skip
_EPSILONS = {
    DType.FLOAT64: 2.0**-52, DType.FLOAT32: 2.0**-23, DType.FLOAT16: 2.0**-10, DType.BFLOAT16: 2.0**-7,
    DType.COMPLEX64: 2.0**-23, DType.COMPLEX128: 2.0**-52,
}  # fmt: skip


class Tier(enum.StrEnum):
    """How heavy a case is: SMOKE takes milliseconds in the interpreter, BENCH has realistic shapes."""

    SMOKE = "smoke"
    FULL = "full"
    BENCH = "bench"


class Outcome(enum.StrEnum):
    """What became of a stage, a case or a run.  ENGINE_ERROR is ours and never counts against a candidate."""

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
    ENGINE_ERROR = "engine_error"


class Severity(enum.StrEnum):
    """How much a finding weighs, lightest first."""

    NOTE = "note"
    HINT = "hint"
    SUSPECT = "suspect"
    PROOF = "proof"


class Policy(enum.StrEnum):
    """What decides over findings; engine.policy says what each does with them."""

    DEFAULT = "default"
    STRICT = "strict"
    FACTS_ONLY = "facts-only"


class Stage(enum.StrEnum):
    """The steps of a run, in their order."""

    PARSE = "parse"
    STATIC = "static"
    LOAD = "load"
    VERIFY = "verify"
    PROBE = "probe"
    COMPILE = "compile"
    BENCHMARK = "benchmark"


class CacheState(enum.StrEnum):
    """Whether a timed call finds its inputs in the device's second-level cache."""

    COLD = "cold"
    WARM = "warm"


class Stream(enum.StrEnum):
    """Where a log line came from."""

    STDOUT = "stdout"
    STDERR = "stderr"
    ENGINE = "engine"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One shape, dtype and layout point of a problem.

    `params` maps the problem's own size and option names to plain values; `name` is unique within
    the problem, short, and what every table and the command line show.
    """

    name: str
    dtype: DType
    tier: Tier
    params: Mapping[str, Parameter]

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def size(self, key: str) -> int:
        """The integer parameter `key`."""
        value = self.params[key]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"case {self.name}: parameter {key} should be an integer, is {value!r}")
        return value

    def number(self, key: str) -> float:
        """The numeric parameter `key`."""
        value = self.params[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"case {self.name}: parameter {key} should be a number, is {value!r}")
        return float(value)

    def claim(self, key: str) -> bool:
        """The boolean parameter `key`."""
        value = self.params[key]
        if not isinstance(value, bool):
            raise TypeError(f"case {self.name}: parameter {key} should be true or false, is {value!r}")
        return value

    def word(self, key: str) -> str:
        """The text parameter `key`."""
        value = self.params[key]
        if not isinstance(value, str):
            raise TypeError(f"case {self.name}: parameter {key} should be a word, is {value!r}")
        return value

    def shape(self, key: str) -> tuple[int, ...]:
        """The tuple-of-integers parameter `key`."""
        value = self.params[key]
        if not isinstance(value, tuple):
            raise TypeError(f"case {self.name}: parameter {key} should be a shape, is {value!r}")
        return value


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


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One source text for one problem, as it was when it was saved.

    `folder` is where its own imports are looked up; None when the text came from no file.
    """

    source: bytes
    problem: str
    filename: str = "kernel.py"
    folder: Path | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the source in hexadecimal: the identity of the candidate."""
        return hashlib.sha256(self.source).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a candidate may use up before it is stopped: one process of it, and in total all of one run together.

    Seconds are those that it had of the machine, as engine/processes/patience.py counts them.
    """

    load_s: float = 20.0
    case_s: float = 10.0
    compile_s: float = 60.0
    memory_bytes: int = 8 << 30
    output_bytes: int = 1 << 30
    log_bytes: int = 1 << 20
    processes: int = 256
    total_memory_bytes: int = 12 << 30
    total_disk_bytes: int = 6 << 30
    total_processes: int = 512

    def __post_init__(self) -> None:
        if min(self.load_s, self.case_s, self.compile_s) <= 0:
            raise ValueError(f"time limits must be positive: {self}")


@dataclass(frozen=True, kw_only=True)
class BenchmarkPlan:
    """Which cases are timed once the candidate is right, against which baselines.

    `baselines` are names that the device's judge knows: "eager", "compile", "compile-max", "cublas", "vllm".
    `case_s` is how long one case may take, verification of its timed calls included.  `ends_s`, after the start of
    the run, is when it should be over for somebody who waits: no case but the first is begun that would leave less
    time for the probes than judging the cases took, if it took as long as the longest so far.  None times every case.
    `tuning_s` is how long the candidate's own autotuners may take, for each case: to compile their configurations ahead
    once all cases are judged, and again to measure them.  What is left out by then is not tried.
    """

    cases: tuple[Case, ...]
    cache: CacheState = CacheState.COLD
    baselines: tuple[str, ...] = ("eager",)
    case_s: float = 1.1
    ends_s: float | None = None
    tuning_s: float = 30.0

    def __post_init__(self) -> None:
        if self.case_s <= 0:
            raise ValueError(f"a case needs time to be measured, got case_s={self.case_s}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one candidate is judged: which cases in which order, where, for which target.

    `target` is what captured launches are compiled for ("sm_90", "gfx942"); None skips that stage.
    `limits` of None are the engine's own, which know the device.  `benchmark` of None times nothing.
    `policy` decides over what is found.  `seeds` make the inputs of the cases that they name once more.
    """

    problem: Problem
    cases: tuple[Case, ...]
    device: str
    target: str | None
    seeds: Mapping[str, int] = field(default_factory=dict)
    limits: Limits | None = None
    benchmark: BenchmarkPlan | None = None
    policy: Policy = Policy.DEFAULT

    @staticmethod
    def for_tiers(
        problem: Problem, *, tiers: tuple[Tier, ...], device: str, target: str | None,
        failed_before: tuple[str, ...] = (), limits: Limits | None = None,
    ) -> Plan:  # fmt: skip
        """Cases of `tiers`: those that failed last time first, then tier by tier in the problem's order."""
        chosen = [case for tier in tiers for case in problem.cases if case.tier is tier]
        chosen.sort(key=lambda case: case.name not in failed_before)
        return Plan(problem=problem, cases=tuple(chosen), device=device, target=target, limits=limits)

    @property
    def timed_only(self) -> tuple[Case, ...]:
        """The cases that are timed and not judged before."""
        timed = self.benchmark.cases if self.benchmark is not None else ()
        return tuple(case for case in timed if case not in self.cases)


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
    """An observation with its evidence.  What it does to the verdict is policy, not the finding's business."""

    check: str
    severity: Severity
    message: str
    location: Location | None = None
    case: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutOfBounds:
    """A load or store outside every tensor of its launch, seen by the interpreter.

    `index` counts elements from the first element of `tensor`'s storage, the tensor nearest to the
    address; `elements` is how many that storage holds.
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


class DiagnosisKind(enum.StrEnum):
    """What a wrong output looks like."""

    UNWRITTEN_OUTPUT = "unwritten_output"
    TAIL_MASK = "tail_mask"
    TRANSPOSED_INDEX = "transposed_index"
    WRONG_STRIDE = "wrong_stride"
    MISSING_SCALE = "missing_scale"
    MISSING_BIAS = "missing_bias"
    REDUCTION_IDENTITY = "reduction_identity"
    LOST_RESCALE = "lost_rescale"
    OVERFLOW = "overflow"
    PRECISION = "precision"
    RACE = "race"
    IGNORED_ARGUMENT = "ignored_argument"
    KEPT_ANSWER = "kept_answer"
    OLD_CONTENT = "old_content"
    ZEROED = "zeroed"
    DROPPED_NAN = "dropped_nan"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a wrong output looks like, and how well that fits: a reading of numbers, never a verdict.

    Of the `wrong` elements, `explained` are what this mistake would have made of them; `contradicted` right
    elements are not what it would have left.
    """

    kind: DiagnosisKind
    sentence: str
    evidence: str
    explained: int
    wrong: int
    contradicted: int = 0

    @property
    def confidence(self) -> str:
        """How well it fits, in words."""
        fit = "fits every wrong element"
        if self.explained < self.wrong:
            fit = f"fits {100 * self.explained // self.wrong} % of the wrong elements"
        return f"{fit}, not {self.contradicted:,} of the right ones" if self.contradicted else fit


@dataclass(frozen=True, kw_only=True)
class InputElement:
    """One element of an argument; the value as text, so that nan and inf survive."""

    argument: str
    index: tuple[int, ...]
    value: str


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why an output may be wrong.

    `diagnoses`, the best first, are empty when nothing that was tried fits.  `feeds` are elements of the
    arguments that the worst element depends on by the reference, those with most weight first; `feeding` is how
    many there are in all, None where that was not counted.  `untried` says why something was not looked into.
    """

    diagnoses: tuple[Diagnosis, ...] = ()
    feeds: tuple[InputElement, ...] = ()
    feeding: int | None = None
    untried: str = ""


@dataclass(frozen=True, kw_only=True)
class OutputReport:
    """How one output of one case compares with its reference.

    Errors are over the elements where both values are finite, None when there are none or the
    shapes differ.  `ulp` counts representable numbers of the output dtype between got and expected.
    `error_map` is the output as (leading dimensions, last dimension) cut into at most 16 x 48 tiles,
    a text row per row of tiles: "." for no wrong element, "1" to "9" for the share in tenths, "#" for all.
    `explanation` is there for values that are wrong in a judged case, None for all else.
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
    """What became of one case.  `seed` makes the inputs again; None when none were made."""

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


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One specialisation of one kernel, as it was launched.

    `signature` maps argument names to Triton types ("*fp32", "i32", "constexpr"), `constants` the
    constexprs to their Python literals, `divisible_by_16` names the arguments that Triton would
    specialise on, `count` is how often it was launched.
    """

    kernel: str
    signature: Mapping[str, str]
    constants: Mapping[str, str]
    divisible_by_16: tuple[str, ...]
    num_warps: int
    num_stages: int
    grid: tuple[int, ...]
    line: int
    count: int = 1
    options: Mapping[str, str] = field(default_factory=dict)


def specialisation(launch: Launch) -> tuple[object, ...]:
    """What tells two compiled forms of kernels apart: everything of a launch but its grid and its count."""
    return (
        launch.kernel,
        launch.line,
        tuple(launch.signature.items()),
        tuple(launch.constants.items()),
        launch.divisible_by_16,
        launch.num_warps,
        launch.num_stages,
        tuple(launch.options.items()),
    )


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A stored text or binary: `kind` is ttir, ttgir, llir, ptx, amdgcn, cubin, hsaco or sass."""

    kind: str
    digest: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class CompiledKernel:
    """A launch compiled for a target.  Resources are None where the target's tools do not tell them."""

    launch: Launch
    target: str
    outcome: Outcome
    elapsed_s: float
    message: str = ""
    location: Location | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    artefacts: tuple[Artefact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a run comes to, in one word and one sentence."""

    outcome: Outcome
    sentence: str
    passed: int
    total: int
    flagged: bool = False
    location: Location | None = None
