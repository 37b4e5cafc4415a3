"""What a call left is copied at once and compared later, and then as if nothing had happened in between."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.model import Outcome

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench


def take(
    bench: Bench,
    name: str,
    *returned: protocol.ReturnedSpec,
    next_content: protocol.NextContent | None = None,
    hash_outputs: bool = False,
) -> None:
    command = protocol.TakeSnapshot(
        id=name, outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=returned, next_content=next_content,
        hash_outputs=hash_outputs,
    )  # fmt: skip
    assert bench.ask(command) == protocol.Done(id=name)


def compare_snapshot(bench: Bench, name: str, *, ends: bool = False) -> protocol.Compared:
    reply = bench.ask(protocol.CompareSnapshot(id="c", taken=name, ends=ends))
    assert isinstance(reply, protocol.Compared), reply
    assert reply.id == "c"
    return reply


def outcomes(compared: protocol.Compared) -> list[Outcome]:
    return [report.outcome for report in compared.reports]


NEW = protocol.NextContent(fresh=True, poison=0x7B)
SAME = protocol.NextContent(fresh=False, poison=0x7B)


def test_later_call_does_not_change_earlier_snapshot(bench: Bench) -> None:
    bench.prepare("TWICE")
    take(bench, "right", *bench.hand_back(2 * bench.arguments[0]), next_content=NEW)
    wrong = bench.hand_back(3 * bench.arguments[0])
    bench.arguments[0].zero_()
    assert (outcomes(compare_snapshot(bench, "right")), outcomes(bench.compared(*wrong))) == (
        [Outcome.PASS],
        [Outcome.WRONG_VALUE],
    )


def test_digest_of_snapshot_is_that_of_its_own_outputs(bench: Bench) -> None:
    bench.prepare("TWICE")
    right = 2 * bench.arguments[0]
    take(bench, "hashed", *bench.hand_back(right), next_content=SAME, hash_outputs=True)
    bench.hand_back(right + 1)
    digest = hashlib.sha256(right.numpy().tobytes()).hexdigest()
    assert compare_snapshot(bench, "hashed").outputs_digest == digest


def test_wrong_output_corrected_later_stays_wrong(bench: Bench) -> None:
    bench.prepare("TWICE")
    take(bench, "wrong", *bench.hand_back(3 * bench.arguments[0]), next_content=SAME)
    take(bench, "right", *bench.hand_back(2 * bench.arguments[0]))
    assert [outcomes(compare_snapshot(bench, name)) for name in ("wrong", "right")] == [
        [Outcome.WRONG_VALUE],
        [Outcome.PASS],
    ]


def test_snapshot_refills_memory_as_a_refill_does(bench: Bench) -> None:
    bench.prepare("INTO", poison=0xFF)
    first = bench.arguments[0].clone()
    bench.arguments[1].copy_(first + 1)
    take(bench, "first", next_content=SAME)
    assert torch.equal(bench.arguments[0], first)
    assert set(bench.arguments[1].contiguous().view(torch.uint8).flatten().tolist()) == {0x7B}
    bench.arguments[1].copy_(first + 1)
    take(bench, "second", next_content=NEW)
    assert not torch.equal(bench.arguments[0], first)
    assert [outcomes(compare_snapshot(bench, name)) for name in ("first", "second")] == [[Outcome.PASS]] * 2


def test_changed_input_is_found_after_refill(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.arguments[0].add_(1)
    take(bench, "changed", *returned, next_content=SAME)
    mutated = compare_snapshot(bench, "changed").mutated
    assert mutated is not None
    assert "input x was changed" in mutated


def test_store_beside_arguments_is_found_after_refill(bench: Bench) -> None:
    bench.prepare("TWICE", poison=0xFF)
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.write_byte(0, 3)
    take(bench, "overrun", *returned, next_content=SAME)
    mutated = compare_snapshot(bench, "overrun").mutated
    assert mutated is not None
    assert "was written" in mutated


def test_nondeterminism_is_found_across_copies(bench: Bench) -> None:
    bench.prepare("TWICE")
    right = 2 * bench.arguments[0]
    take(bench, "first", *bench.hand_back(right), next_content=SAME)
    assert compare_snapshot(bench, "first").repeated is None
    take(bench, "same", *bench.hand_back(right), next_content=SAME)
    assert compare_snapshot(bench, "same").repeated is True
    take(bench, "other", *bench.hand_back(right + 1), next_content=NEW)
    assert compare_snapshot(bench, "other").repeated is False
    take(bench, "new", *bench.hand_back(2 * bench.arguments[0]))
    assert compare_snapshot(bench, "new").repeated is None


def test_ended_case_reports_last_seed_and_is_released(bench: Bench) -> None:
    bench.prepare("TWICE")
    take(bench, "first", *bench.hand_back(2 * bench.arguments[0]), next_content=NEW)
    last = bench.arguments[0].clone()
    take(bench, "last", *bench.hand_back(2 * bench.arguments[0]))
    assert compare_snapshot(bench, "first").seed is None
    seed = compare_snapshot(bench, "last", ends=True).seed
    assert seed is not None
    assert bench.release() is None  # no case is prepared any more
    bench.prepare("TWICE", seed=seed)
    assert torch.equal(bench.arguments[0], last)


def test_case_ended_late_leaves_next_case_prepared(bench: Bench) -> None:
    bench.prepare("TWICE", seed=7)
    take(bench, "last", *bench.hand_back(2 * bench.arguments[0]))
    bench.prepare("PAIR", seed=8)
    [x] = bench.arguments
    compared = compare_snapshot(bench, "last", ends=True)
    assert (outcomes(compared), compared.seed) == ([Outcome.PASS], 7)
    assert outcomes(bench.compared(*bench.hand_back(x + 1, x - 1))) == [Outcome.PASS] * 2
    assert bench.release() == 8


def test_nonfile_outputs_are_reported_at_comparison(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.outputs.unlink()
    take(bench, "gone", *returned)
    reply = bench.ask(protocol.CompareSnapshot(id="c", taken="gone", ends=False))
    assert isinstance(reply, protocol.Failed)
    assert reply.kind is protocol.FailureKind.TAMPERED


def test_snapshot_missing_or_compared_twice_is_refused(bench: Bench) -> None:
    bench.prepare("TWICE")
    take(bench, "one", *bench.hand_back(2 * bench.arguments[0]))
    compare_snapshot(bench, "one")
    reply = bench.ask(protocol.CompareSnapshot(id="c", taken="one", ends=False))
    assert isinstance(reply, protocol.Failed)
    assert (reply.kind, reply.message) == (
        protocol.FailureKind.ENGINE,
        "RuntimeError: there is no snapshot of this call to compare",
    )


def test_snapshots_never_compared_are_released(bench: Bench) -> None:
    bench.prepare("TWICE")
    for name in "abc":
        take(bench, name, *bench.hand_back(2 * bench.arguments[0]), next_content=SAME)
    assert isinstance(bench.ask(protocol.CompareSnapshot(id="c", taken="a", ends=False)), protocol.Failed)
    assert [outcomes(compare_snapshot(bench, name)) for name in "bc"] == [[Outcome.PASS]] * 2
