"""The child's end of the wire: every line is answered, and every answer is one that the parent takes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import protocol
from engine.model import ProblemId
from engine.protocol.transport.service import MessagePipes

Answer = Callable[[protocol.AnyCommand], protocol.AnyReply]
Replies = Callable[..., list[Any]]  # Any: of whatever kind each test expects


def done(command: protocol.AnyCommand) -> protocol.AnyReply:
    return protocol.Done(id=command.id)


@pytest.fixture
def replies_to(tmp_path: Path) -> Replies:
    """Serve these lines, then the end; what was replied."""

    def serve(*lines: bytes, carry_out: Answer = done) -> list[protocol.AnyReply]:
        asked, reported = tmp_path / "commands", tmp_path / "replies"
        asked.write_bytes(b"".join(lines))
        out = os.open(reported, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        MessagePipes(os.open(asked, os.O_RDONLY), out).serve(carry_out)
        os.close(out)
        return [protocol.decode_reply(line) for line in reported.read_bytes().splitlines(keepends=True)]

    return serve


def test_commands_are_answered_one_after_another(replies_to: Replies) -> None:
    lines = [protocol.encode(protocol.Release(id=name)) for name in "ab"]
    assert replies_to(*lines) == [protocol.Done(id="a"), protocol.Done(id="b")]


def check(values: int) -> bytes:
    """A Check of one slot with this many returned values."""
    returned = [[{"type_name": "Tensor"}] * values]
    return json.dumps({"type": "check", "id": "a", "slots": [0], "returned": returned}).encode() + b"\n"


@pytest.mark.parametrize(
    "line", [check(100_000), b'{"id":"a","type":"praise"}\n', b'{"id":"a"}\n'], ids=["too much", "unknown", "empty"]
)
def test_invalid_command_is_refused_and_next_answered(replies_to: Replies, line: bytes) -> None:
    refused, answered = replies_to(line, protocol.encode(protocol.Release(id="b")))
    assert (refused.id, type(refused), refused.kind) == ("a", protocol.Failed, protocol.FailureKind.ENGINE)
    assert refused.message.startswith("not a command: ")
    assert answered == protocol.Done(id="b")


@pytest.mark.parametrize(
    "line",
    [b"noise\n", b"\n", b"[" * 200_000 + b"\n", b'{"id":3}\n', b'{"id":"\xff"}\n'],
    ids=["word", "nothing", "nested", "number", "no text"],
)
def test_noise_is_refused_without_id_and_next_answered(replies_to: Replies, line: bytes) -> None:
    refused, answered = replies_to(line, protocol.encode(protocol.Release(id="b")))
    assert (refused.id, type(refused)) == ("", protocol.Failed)
    assert answered == protocol.Done(id="b")


def test_command_cut_off_at_end_is_not_answered(replies_to: Replies) -> None:
    assert replies_to(protocol.encode(protocol.Release(id="a"))[:-1]) == []


def test_a_command_may_be_longer_than_any_reply(replies_to: Replies) -> None:
    command = protocol.Describe(id="a", problem=ProblemId(source="m", name="P"), cases=("c" * 1000,) * 5000)
    line = protocol.encode(command)
    assert len(line) > protocol.MAX_LINE_BYTES
    assert replies_to(line) == [protocol.Done(id="a")]


def called(*type_names: str) -> protocol.Called:
    returned = tuple(protocol.ReturnedSpec(type_name=name) for name in type_names)
    return protocol.Called(id="a", returned=returned, launches=(), elapsed_s=0.0)


@pytest.mark.parametrize(
    "reply",
    [
        called("X" * 10_000),
        called(*["X"] * 100),
        called("\ud800"),
        protocol.Called(
            id="a", returned=(protocol.ReturnedSpec(type_name="Tensor", bytes=2**64),), launches=(), elapsed_s=0.0
        ),
        protocol.Prepared(
            id="a",
            arguments=(protocol.ScalarSpec(value="x" * (5 << 20)),),
            arena=protocol.ArenaSpec(storages=(), bytes=0),
            elapsed_s=0.0,
        ),
    ],
    ids=["long name", "many values", "no text", "large number", "long line"],
)
def test_reply_that_parent_would_refuse_is_failure(replies_to: Replies, reply: protocol.AnyReply) -> None:
    [failed] = replies_to(protocol.encode(protocol.Release(id="a")), carry_out=lambda command: reply)
    assert (failed.id, type(failed), failed.kind) == ("a", protocol.Failed, protocol.FailureKind.RAISED)
    assert failed.message.startswith("the result does not fit into a reply: ")


def test_overlong_failure_keeps_its_kind(replies_to: Replies) -> None:
    failed = protocol.Failed(id="a", kind=protocol.FailureKind.UNSUPPORTED, message="x" * 100_000)
    [reported] = replies_to(protocol.encode(protocol.Release(id="a")), carry_out=lambda command: failed)
    assert (type(reported), reported.kind) == (protocol.Failed, protocol.FailureKind.UNSUPPORTED)
