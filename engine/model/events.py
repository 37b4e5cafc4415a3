"""Events of a run, as a stream in the past tense.

The screen, the command line, the store and a replay are consumers of the same stream.  Every event has its time in
seconds after the start of its run, by the parent's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from engine.model import (
    Artefact,
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    Policy,
    Stage,
    Stream,
    Tier,
    Verdict,
)
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Holder, Span, Summary
from engine.model.layers import LayerReport
from engine.model.proof import CaseProof


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """A run of a candidate began; `cases` is the number of cases in the plan."""

    at_s: float
    problem: str
    digest: str
    device: str
    device_name: str
    target: str | None
    cases: int
    policy: Policy = Policy.DEFAULT


@dataclass(frozen=True, kw_only=True)
class StageStarted:
    """A stage began; `total` is its number of steps if known."""

    at_s: float
    stage: Stage
    total: int | None = None


@dataclass(frozen=True, kw_only=True)
class StageFinished:
    """A stage ended.  `message` is the reason when the outcome is not PASS."""

    at_s: float
    stage: Stage
    outcome: Outcome
    elapsed_s: float
    message: str = ""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class FindingRaised:
    """A check or a probe observed something, or could not check."""

    at_s: float
    finding: Finding


@dataclass(frozen=True, kw_only=True)
class LayerChecked:
    """A layer of the inspector was checked, or could not be; several probes may report on one layer."""

    at_s: float
    report: LayerReport


@dataclass(frozen=True, kw_only=True)
class CaseFinished:
    """Case `number` of `total` was verified."""

    at_s: float
    number: int
    total: int
    result: CaseResult


@dataclass(frozen=True, kw_only=True)
class CaseProven:
    """Passed case `number` of `total` was replayed; its proof states whether it is proven."""

    at_s: float
    number: int
    total: int
    proof: CaseProof


@dataclass(frozen=True, kw_only=True)
class ProofStored:
    """The proof of `cases` cases was stored as a proof file; `kgtui export-proof` writes it out."""

    at_s: float
    artefact: Artefact
    cases: int


@dataclass(frozen=True, kw_only=True)
class SuiteRuleApplied:
    """Of the compared `calls` of a foreign problem `passed` pass its suite's own rule, which decides nothing."""

    at_s: float
    calls: int
    passed: int


@dataclass(frozen=True, kw_only=True)
class TierFinished:
    """All cases of a tier were verified; `passed` of `total` were right.  Other tiers, probes and builds may follow."""

    at_s: float
    tier: Tier
    passed: int
    total: int


@dataclass(frozen=True, kw_only=True)
class KernelLaunched:
    """A kernel was launched with a specialisation new to this run; `case` is the first that launched it."""

    at_s: float
    launch: Launch
    case: str | None = None


@dataclass(frozen=True, kw_only=True)
class KernelCompiled:
    """Launch `number` of `total` was compiled for the target."""

    at_s: float
    number: int
    total: int
    kernel: CompiledKernel


@dataclass(frozen=True, kw_only=True)
class KernelDisassembled:
    """The machine code of compiled kernel `number` was disassembled; may follow the end of the run."""

    at_s: float
    number: int
    artefact: Artefact


@dataclass(frozen=True, kw_only=True)
class PortingStarted:
    """Compiling the `launches` of this run for other targets began; earlier results of that are discarded."""

    at_s: float
    targets: tuple[str, ...]
    launches: int


@dataclass(frozen=True, kw_only=True)
class KernelPorted:
    """Build `number` of `total` over all targets is done, with or without success; its kernel has the target."""

    at_s: float
    number: int
    total: int
    kernel: CompiledKernel


@dataclass(frozen=True, kw_only=True)
class PortDisassembled:
    """The machine code of ported kernel `number` was disassembled."""

    at_s: float
    number: int
    artefact: Artefact


@dataclass(frozen=True, kw_only=True)
class PortingFinished:
    """Compiling for other targets ended.  `message` is the reason when the outcome is not PASS."""

    at_s: float
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class DeviceAwaited:
    """Another process holds the device; the benchmark begins when it is released.  None if its name is unknown."""

    at_s: float
    holder: Holder | None


