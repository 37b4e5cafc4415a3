"""Mutated tapes end in a replay or in a refusal, never in a crash; KGTUI_FUZZED_TAPES sets how many are tried."""

from __future__ import annotations

import os
import random

import msgspec
import numpy as np

from engine.errors import KgtuiError
from engine.protocol.proof.tape import Filled, Given, Moved, read_tape
from engine.replay.checks import check_tape
from engine.replay.execution import KernelStoppedError
from tests.engine.replay.tapes import BYTES, content, double, launched, replay_on_host, tape, vector, zeros

_TAPES = int(os.environ.get("KGTUI_FUZZED_TAPES", "300"))
_SEED = 20_261_123
_NUMBERS = (-1, 0, 1, 2, 3, 7, 64, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 64, "1", None, True, 0.5)
_WHOLE = tape(
    Filled(target=vector(1), element=b"\0\0\x80\x3f"),
    Given(storage=2, data=content().tobytes(), line=3),
    Moved(target=vector(1), source=vector(2)),
    Moved(target=vector(2, dtype="float16"), source=vector(1)),
    launched(vector(0), vector(1)),
    returned=(vector(1), None),
    storages=3,
)


def test_mutated_tapes_are_replayed_or_refused():
    chooser = random.Random(_SEED)
    ends = [_end(_mutated(chooser)) for _ in range(_TAPES)]
    assert set(ends) == {"replayed", "refused"}


def _end(text: bytes) -> str:
    try:
        read = read_tape(text)
        check_tape(read, [BYTES], most_bytes=1 << 20)
        kernels = {number: double() for number in range(len(read.specialisations))}
        replay_on_host(read, [content()], kernels, poison=zeros)
    except (KgtuiError, KernelStoppedError):
        return "refused"
    return "replayed"


def _mutated(chooser: random.Random) -> bytes:
    """The tape with some of its values replaced, or some of its bytes."""
    text = msgspec.json.encode(_WHOLE)
    if chooser.random() < 0.2:
        spoiled = bytearray(text)
        for _ in range(chooser.randint(1, 8)):
            spoiled[chooser.randrange(len(spoiled))] = chooser.randrange(256)
        return bytes(spoiled)
    plain = msgspec.json.decode(text)
    for _ in range(chooser.randint(1, 3)):
        _mutate(plain, chooser)
    return msgspec.json.encode(plain)


def _mutate(node, chooser: random.Random) -> None:
    """Replace, drop or repeat one value somewhere below a list or dictionary."""
    keys = list(range(len(node))) if isinstance(node, list) else list(node)
    if not keys:
        return
    key = chooser.choice(keys)
    if isinstance(node[key], list | dict) and chooser.random() < 0.85:
        _mutate(node[key], chooser)
    elif isinstance(node, list) and chooser.random() < 0.3:
        node.insert(key, node[key])
    elif chooser.random() < 0.2:
        del node[key]
    elif isinstance(node[key], str) and chooser.random() < 0.5:
        node[key] = chooser.choice(["float64", "int8", "complex128", "move", "launch", "view", "", "x" * 600])
    else:
        node[key] = chooser.choice(_NUMBERS)


def test_a_tape_nested_without_end_is_refused():
    assert _end(b'{"storages":' + b"[" * 100_000) == "refused"


def test_poison_fills_memory_that_nothing_wrote():
    state = replay_on_host(tape(), [content()], {}, poison=lambda size: np.full(size, 7, np.uint8))
    assert set(state.content[1].tolist()) == {7}
