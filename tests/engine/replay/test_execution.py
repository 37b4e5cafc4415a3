"""Executing the steps of a tape."""

from __future__ import annotations

import contextlib

import msgspec
import numpy as np
import pytest

from engine.errors import UnsupportedError
from engine.machine.reader import read_module
from engine.protocol.proof.tape import Addressed, Filled, Given, LookedUp, Moved, TapedPlace, TapedStorage
from engine.replay.checks import TapeError, check_tape
from engine.replay.execution import KernelStoppedError, replay
from engine.replay.host_memory import HostMemory, Kernel
from tests.engine.replay.tapes import (
    BYTES,
    ELEMENTS,
    FIRST_OF,
    TAKE_TICKET,
    content,
    double,
    launched,
    replay_on_host,
    tape,
    vector,
    zeros,
)


def _replay(recorded, arguments=None):
    return replay_on_host(recorded, [content()] if arguments is None else arguments, {0: double()}, poison=zeros)


def _floats(state, storage):
    return state.content[storage].view(np.float32).tolist()


def test_a_launch_computes_from_the_argument():
    state = _replay(tape(launched(vector(0), vector(1))))
    assert _floats(state, 1) == [0, 2, 4, 6, 8, 10]
    assert (state.launched, state.changed, state.moved_bytes) == ({1}, {1}, 0)


def test_addresses_are_as_large_as_those_of_a_process():
    table = Addressed(
        storage=2, words=(TapedPlace(storage=0, offset_bytes=0), TapedPlace(storage=1, offset_bytes=4), 0)
    )
    state = replay_on_host(tape(table, storages=3), [content()], {}, poison=zeros)
    first, second, _ = state.content[2].view(np.int64)
    assert 0x7E00_0000_0000 <= first < second < 0x7FFF_FFFF_FFFF


@pytest.mark.parametrize(("at", "value"), [(0, 0.0), (8, 2.0)])
def test_kernel_reads_through_pointer_array(at, value):
    kernel = Kernel(module=read_module(FIRST_OF), arguments=("x", "y"), makes_pointers=True)
    table = Addressed(storage=2, words=(TapedPlace(storage=0, offset_bytes=at),) * 3)
    launch = launched(vector(2, elements=3, dtype="int64"), vector(1))
    state = replay_on_host(tape(table, launch, storages=3), [content()], {0: kernel}, poison=zeros)
    assert (_floats(state, 1)[0], state.foreign, state.launched) == (value, {1: {0}, 2: {0}}, {1})


@pytest.mark.parametrize(
    ("waits", "backwards", "programs"), [(True, True, [2, 1, 0]), (True, False, [0, 1, 2]), (False, True, [0, 1, 2])]
)
def test_kernels_that_may_wait_run_backwards(programs: list[int], *, waits: bool, backwards: bool):
    kernel = Kernel(module=read_module(TAKE_TICKET), arguments=("x", "y"), waits=waits)
    launch = msgspec.structs.replace(launched(vector(0, dtype="int32"), vector(1, dtype="int32")), grid=(3, 1, 1))
    memory = HostMemory(
        tape(launch), [zeros(BYTES)], {0: kernel}, bases=[4096, 8192], poison=zeros, backwards=backwards
    )
    replay(tape(launch), memory)
    assert memory.content[1].view(np.int32)[:3].tolist() == programs


@pytest.mark.parametrize(("waits", "grid", "may_wait"), [(True, 3, True), (True, 1, False), (False, 3, False)])
def test_several_programs_may_wait_for_each_other(grid: int, *, waits: bool, may_wait: bool):
    kernel = Kernel(module=read_module(TAKE_TICKET), arguments=("x", "y"), waits=waits)
    launch = msgspec.structs.replace(launched(vector(0), vector(1)), grid=(grid, 1, 1))
    memory = HostMemory(tape(launch), [zeros(BYTES)], {0: kernel}, bases=[4096, 8192], poison=zeros)
    assert memory.may_wait is may_wait


