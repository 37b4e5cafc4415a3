"""Kernels of a replay see the addresses of the call, or drawn ones that are aligned as those of a process."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest

from engine.protocol.proof.tape import Tape, TapedStorage
from engine.replay.addresses import bases_of

STORAGES = (
    TapedStorage(bytes=300, argument=1),
    TapedStorage(bytes=100),
    TapedStorage(bytes=0),
    TapedStorage(bytes=40, argument=0),
)
TAPE = Tape(storages=STORAGES, specialisations=(), steps=(), returned=())
OFFSETS = (256, 768)


def drawn(tape: Tape, seed: int = 0) -> list[int]:
    return bases_of(tape, OFFSETS, random.Random(seed).randrange)


def test_addresses_are_as_large_as_those_of_a_process():
    assert all(0x7E00_0000_0000 <= base < 0x7FFF_FFFF_FFFF for base in drawn(TAPE))


def test_arguments_are_placed_as_in_their_arena():
    first, _, _, second = drawn(TAPE)
    assert (first - second, first % 4096) == (512, 768)


def test_other_memory_begins_at_drawn_cache_lines():
    places = [drawn(TAPE, seed)[1] for seed in range(40)]
    assert {place % 64 for place in places} == {0}
    assert len({place % 4096 for place in places}) > 20


def test_memory_is_apart():
    placed = sorted(zip(drawn(TAPE), STORAGES, strict=True), key=lambda one: one[0])
    assert all(base + storage.bytes <= after for (base, storage), (after, _) in itertools.pairwise(placed))


@pytest.mark.parametrize(
    ("addresses", "used"),
    [
        ((1000, 2000, 2000, 3000), True),
        ((1000, 1300, 0, 3000), True),
        ((1000, 1299, 0, 3000), False),
        ((1000, 2000, 2500), False),
    ],
    ids=["apart", "next to each other", "overlapping", "too few"],
)
def test_addresses_of_the_call_are_used_if_they_are_possible(addresses: tuple[int, ...], *, used: bool):
    claimed = msgspec.structs.replace(TAPE, addresses=addresses)
    assert (drawn(claimed) == list(addresses)) is used
