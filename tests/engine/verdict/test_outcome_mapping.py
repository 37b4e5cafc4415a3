"""From a child's reply or end to an outcome, decided by type and never by words."""

from __future__ import annotations

import pytest

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError, EngineError, RunMemoryError, WireError
from engine.model import Location, Outcome
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

Kind = protocol.FailureKind


def failed(kind: protocol.FailureKind, *, line: int | None = None) -> protocol.Failed:
    return protocol.Failed(id="i", kind=kind, message="out of memory, timeout, crashed", line=line)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (Kind.RAISED, Outcome.RUNTIME_ERROR),
        (Kind.EXITED, Outcome.RUNTIME_ERROR),
        (Kind.NO_ENTRY, Outcome.COMPILE_ERROR),
        (Kind.OUT_OF_MEMORY, Outcome.OUT_OF_MEMORY),
        (Kind.OUT_OF_BOUNDS, Outcome.RUNTIME_ERROR),
        (Kind.COMPILE, Outcome.COMPILE_ERROR),
        (Kind.TAMPERED, Outcome.TAMPERED),
        (Kind.UNSUPPORTED, Outcome.UNSUPPORTED),
    ],
)
def test_failure_kind_ignores_its_message(kind: protocol.FailureKind, outcome: Outcome) -> None:
    stop = outcome_mapping.of_failure(failed(kind, line=4))
    assert stop == Stop(outcome=outcome, message="out of memory, timeout, crashed", location=Location(line=4))


def test_a_worker_cannot_blame_the_engine() -> None:
    claimed = protocol.Failed(id="i", kind=protocol.FailureKind.ENGINE, message="an error of yours")
    assert outcome_mapping.of_failure(claimed).outcome is not Outcome.ENGINE_ERROR


@pytest.mark.parametrize("kind", list(Kind))
def test_every_failure_kind_is_not_pass(kind: protocol.FailureKind) -> None:
    assert outcome_mapping.of_failure(failed(kind)).outcome is not Outcome.PASS


def test_a_failure_without_a_line_has_no_location() -> None:
    assert outcome_mapping.of_failure(failed(Kind.RAISED)).location is None


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (
            WireError("not a reply"),
            Outcome.TAMPERED,
            "while computing, the candidate tampered with the result channel: not a reply",
        ),
        (
            DeadlineError("the worker timed out after 10 s"),
            Outcome.TIMEOUT,
            "while computing, the worker timed out after 10 s (infinite loop?)",
        ),
        (
            ChildDiedError("the worker ended without a reply (signal 11)"),
            Outcome.CRASHED,
            "while computing, the worker ended without a reply (signal 11)",
        ),
        (EngineError("the engine is not running"), Outcome.ENGINE_ERROR, "while computing: the engine is not running"),
    ],
)
def test_worker_end_is_reported_by_its_type(error: EngineError, outcome: Outcome, message: str) -> None:
    assert outcome_mapping.of_worker_error(error, "while computing") == Stop(outcome=outcome, message=message)


@pytest.mark.parametrize("error", [WireError("x"), DeadlineError("x"), ChildDiedError("x"), EngineError("x")])
def test_judge_end_is_engine_error(error: EngineError) -> None:
    assert outcome_mapping.of_trusted(error, "while comparing") == Stop(
        outcome=Outcome.ENGINE_ERROR, message="while comparing: x"
    )


def test_only_truncated_shared_memory_is_candidate_error() -> None:
    cut = outcome_mapping.of_trusted(failed(Kind.TAMPERED), "while comparing")
    assert cut.outcome is Outcome.TAMPERED
    fault = outcome_mapping.of_trusted(failed(Kind.PROBLEM), "while comparing")
    assert fault.outcome is Outcome.PROBLEM_ERROR
    for kind in set(Kind) - {Kind.TAMPERED, Kind.PROBLEM}:
        assert outcome_mapping.of_trusted(failed(kind), "while comparing").outcome is Outcome.ENGINE_ERROR
    assert outcome_mapping.of_trusted(protocol.Done(id="i"), "while comparing").outcome is Outcome.ENGINE_ERROR


def test_run_exceeding_total_memory_is_out_of_memory() -> None:
    stop = outcome_mapping.of_worker_error(
        RunMemoryError("the candidate's processes used more memory together"), "while computing"
    )
    assert stop.outcome is Outcome.OUT_OF_MEMORY