def test_operation_reaching_all_memory_depends_on_all():
    kernel = Kernel(module=read_module(FIRST_OF), arguments=("x", "y"), makes_pointers=True)
    table = Addressed(storage=2, words=(TapedPlace(storage=0, offset_bytes=0),) * 3)
    launch = launched(vector(2, elements=3, dtype="int64"), vector(1))
    steps = (Given(storage=3, data=bytes(BYTES)), table, launch)
    state = replay_on_host(tape(*steps, storages=4), [content()], {0: kernel}, poison=zeros)
    assert state.foreign[1] == frozenset({0, 1})


def test_table_of_addresses_has_numbers_as_they_are():
    words = (TapedPlace(storage=0, offset_bytes=8), -3, TapedPlace(storage=0, offset_bytes=BYTES))
    state = _replay(tape(Addressed(storage=1, words=words)))
    first, number, behind = state.content[1].view(np.int64)
    assert (number, behind - first) == (-3, BYTES - 8)


@pytest.mark.parametrize(("data", "origins"), [(None, {0, 1}), (bytes(BYTES), {1})], ids=["noise", "constant"])
def test_constant_of_an_operator_does_not_come_from_what_it_read(data, origins):
    steps = (Given(storage=2, data=bytes(BYTES)), Given(storage=1, reads=(2,), operator="aten::mul", data=data))
    assert _replay(tape(*steps, storages=3)).foreign[1] == origins


FILLED = Filled(target=vector(1), element=np.float32(7).tobytes())
POSITIONS = Moved(target=vector(2, elements=2, dtype="int32"), source=vector(0, elements=2))
FIXED = Filled(target=vector(2, elements=2, dtype="int32"), element=bytes(4))
FOUND = LookedUp(
    target=vector(3, elements=2), source=vector(1), positions=vector(2, elements=2, dtype="int32"), dimension=0
)


@pytest.mark.parametrize(
    ("steps", "looks_up"),
    [
        ((FILLED, POSITIONS, FOUND), True),
        ((FILLED, FIXED, FOUND), False),
        ((Moved(target=vector(1), source=vector(0)), POSITIONS, FOUND), False),
        ((FILLED, Moved(target=vector(1, elements=2), source=vector(0, elements=2)), POSITIONS, FOUND), False),
        ((Moved(target=vector(1), source=vector(0)), FILLED, POSITIONS, FOUND), True),
        ((Given(storage=1, data=bytes(BYTES)), POSITIONS, FOUND), False),
        ((launched(vector(0), vector(1)), POSITIONS, FOUND), False),
        ((FILLED, launched(vector(1), vector(1)), POSITIONS, FOUND), True),
        ((FILLED, launched(vector(1), vector(1)), FIXED, FOUND), False),
    ],
    ids=[
        "fills",
        "fixed positions",
        "argument",
        "fills and argument",
        "fills behind",
        "constant",
        "kernel",
        "kernel without arguments",
        "kernel without arguments, fixed positions",
    ],
)
def test_look_ups_in_tables_by_content_are_found(steps, looks_up):
    small = np.zeros(ELEMENTS, np.float32).view(np.uint8)  # positions within the table
    assert _replay(tape(*steps, storages=4), [small]).looks_up_table is looks_up


@pytest.mark.parametrize(
    ("steps", "fractional", "looks_up"),
    [
        ((POSITIONS, FOUND), {0}, True),
        ((POSITIONS, FOUND), (), False),
        ((POSITIONS, FIXED, FOUND), {0}, True),
        ((POSITIONS, Filled(target=vector(2), element=bytes(4)), FOUND), {0}, False),
        ((POSITIONS, Given(storage=2, data=bytes(BYTES)), FOUND), {0}, False),
        ((FIXED, FOUND), {0}, False),
        ((launched(vector(0), vector(2)), FOUND), {0}, False),
    ],
    ids=["cast", "integers", "filled in part", "filled", "constant", "fixed", "kernel"],
)
def test_look_ups_at_positions_of_fractions_are_found(steps, fractional, looks_up):
    small = np.zeros(ELEMENTS, np.float32).view(np.uint8)  # positions within the table
    recorded = tape(Moved(target=vector(1), source=vector(0)), *steps, storages=4)
    state = replay_on_host(recorded, [small], {0: double()}, poison=zeros, fractional=fractional)
    assert state.looks_up_by_fractions is looks_up


