"""What is wrong about accesses: each finding with its storage, element, programs and lines."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError
from engine.machine.executor import execute
from engine.machine.memory import Address, Memory
from engine.machine.results import AccessKind, Execution, FindingKind, Limits, MemoryFinding
from tests.engine.machine.building import (
    F32,
    I1,
    I32,
    I64,
    Builder,
    FunctionBuilder,
    Value,
    module,
    pointer,
    storage,
    tensor,
)

BLOCK = 8


def program(entry: Builder) -> Value:
    return entry.op("tt.get_program_id", to=I32, axis=0)


def offsets(entry: Builder, start: Value) -> Value:
    lanes = entry.op("tt.make_range", to=tensor(I32, BLOCK), start=0, end=BLOCK)
    return entry.op("arith.addi", entry.op("tt.splat", start, to=tensor(I32, BLOCK)), lanes, to=tensor(I32, BLOCK))


def at(entry: Builder, base: Value, index: Value) -> Value:
    kind = tensor(pointer(F32), BLOCK)
    return entry.op("tt.addptr", entry.op("tt.splat", base, to=kind), index, to=kind)


def scalar_at(entry: Builder, base: Value, index: Value) -> Value:
    return entry.op("tt.addptr", base, index, to=pointer(F32))


def times(entry: Builder, value: Value, factor: int) -> Value:
    return entry.op("arith.muli", value, entry.constant(I32, factor), to=I32)


def run(
    kernel: FunctionBuilder, programs: int, *arrays: np.ndarray, written: bool = True, **options: object
) -> Execution:
    names = "xyz"
    storages = [
        storage(names[place], array, F32 if array.dtype == np.float32 else I32, base=(place + 1) << 12, written=written)
        for place, array in enumerate(arrays)
    ]
    arguments = [Address(storage=place) for place in range(len(arrays))]
    return execute(module(kernel.build()), (programs, 1, 1), arguments, Memory(storages), **options)


def copy_kernel(distance: int, *, masked_from: int | None = None) -> FunctionBuilder:
    """Each program copies a block of x to y; blocks of x begin `distance` later."""
    kernel = FunctionBuilder(pointer(F32), pointer(F32))
    e = kernel.entry
    source, target = e.arguments
    where = offsets(e, times(e, program(e), BLOCK))
    shifted = e.op("arith.addi", where, e.constant(tensor(I32, BLOCK), distance), to=tensor(I32, BLOCK))
    mask: tuple[Value, ...] = ()
    if masked_from is not None:
        limit = e.constant(tensor(I32, BLOCK), masked_from)
        mask = (e.op("arith.cmpi", shifted, limit, to=tensor(I1, BLOCK), predicate="slt"),)
    value = e.op("tt.load", at(e, source, shifted), *mask, to=tensor(F32, BLOCK), segments=(1, len(mask), 0))
    e.op("tt.store", at(e, target, where), value)
    return kernel


def test_one_element_overrun_stops_and_undoes_launch():
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    execution = run(copy_kernel(1), 4, x, y, limits=Limits(chunk_elements=BLOCK))
    (finding,) = execution.findings
    assert not execution.is_complete
    assert (finding.kind, finding.storage, finding.element, finding.program) == (FindingKind.OUT_OF_BOUNDS, "x", 32, 3)
    line = finding.location.line
    assert finding.message == (
        f"out of bounds: load of x[32] by program 3 at kernel.py:{line}; the tensor has 32 elements"
    )
    assert y.tolist() == [0.0] * 32


def test_masked_lanes_may_point_anywhere():
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    execution = run(copy_kernel(1, masked_from=32), 4, x, y)
    assert execution.findings == ()
    assert y.tolist() == [*range(1, 32), 0.0]


def test_negative_offset_is_out_of_bounds():
    x, y = np.zeros(32, np.float32), np.zeros(32, np.float32)
    (finding,) = run(copy_kernel(-1), 4, x, y).findings
    assert (finding.element, finding.program) == (-1, 0)


def test_address_in_next_storage_is_out_of_bounds():
    x, y = np.zeros(32, np.float32), np.zeros(2048, np.float32)
    (finding,) = run(copy_kernel(1024), 1, x, y).findings
    assert (finding.storage, finding.element, finding.count) == ("x", 1024, BLOCK)


def test_read_of_unwritten_memory_is_found():
    x, y = np.zeros(32, np.float32), np.zeros(32, np.float32)
    execution = run(copy_kernel(0), 4, x, y, written=False)
    (finding,) = execution.findings
    assert execution.is_complete
    assert (finding.kind, finding.storage, finding.element, finding.count) == (FindingKind.UNINITIALIZED, "x", 0, 32)


def test_launch_marks_written_elements():
    y = np.zeros(32, np.float32)
    held = storage("y", y, F32, base=4096, written=False)
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    where = offsets(e, times(e, program(e), BLOCK))
    e.op("tt.store", at(e, e.arguments[0], where), e.constant(tensor(F32, BLOCK), 1.0))
    execute(module(kernel.build()), (3, 1, 1), [Address(storage=0)], Memory([held]))
    assert held.written.tolist() == [True] * 96 + [False] * 32


def store_program_id(factor: int, *, value_of_program: bool) -> FunctionBuilder:
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    pid = program(e)
    number = e.op("arith.sitofp", pid, to=F32) if value_of_program else e.constant(F32, 3.0)
    e.op("tt.store", scalar_at(e, e.arguments[0], times(e, pid, factor)), number)
    return kernel


@pytest.mark.parametrize("chunk_elements", [1, 1 << 18])
def test_two_programs_that_write_different_values_conflict(chunk_elements):
    x = np.zeros(4, np.float32)
    kernel = store_program_id(0, value_of_program=True)
    (finding,) = run(kernel, 2, x, limits=Limits(chunk_elements=chunk_elements)).findings
    assert finding.kind is FindingKind.WRITE_CONFLICT
    assert (finding.storage, finding.element, finding.count) == ("x", 0, 1)
    assert {finding.program, finding.other_program} == {0, 1}
    assert finding.location == finding.other_location
    assert x[0] == 1.0


@pytest.mark.parametrize("chunk_elements", [1, 1 << 18])
def test_programs_writing_same_value_do_not_conflict(chunk_elements):
    x, limits = np.zeros(4, np.float32), Limits(chunk_elements=chunk_elements)
    assert run(store_program_id(0, value_of_program=False), 8, x, limits=limits).findings == ()
    assert run(store_program_id(1, value_of_program=True), 4, x, limits=limits).findings == ()


def shared_kernel(added: float, *, own: bool) -> FunctionBuilder:
    """Each program reads the first element, and writes it plus `added` to its own, or to the first."""
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    value = e.op("tt.load", scalar_at(e, e.arguments[0], e.constant(I32, 0)), to=F32)
    value = e.op("arith.addf", value, e.constant(F32, added), to=F32)
    e.op("tt.store", scalar_at(e, e.arguments[0], program(e) if own else e.constant(I32, 0)), value)
    return kernel


@pytest.mark.parametrize("chunk_elements", [1, 1 << 18])
def test_element_read_by_all_and_written_by_one_conflicts(chunk_elements):
    execution = run(
        shared_kernel(1.0, own=True), 4, np.zeros(4, np.float32), limits=Limits(chunk_elements=chunk_elements)
    )
    assert {finding.kind for finding in execution.findings} == {FindingKind.READ_CONFLICT}
    assert {(finding.storage, finding.element) for finding in execution.findings} == {("x", 0)}


@pytest.mark.parametrize("chunk_elements", [1, 1 << 18])
def test_read_of_element_rewritten_unchanged_does_not_conflict(chunk_elements):
    limits = Limits(chunk_elements=chunk_elements)
    assert run(shared_kernel(0.0, own=False), 4, np.zeros(4, np.float32), limits=limits).findings == ()


def neighbour_kernel() -> FunctionBuilder:
    """Each program reads the element before its own, and writes its own in place."""
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    pid = program(e)
    own = e.op("arith.addi", pid, e.constant(I32, 1), to=I32)
    value = e.op("tt.load", scalar_at(e, e.arguments[0], pid), to=F32)
    value = e.op("arith.addf", value, e.constant(F32, 1.0), to=F32)
    e.op("tt.store", scalar_at(e, e.arguments[0], own), value)
    return kernel


@pytest.mark.parametrize("chunk_elements", [1, 1 << 18])
def test_read_of_other_programs_write_is_found(chunk_elements):
    execution = run(neighbour_kernel(), 3, np.zeros(4, np.float32), limits=Limits(chunk_elements=chunk_elements))
    finding = execution.findings[0]
    assert finding.kind is FindingKind.READ_CONFLICT
    assert finding.storage == "x"
    assert {(finding.program, finding.other_program)} <= {(0, 1), (1, 0)}
    assert {finding.location.line, finding.other_location.line} == {5, 9}
    assert execution.is_complete


def test_in_place_update_per_program_has_no_conflict():
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    where = at(e, e.arguments[0], offsets(e, times(e, program(e), BLOCK)))
    value = e.op("tt.load", where, to=tensor(F32, BLOCK))
    e.op("tt.store", where, e.op("arith.addf", value, value, to=tensor(F32, BLOCK)))
    x = np.arange(32, dtype=np.float32)
    assert run(kernel, 4, x).findings == ()
    assert x.tolist() == [2 * number for number in range(32)]


def test_atomic_sum_counts_every_program_once():
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    e.op("tt.atomic_rmw", e.arguments[0], e.constant(F32, 1.0), to=F32, kind="fadd")
    x = np.zeros(1, np.float32)
    assert run(kernel, 1000, x).findings == ()
    assert x[0] == 1000.0


def tickets(seed: int) -> list[float]:
    kernel = FunctionBuilder(pointer(I32), pointer(F32))
    e = kernel.entry
    ticket = e.op("tt.atomic_rmw", e.arguments[0], e.constant(I32, 1), to=I32, kind="add")
    where = scalar_at(e, e.arguments[1], ticket)
    e.op("tt.store", where, e.op("arith.sitofp", program(e), to=F32))
    counter, order = np.zeros(1, np.int32), np.zeros(64, np.float32)
    assert run(kernel, 64, counter, order, seed=seed).findings == ()
    assert counter[0] == 64
    return order.tolist()


def test_seed_chooses_the_order_of_programs():
    assert tickets(0) == list(range(64))
    assert tickets(1) != tickets(0)
    assert sorted(tickets(1)) == tickets(0)
    assert tickets(1) == tickets(1)


def spin_kernel(expected: int) -> FunctionBuilder:
    """Wait until x[0] is `expected`, then add 1 to it."""
    kernel = FunctionBuilder(pointer(I32))
    e = kernel.entry
    wanted = e.constant(I32, expected) if expected >= 0 else program(e)
    before, after = e.block(), e.block()
    seen = before.op("tt.atomic_rmw", e.arguments[0], before.constant(I32, 0), to=I32, kind="add")
    waits = before.op("arith.cmpi", seen, wanted, to=I1, predicate="ne")
    before.add("scf.condition", (waits,), ())
    after.add("scf.yield", (), ())
    e.many("scf.while", to=(), regions=(before.region(), after.region()))
    e.op("tt.atomic_rmw", e.arguments[0], e.constant(I32, 1), to=I32, kind="add")
    return kernel


def test_programs_that_wait_for_earlier_ones_finish():
    x = np.zeros(1, np.int32)
    assert run(spin_kernel(-1), 20, x).is_complete
    assert x[0] == 20


def test_program_waiting_for_later_one_is_refused():
    x = np.zeros(1, np.int32)
    with pytest.raises(UnsupportedError, match=r"^kernel.py:\d+: scf.while: the loop waits"):
        run(spin_kernel(5), 20, x)
    assert x[0] == 0


@pytest.mark.parametrize(("seed", "order"), [(0, [0, 1, 2, 3]), (-1, [3, 2, 1, 0])])
def test_programs_that_may_wait_run_in_any_order(seed: int, order: list[int]):
    kernel = FunctionBuilder(pointer(I32), pointer(F32))
    e = kernel.entry
    before, after = e.block(), e.block()
    lock = before.op("tt.atomic_rmw", e.arguments[0], before.constant(I32, 0), to=I32, kind="add")
    before.add("scf.condition", (before.op("arith.cmpi", lock, before.constant(I32, -1), to=I1, predicate="eq"),), ())
    after.add("scf.yield", (), ())
    e.many("scf.while", to=(), regions=(before.region(), after.region()))
    ticket = e.op("tt.atomic_rmw", e.arguments[0], e.constant(I32, 1), to=I32, kind="add")
    e.op("tt.store", scalar_at(e, e.arguments[1], ticket), e.op("arith.sitofp", program(e), to=F32))
    ran = np.zeros(4, np.float32)
    done = run(kernel, 4, np.zeros(1, np.int32), ran, seed=seed)
    assert (ran.tolist(), done.is_reordered) == (order, seed != 0)


@pytest.mark.parametrize("seed", [-1, 1, 2])
def test_programs_that_wait_for_earlier_ones_keep_their_order(seed: int):
    x = np.zeros(1, np.int32)
    done = run(spin_kernel(-1), 20, x, seed=seed)
    assert (done.is_complete, done.is_reordered, x[0]) == (True, False, 20)


def test_program_that_counts_while_it_waits_keeps_its_order():
    kernel = FunctionBuilder(pointer(I32))
    e = kernel.entry
    before, after = e.block(I64), e.block(I64)
    seen = before.op("tt.atomic_rmw", e.arguments[0], before.constant(I32, 0), to=I32, kind="add")
    waits = before.op("arith.cmpi", seen, program(e), to=I1, predicate="ne")
    before.add("scf.condition", (waits, before.arguments[0]), ())
    after.add("scf.yield", (after.op("arith.addi", after.arguments[0], after.constant(I64, 1), to=I64),), ())
    e.many("scf.while", e.constant(I64, 0), to=(I64,), regions=(before.region(), after.region()))
    e.op("tt.atomic_rmw", e.arguments[0], e.constant(I32, 1), to=I32, kind="add")
    x = np.zeros(1, np.int32)
    done = run(kernel, 3, x, seed=-1, limits=Limits(steps=100_000))
    assert (done.is_reordered, x[0]) == (False, 3)


def test_launch_of_one_program_has_no_other_order():
    assert not run(spin_kernel(-1), 1, np.zeros(1, np.int32), seed=-1).is_reordered


def test_endless_loop_reaches_the_step_limit():
    kernel = FunctionBuilder(pointer(I32))
    e = kernel.entry
    before, after = e.block(I64), e.block(I64)
    before.add("scf.condition", (before.constant(I1, 1), before.arguments[0]), ())
    grown = after.op("arith.addi", after.arguments[0], after.constant(I64, 1), to=I64)
    after.add("scf.yield", (grown,), ())
    e.many("scf.while", e.constant(I64, 0), to=(I64,), regions=(before.region(), after.region()))
    with pytest.raises(LimitError, match="more than 500 steps were executed"):
        run(kernel, 1, np.zeros(1, np.int32), limits=Limits(steps=500))


def test_false_divisibility_claim_is_found():
    kernel = copy_kernel(0)
    kernel.divisibility[0] = 16
    x, y = (storage(name, np.zeros(32, np.float32), F32, base=base) for name, base in (("x", 4096), ("y", 8192)))
    execution = execute(
        module(kernel.build()), (1, 1, 1), [Address(storage=0, offset=4), Address(storage=1)], Memory([x, y])
    )
    (finding,) = execution.findings
    assert (finding.kind, finding.storage, finding.element) == (FindingKind.MISALIGNED, "x", 1)


def test_misaligned_element_is_found():
    x, y = (storage(name, np.zeros(32, np.float32), F32, base=base) for name, base in (("x", 4096), ("y", 8192)))
    arguments = [Address(storage=0, offset=2), Address(storage=1)]
    execution = execute(module(copy_kernel(0).build()), (1, 1, 1), arguments, Memory([x, y]))
    assert [finding.kind for finding in execution.findings] == [FindingKind.MISALIGNED]


def test_strided_load_touches_a_sector_per_element():
    kernel = FunctionBuilder(pointer(F32))
    e = kernel.entry
    lanes = e.op("tt.make_range", to=tensor(I32, BLOCK), start=0, end=BLOCK)
    index = e.op("arith.muli", lanes, e.constant(tensor(I32, BLOCK), 16), to=tensor(I32, BLOCK))
    e.op("tt.load", at(e, e.arguments[0], index), to=tensor(F32, BLOCK))
    execution = run(kernel, 3, np.zeros(128, np.float32))
    (facts,) = execution.accesses
    assert (facts.executions, facts.requested_bytes, facts.distinct_bytes, facts.sectors) == (3, 96, 96, 24)


def test_elements_are_counted_with_separators() -> None:
    found = MemoryFinding(
        kind=FindingKind.OUT_OF_BOUNDS, access=AccessKind.LOAD, storage="x", element=2048, elements=2048, program=3,
        location=None, count=1500,
    )  # fmt: skip
    assert found.message.endswith("; the tensor has 2,048 elements (1,500 elements)")


def test_stored_bytes_are_those_of_stores() -> None:
    x, y = np.zeros(2 * BLOCK, np.float32), np.zeros(2 * BLOCK, np.float32)
    held = [storage("x", x, F32, base=1 << 12), storage("y", y, F32, base=2 << 12)]
    held = [msgspec.structs.replace(one, stored=np.zeros(one.bytes, np.bool_)) for one in held]
    kernel = module(copy_kernel(0).build())
    execute(kernel, (1, 1, 1), [Address(storage=0), Address(storage=1)], Memory(held))
    flags = [one.stored for one in held]
    assert [flag.nonzero()[0].tolist() for flag in flags if flag is not None] == [[], list(range(4 * BLOCK))]