@dataclass(frozen=True, kw_only=True)
class OtherLoaded:
    """The candidate is timed interleaved with the one of this digest, as the baseline "other"."""

    at_s: float
    digest: str


@dataclass(frozen=True, kw_only=True)
class CaseEstimated:
    """Case `number` of `total` is being timed; `CaseBenchmarked` follows and replaces the estimate."""

    at_s: float
    number: int
    total: int
    estimate: CaseEstimate


@dataclass(frozen=True, kw_only=True)
class CaseBenchmarked:
    """Case `number` of `total` was timed, or could not be: its outcome states which."""

    at_s: float
    number: int
    total: int
    benchmark: CaseBenchmark


@dataclass(frozen=True, kw_only=True)
class BenchmarkSummarised:
    """All cases are timed: one summary for each baseline."""

    at_s: float
    summaries: tuple[Summary, ...]


@dataclass(frozen=True, kw_only=True)
class ProfileTaken:
    """Time of the run by kind of work, in the order in which the kinds began."""

    at_s: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class LogWritten:
    """Text that the candidate printed, or a message of the engine."""

    at_s: float
    stream: Stream
    text: str


@dataclass(frozen=True, kw_only=True)
class RunFinished:
    """The verdict is final.  Only machine code and builds for other targets may follow.

    All random draws of the run follow from `draw_seed`, None if it drew from several seeds or not at all.  It is
    reported no earlier, so that no candidate can know it.  `seed_given` means that the user chose it.
    """

    at_s: float
    verdict: Verdict
    draw_seed: int | None = None
    seed_given: bool = False


Event: TypeAlias = (
    RunStarted | StageStarted | StageFinished | FindingRaised | LayerChecked | CaseFinished | KernelLaunched
    | KernelCompiled | KernelDisassembled | DeviceAwaited | CaseBenchmarked | BenchmarkSummarised | ProfileTaken
    | LogWritten | RunFinished | PortingStarted | KernelPorted | PortDisassembled | PortingFinished | OtherLoaded
    | TierFinished | CaseProven | ProofStored | SuiteRuleApplied | CaseEstimated
)  # fmt: skip

EVENT_TYPES: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        RunStarted, StageStarted, StageFinished, FindingRaised, LayerChecked, CaseFinished, KernelLaunched,
        KernelCompiled, KernelDisassembled, DeviceAwaited, CaseBenchmarked, BenchmarkSummarised, ProfileTaken,
        LogWritten, RunFinished, PortingStarted, KernelPorted, PortDisassembled, PortingFinished, OtherLoaded,
        TierFinished, CaseProven, ProofStored, SuiteRuleApplied, CaseEstimated,
    )
}  # fmt: skip


def to_plain(event: Event) -> dict[str, Any]:  # Any: JSON values of every shape
    """The event as JSON-ready values, its type under "event"."""
    return {"event": type(event).__name__, **msgspec.to_builtins(event, enc_hook=_plain_mapping)}


def to_json(event: Event) -> str:
    """The event as one line of JSON."""
    plain = to_plain(event)
    try:
        return msgspec.json.encode(plain).decode()
    except UnicodeEncodeError:  # a file name that is not UTF-8 is in a message
        return msgspec.json.encode(_encodable(plain)).decode()


def from_json(text: str | bytes) -> Event:
    """The event that `to_json` wrote.

    Raises:
        ValueError: the text is not an event, or of a kind that this version does not have.
    """
    try:
        plain = msgspec.json.decode(text, type=dict[str, Any])
        kind = EVENT_TYPES[plain.pop("event")]
        return msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a run event: {error}; it was written by another version, or is damaged") from error


def _plain_mapping(value: object) -> dict[Any, Any]:  # Any: JSON values of every shape
    """A read-only mapping of a record as a dict, for the encoder."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"an event cannot hold a {type(value).__name__}")


def _encodable(value: Any) -> Any:  # Any: JSON values of every shape
    """The value with lone surrogates as their escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