CAST = Moved(target=vector(2, dtype="int32"), source=vector(1))


@pytest.mark.parametrize(
    ("steps", "cast"),
    [
        ((Moved(target=vector(1), source=vector(0)), CAST), 1),
        ((launched(vector(0), vector(1)), CAST), 1),
        ((Given(storage=1), CAST), 1),
        ((Given(storage=1, data=bytes(BYTES)), CAST), None),
        ((FILLED, CAST), None),
        ((Moved(target=vector(2), source=vector(0)),), None),
    ],
    ids=["argument", "kernel", "unknown", "constant", "filled", "without a cast"],
)
def test_casts_that_drop_fractions_of_arguments_are_found(steps, cast):
    small = np.zeros(ELEMENTS, np.float32).view(np.uint8)
    recorded = tape(*steps, storages=3)
    assert replay_on_host(recorded, [small], {0: double()}, poison=zeros).truncated_by == cast


@pytest.mark.parametrize(
    ("steps", "moved"),
    [
        ((Moved(target=vector(1), source=vector(0)),), True),
        ((FILLED,), True),
        ((FILLED, launched(vector(1), vector(1), n=1)), True),
        ((FILLED, launched(vector(1), vector(1), n=4)), False),
        ((FILLED, Given(storage=1, data=bytes(BYTES))), False),
        ((launched(vector(0), vector(3)), Moved(target=vector(1), source=vector(3))), False),
        ((Moved(target=vector(1, elements=2), source=vector(0, elements=2)),), False),
    ],
    ids=["copy", "fill", "one element stored", "most elements stored", "constant", "of a kernel", "copy of a part"],
)
def test_memory_that_torch_alone_gave_is_moved(steps, moved):
    origins = _replay(tape(*steps, storages=4)).origins
    assert origins is not None
    assert origins.is_moved(1) is moved


@pytest.mark.parametrize(("stored", "looked_up"), [((), True), ((1,), True), ((4,), False)])
def test_elements_that_torch_looked_up_need_another_store(stored, looked_up):
    small = np.zeros(ELEMENTS, np.float32).view(np.uint8)  # positions within the table
    at = vector(2, dtype="int32")
    found = LookedUp(target=vector(1), source=vector(0), positions=at, dimension=0)
    launches = (launched(vector(1), vector(1), n=count) for count in stored)
    steps = (Moved(target=at, source=vector(0)), found, *launches, Moved(target=vector(3), source=vector(1)))
    origins = _replay(tape(*steps, storages=4), [small]).origins
    assert origins is not None
    assert (origins.is_looked_up(vector(1)), origins.is_looked_up(vector(3))) == (looked_up, looked_up)


def test_moves_within_elements_are_found_by_their_highest_origin():
    low = msgspec.structs.replace(vector(1, dtype="uint8"), strides=(4,))
    high = msgspec.structs.replace(low, offset_bytes=3)
    at = vector(2, dtype="int32")
    steps = (
        Filled(target=at, element=bytes(4)),
        Moved(target=low, source=msgspec.structs.replace(low, storage=0)),
        LookedUp(target=high, source=vector(0, dtype="uint8"), positions=at, dimension=0),
    )
    origins = _replay(tape(*steps, storages=3)).origins
    assert origins is not None
    assert (origins.is_looked_up(vector(1)), origins.of(low).tolist()) == (True, [1] * ELEMENTS)


