"""The judge's process: prepared cases, descriptions, faults and unreadable lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch

from engine import protocol
from engine.judge import main
from engine.model import Outcome, ProblemId
from engine.protocol.transport.service import MessagePipes

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.descriptors import open_files
from tests.engine.judge.replies import failed, outcomes


def toy(name: str) -> ProblemId:
    """The id of a problem of toy_problems.py."""
    return ProblemId(source="toy_problems", name=name)


def described(bench: Bench, problem: str, *names: str, keeps: bool = True) -> tuple[protocol.Shape, ...]:
    reply = bench.ask(protocol.Describe(id="i", problem=toy(problem), cases=names, keeps=keeps))
    assert isinstance(reply, protocol.Described), reply
    return reply.shapes


@pytest.mark.parametrize("problem", ["TWICE", "INTO", "OPTIONAL", "ALIASES", "EMPTY"])
def test_described_case_matches_prepared_arguments(bench: Bench, problem: str) -> None:
    shapes = described(bench, problem, "large", "one")
    for shape, case in zip(shapes, ("large", "one"), strict=True):
        prepared = bench.prepare(problem, case=case)
        assert shape.arguments == prepared.arguments
        assert shape.storages == tuple(storage.bytes for storage in prepared.arena.storages)


def test_describing_without_keeping_makes_no_content_for_preparation(bench: Bench) -> None:
    [shape] = described(bench, "SCALAR", "one", keeps=False)
    assert bench.prepare("SCALAR").arguments != shape.arguments


def test_describing_kept_case_makes_content_for_next_preparation(bench: Bench) -> None:
    [shape] = described(bench, "SCALAR", "one")
    assert bench.prepare("SCALAR").arguments == shape.arguments


@pytest.mark.parametrize(("few_bytes", "threads"), [(1 << 20, 1), (0, 2)])
def test_arguments_choose_the_number_of_threads(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, few_bytes: int, threads: int
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(main, "_FEW_BYTES", few_bytes)
    bench.prepare("TWICE")
    assert chosen == [2, threads]


def test_number_of_threads_is_that_of_the_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    bench.prepare("TWICE")
    monkeypatch.setattr(main, "_FEW_BYTES", 0)
    other = protocol.Prepare(
        id="i", problem=toy("TWICE"), case="one", arena_path=str(bench.folder / "other"), poison=0, place=1
    )
    assert isinstance(bench.ask(other), protocol.Prepared)
    refill = protocol.Refill(id="i", fresh=True, poison=0)
    for command in (refill, msgspec.structs.replace(refill, place=1), refill):
        chosen.clear()
        assert isinstance(bench.ask(command), protocol.Done)
        assert chosen == [2 if command.place else 1]


def test_describing_leaves_the_prepared_case(bench: Bench) -> None:
    bench.prepare("TWICE")
    described(bench, "IN_PLACE", "one", "large")
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_case_that_cannot_be_described_is_engine_error(bench: Bench) -> None:
    reply = bench.ask(protocol.Describe(id="i", problem=toy("TWICE"), cases=("one", "two")))
    assert failed(reply) == (protocol.FailureKind.ENGINE, "KeyError: 'two'")


def test_every_command_needs_a_prepared_case(bench: Bench) -> None:
    for reply in (bench.ask(protocol.Refill(id="i", fresh=False, poison=0)), bench.compare()):
        assert failed(reply) == (protocol.FailureKind.ENGINE, "RuntimeError: no case was prepared")


def test_refill_from_one_seed_repeats_the_content(bench: Bench) -> None:
    bench.prepare("TWICE")
    contents = []
    for seed in (5, 5, 6):
        assert isinstance(bench.ask(protocol.Refill(id="i", fresh=True, poison=0, seed=seed)), protocol.Done)
        contents.append(bench.arguments[0].clone())
    assert torch.equal(contents[0], contents[1])
    assert not torch.equal(contents[1], contents[2])


def test_a_case_that_was_released_is_forgotten(bench: Bench) -> None:
    bench.prepare("TWICE")
    assert bench.release() is not None
    assert bench.release() is None
    assert failed(bench.compare())[1] == "RuntimeError: no case was prepared"


@pytest.mark.parametrize(
    ("opened", "case", "message"),
    [
        (toy("BROKEN"), "one", "ValueError: this reference is broken"),
        (toy("MISSING"), "one", "EngineError: toy_problems has no MISSING"),
        (
            ProblemId(source="no_such_module", name="x"),
            "one",
            "EngineError: 'no_such_module' is not a problem source: No module named 'no_such_module'",
        ),
        (
            ProblemId(source="math", name="x"),
            "one",
            "EngineError: 'math' is not a problem source: module 'math' has no attribute 'open_source'",
        ),
        (toy("TWICE"), "two", "KeyError: 'two'"),
    ],
)
def test_problem_that_cannot_be_prepared_is_engine_error(
    bench: Bench, opened: ProblemId, case: str, message: str
) -> None:
    command = protocol.Prepare(id="i", problem=opened, case=case, arena_path=str(bench.arena), poison=0)
    assert failed(bench.ask(command)) == (protocol.FailureKind.ENGINE, message)
    bench.prepare("TWICE")


def test_a_fault_of_any_length_is_reported(bench: Bench) -> None:
    reply = bench.ask(
        protocol.Prepare(
            id="i", problem=ProblemId(source="x" * 100_000, name="x"), case="one", arena_path=str(bench.arena), poison=0
        )
    )
    assert failed(reply)[0] is protocol.FailureKind.ENGINE
    assert protocol.decode_reply(protocol.encode(reply)) == reply


def test_unreadable_message_is_answered_and_case_kept(bench: Bench, tmp_path: Path) -> None:
    bench.prepare("TWICE")
    [right] = bench.hand_back(2 * bench.arguments[0])
    asked, reported = tmp_path / "asked", tmp_path / "reported"
    compares = (
        protocol.Compare(id=name, outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=(right,) * count)
        for name, count in (("a", 100_000), ("b", 1))
    )
    asked.write_bytes(b"".join(map(protocol.encode, compares)))
    MessagePipes(os.open(asked, os.O_RDONLY), os.open(reported, os.O_CREAT | os.O_WRONLY)).serve(bench.judge.carry_out)
    refused, compared = map(protocol.decode_reply, reported.read_bytes().splitlines())
    assert (refused.id, *failed(refused)) == (
        "a",
        protocol.FailureKind.ENGINE,
        "not a command: Expected `array` of length <= 64 - at `$.returned`",
    )
    assert isinstance(compared, protocol.Compared)
    assert outcomes(compared) == [("return", Outcome.PASS)]


def test_a_command_for_another_child_is_refused(bench: Bench) -> None:
    reply = bench.ask(protocol.Load(id="i", path="/k.py", folder=None, entry="f"))
    assert failed(reply) == (protocol.FailureKind.ENGINE, "a judge does not carry out Load")


def test_preparing_next_case_releases_the_previous_one(bench: Bench) -> None:
    for _ in range(5):
        bench.prepare("TWICE")
    arenas = {Path(path).name for path in open_files() if Path(path).parent == bench.folder}
    assert arenas == {bench.arena.name}


def test_case_held_separately_is_unaffected_by_the_other(bench: Bench) -> None:
    other = protocol.Prepare(
        id="i", problem=toy("TWICE"), case="one", arena_path=str(bench.folder / "other"), poison=0, place=1
    )
    assert isinstance(bench.ask(other), protocol.Prepared)
    bench.prepare("TWICE")
    right = bench.hand_back(2 * bench.arguments[0])
    compare_reading = protocol.CompareReading(
        id="c", outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=right, keep=True
    )
    for command in (compare_reading, msgspec.structs.replace(compare_reading, place=1)):
        reply = bench.ask(command)
        assert isinstance(reply, protocol.ReadingCompared)
        assert [(output.right, output.changed) for output in reply.outputs] == [(4, None)]
    bench.release()
    assert isinstance(bench.ask(protocol.Refill(id="i", fresh=True, poison=1, place=1)), protocol.Done)
    reply = bench.ask(msgspec.structs.replace(compare_reading, place=1))
    assert isinstance(reply, protocol.ReadingCompared)
    assert [(output.right, output.changed) for output in reply.outputs] == [(0, 0)]
    assert isinstance(bench.ask(protocol.Release(id="i", place=1)), protocol.Released)
