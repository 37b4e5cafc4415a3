"""Messages survive their line, and lines that are no message are refused."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from engine import protocol
from engine.errors import WireError
from tests.engine.protocol.examples import CALLED, COMMANDS, REPLIES


@pytest.mark.parametrize("command", COMMANDS, ids=lambda message: type(message).__name__)
def test_a_command_survives_its_line(command: protocol.AnyCommand) -> None:
    line = protocol.encode(command)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert protocol.decode_command(line) == command


@pytest.mark.parametrize("reply", REPLIES, ids=lambda message: type(message).__name__)
def test_a_reply_survives_its_line(reply: protocol.AnyReply) -> None:
    line = protocol.encode(reply)
    assert line.count(b"\n") == 1
    assert protocol.decode_reply(line) == reply


def test_the_examples_are_of_every_kind() -> None:
    assert {type(command) for command in COMMANDS} == set(get_args(protocol.AnyCommand))
    assert {type(reply) for reply in REPLIES} == set(get_args(protocol.AnyReply))


def test_text_with_line_ends_stays_on_its_line() -> None:
    line = protocol.encode(protocol.Failed(id="i", kind=protocol.FailureKind.RAISED, message="a\nb\r\n\0"))
    assert line.count(b"\n") == 1
    assert protocol.decode_reply(line) == protocol.Failed(
        id="i", kind=protocol.FailureKind.RAISED, message="a\nb\r\n\0"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "call"}, {"type": "praised"}, {"type": None}, {"id": 3}, {"id": None}, {"verdict": "pass"},
        {"returned": None}, {"returned": [{}]}, {"returned": [{"type_name": "Tensor", "bytes": -1}]},
        {"returned": [{"type_name": "Tensor", "shape": [-1]}]}, {"returned": [{"type_name": "Tensor", "shape": [1.5]}]},
        {"returned": [{"type_name": "Tensor", "shape": "12"}]}, {"elapsed_s": "0.1"}, {"elapsed_s": None},
        {"launches": [{"kernel": "k"}]}, {"launches": {}},
    ],
)  # fmt: skip
def test_reply_differing_in_one_field_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(WireError, match=r"^not a reply: "):
        protocol.decode_reply(json.dumps({**CALLED, **changes}).encode())


@pytest.mark.parametrize("field", list(CALLED))
def test_reply_missing_one_field_is_refused(field: str) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(json.dumps({name: value for name, value in CALLED.items() if name != field}).encode())


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"pass", b"null", b"[]", b'"done"', b"{}", b'{"type":"done","id":"i"', b'{"type":"done","id":"i"}}',
        b'{"type":"done","id":"i"}{"type":"done","id":"i"}', b"\x00", b"\xff\xfe", b'{"type":"done","id":"\xff"}',
        b'{"type":"done","id":"\\ud800"}', b'{"type":"called","id":"i","returned":[],"launches":[],"elapsed_s":1e999}',
        b'{"type":"called","id":"i","returned":[],"launches":[],"elapsed_s":NaN}', b"[" * 200_000,
        b'{"type":"failed","id":"i","kind":"perfect","message":""}',
    ],
)  # fmt: skip
def test_malformed_reply_is_wire_error(line: bytes) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(line)


NESTED = b'{"type":"prepared","id":"x","arguments":[' + b'{"kind":"sequence","is_tuple":true,"items":[' * 20_000


@pytest.mark.parametrize(
    "line", [NESTED, b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"done","id":"x"}'], ids=["value", "unknown"]
)
def test_reply_nested_too_deeply_is_wire_error(line: bytes) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(line)


def test_command_and_reply_are_not_interchangeable() -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(protocol.encode(COMMANDS[0]))
    with pytest.raises(WireError):
        protocol.decode_command(protocol.encode(REPLIES[1]))


def test_id_of_invalid_command_is_found() -> None:
    assert protocol.id_of(b'{"type":"praise","id":"a","x":[{}]}\n') == "a"
    assert [protocol.id_of(line) for line in (b"", b"noise", b"[]", b'{"id":3}', b'{"id":"\xff"}')] == [""] * 5


def test_messages_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        REPLIES[1].id = "other"  # type: ignore[misc]  # that it cannot be assigned is the point


def test_ids_are_128_random_bits() -> None:
    ids = {protocol.new_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(bytes.fromhex(identifier)) for identifier in ids} == {16}


def test_equal_messages_have_equal_lines() -> None:
    assert protocol.encode(msgspec.structs.replace(REPLIES[1], id="j")) == protocol.encode(protocol.Done(id="j"))