def test_an_argument_that_is_written_changes_in_place():
    argument = content()
    _replay(tape(launched(vector(0), vector(0))), [argument])
    assert argument.view(np.float32).tolist() == [0, 2, 4, 6, 8, 10]


def test_moves_and_fills_are_counted_in_bytes():
    fill = Filled(target=vector(1), element=np.float32(7).tobytes())
    state = _replay(tape(fill, Moved(target=vector(1, elements=2), source=vector(0, elements=2, offset_bytes=16))))
    assert _floats(state, 1) == [4, 5, 7, 7, 7, 7]
    assert state.moved_bytes == BYTES + 8


def test_a_move_between_overlapping_views_reads_first():
    state = _replay(tape(Moved(target=vector(0, elements=5, offset_bytes=4), source=vector(0, elements=5))))
    assert _floats(state, 0) == [0, 0, 1, 2, 3, 4]


def test_a_move_casts_as_torch_rounds():
    half = vector(1, dtype="bfloat16")
    state = _replay(tape(Moved(target=half, source=vector(0))), [(content().view(np.float32) + 0.001).view(np.uint8)])
    assert state.content[1][:12].view(np.uint16).tolist() == [0x3A83, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0]


def test_fp4_moves_as_bytes():
    views = (vector(place, dtype="float4_e2m1fn_x2") for place in (1, 0))
    state = _replay(tape(Moved(target=next(views), source=next(views))))
    assert state.content[1][:6].tolist() == content()[:6].tolist()


def test_move_to_8_bit_float_is_unsupported():
    with pytest.raises(UnsupportedError, match="float32 to float8_e4m3fn"):
        _replay(tape(Moved(target=vector(1, dtype="float8_e4m3fn"), source=vector(0))))


def test_content_of_unknown_origin_marks_derived_values():
    given = Given(storage=1, operator="aten::mm", line=12)
    state = _replay(tape(given, launched(vector(1), vector(2)), storages=3))
    assert state.foreign == {1: {0}, 2: {0}}


def test_operator_content_keeps_its_inputs():
    first, second = Given(storage=1, operator="aten::mm"), Given(storage=2, reads=(1,), operator="aten::add")
    assert _replay(tape(first, second, storages=3)).foreign[2] == {0, 1}


def test_a_fill_of_all_replaces_content_of_elsewhere():
    given = Given(storage=1, operator="aten::mm")
    state = _replay(tape(given, Filled(target=vector(1), element=b"\0\0\0\0"), launched(vector(0), vector(1))))
    assert (state.foreign, state.launched) == ({}, {1})


def test_a_constant_has_the_bytes_of_the_tape():
    state = _replay(tape(Given(storage=1, data=content().tobytes()), launched(vector(1), vector(0))))
    assert _floats(state, 0) == [0, 2, 4, 6, 8, 10]


def test_a_launch_that_leaves_its_memory_is_stopped():
    with pytest.raises(KernelStoppedError, match="double: out of bounds: load of 0"):
        _replay(tape(launched(vector(0), vector(1), n=7)))


@pytest.mark.parametrize(("n", "message"), [(0, ""), (1, "double: out of bounds: load of 1")])
def test_a_storage_of_no_bytes_cannot_be_accessed(n, message):
    own = (TapedStorage(bytes=0), TapedStorage(bytes=BYTES))
    recorded = tape(launched(vector(1, elements=0), vector(2), n=n), returned=(vector(2),))
    recorded = msgspec.structs.replace(recorded, storages=(recorded.storages[0], *own))
    check_tape(recorded, [BYTES], most_bytes=1 << 20)
    with pytest.raises(KernelStoppedError, match=message) if message else contextlib.nullcontext():
        _replay(recorded)


def test_a_launch_without_an_argument_is_refused():
    step = launched(vector(0), vector(1))
    without = type(step)(specialisation=0, grid=(1, 1, 1), arguments=step.arguments[:2])
    with pytest.raises(TapeError, match="a launch of double without its argument n"):
        _replay(tape(without))
