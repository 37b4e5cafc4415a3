"""Atomic loads, stores and polls: values, findings, facts, and programs that wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import UnsupportedError
from engine.machine.executor import execute
from engine.machine.memory import Address, Memory
from engine.machine.plan import waits_for_programs
from engine.machine.results import AccessKind, Execution, FindingKind, Limits, MemoryFinding
from tests.engine.machine.building import (
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

N = 4
BLOCK, POINTERS = tensor(I32, N), tensor(pointer(I32), N)


def run(
    kernel: FunctionBuilder, programs: int, *arrays: np.ndarray, unwritten: bool = False, seed: int = 0
) -> Execution:
    storages = [
        storage("xyz"[place], array, I32, base=(place + 1) << 12, written=not unwritten)
        for place, array in enumerate(arrays)
    ]
    arguments = [Address(storage=place) for place in range(len(arrays))]
    return execute(module(kernel.build()), (programs, 1, 1), arguments, Memory(storages), seed=seed)


def kernel_of(count: int) -> tuple[FunctionBuilder, Builder]:
    kernel = FunctionBuilder(*(pointer(I32) for _ in range(count)))
    return kernel, kernel.entry


def program(entry: Builder) -> Value:
    return entry.op("tt.get_program_id", to=I32, axis=0)


def element(entry: Builder, place: int, index: Value) -> Value:
    return entry.op("tt.addptr", entry.arguments[place], index, to=pointer(I32))


def lanes(entry: Builder) -> Value:
    return entry.op("tt.make_range", to=BLOCK, start=0, end=N)


def block(entry: Builder, place: int) -> Value:
    return entry.op("tt.addptr", entry.op("tt.splat", entry.arguments[place], to=POINTERS), lanes(entry), to=POINTERS)


def below(entry: Builder, bound: int) -> Value:
    return entry.op("arith.cmpi", lanes(entry), entry.constant(BLOCK, bound), to=tensor(I1, N), predicate="slt")


def test_atomic_load_and_store_move_the_masked_elements() -> None:
    kernel, e = kernel_of(2)
    seen = e.op("tt.atomic_load", block(e, 0), below(e, 3), to=BLOCK)
    e.op("tt.atomic_store", block(e, 1), seen, below(e, 2))
    x, y = np.array([5, 6, 7, 8], np.int32), np.zeros(N, np.int32)
    done = run(kernel, 3, x, y)
    assert (x.tolist(), y.tolist(), done.findings) == ([5, 6, 7, 8], [5, 6, 0, 0], ())
    facts = [(fact.kind, fact.storages, fact.executions, fact.requested_bytes, fact.sectors) for fact in done.accesses]
    assert facts == [(AccessKind.ATOMIC, ("x",), 3, 36, 3), (AccessKind.ATOMIC, ("y",), 3, 24, 3)]


def test_atomic_store_defines_memory_and_atomic_load_needs_it() -> None:
    for name, kinds in (("tt.atomic_store", []), ("tt.atomic_load", [FindingKind.UNINITIALIZED])):
        kernel, e = kernel_of(1)
        if name == "tt.atomic_store":
            e.op(name, e.arguments[0], e.constant(I32, 3))
        e.op("tt.atomic_load", e.arguments[0], to=I32)
        assert [finding.kind for finding in run(kernel, 1, np.zeros(1, np.int32), unwritten=True).findings] == kinds


def test_atomic_stores_of_two_programs_do_not_conflict() -> None:
    kernel, e = kernel_of(1)
    e.op("tt.atomic_store", e.arguments[0], program(e))
    x = np.zeros(1, np.int32)
    assert run(kernel, 5, x).findings == ()
    assert x.tolist() == [4]


def run_in_turn(*names: str, scopes: tuple[str, str] = ("gpu", "gpu")) -> list[tuple[FindingKind, AccessKind]]:
    """Findings of programs that each perform one operation on x[0], the first one first."""
    kernel, e = kernel_of(1)
    for number, name in enumerate(names):
        inner = e.block()
        value = () if name.endswith("load") else (inner.constant(I32, 1),)
        inner.op(name, inner.function.entry.arguments[0], *value, to=None if value else I32, scope=scopes[number])
        inner.add("scf.yield", (), ())
        is_turn = e.op("arith.cmpi", program(e), e.constant(I32, number), to=I1, predicate="eq")
        e.add("scf.if", (is_turn,), (), regions=(inner.region(),))
    return [(finding.kind, finding.access) for finding in run(kernel, 2, np.zeros(1, np.int32)).findings]


def test_atomic_load_and_plain_store_of_two_programs_are_unsynchronized() -> None:
    assert run_in_turn("tt.store", "tt.atomic_load") == [(FindingKind.READ_CONFLICT, AccessKind.ATOMIC)]
    assert run_in_turn("tt.atomic_load", "tt.store") == [(FindingKind.READ_CONFLICT, AccessKind.STORE)]


def test_atomic_store_conflicts_with_a_plain_one_only() -> None:
    assert run_in_turn("tt.store", "tt.atomic_store") == [(FindingKind.WRITE_CONFLICT, AccessKind.ATOMIC)]
    assert run_in_turn("tt.atomic_store", "tt.atomic_load") == []
    assert run_in_turn("tt.atomic_load", "tt.atomic_store") == []


@pytest.mark.parametrize("scopes", [("cta", "cta"), ("gpu", "cta"), ("cta", "gpu")])
def test_atomics_of_two_programs_conflict_if_one_is_of_one_program(scopes: tuple[str, str]) -> None:
    assert run_in_turn("tt.atomic_store", "tt.atomic_store", scopes=scopes) == [
        (FindingKind.WRITE_CONFLICT, AccessKind.ATOMIC)
    ]
    assert run_in_turn("tt.atomic_store", "tt.atomic_load", scopes=scopes) == [
        (FindingKind.READ_CONFLICT, AccessKind.ATOMIC)
    ]


def summed(*, scope: str, shared: bool) -> Execution:
    """Programs that run together add 1, each to x[0] or to an element of its own."""
    kernel, e = kernel_of(1)
    index = e.constant(I32, 0) if shared else program(e)
    e.op("tt.atomic_rmw", element(e, 0, index), e.constant(I32, 1), to=I32, kind="add", sem="relaxed", scope=scope)
    return run(kernel, 4, np.zeros(4, np.int32))


def test_sum_of_several_programs_needs_a_scope_beyond_one() -> None:
    (finding,) = summed(scope="cta", shared=True).findings
    assert (finding.kind, finding.element, finding.count) == (FindingKind.WRITE_CONFLICT, 0, 3)
    assert (finding.program, finding.other_program) == (0, 3)
    assert finding.detail == 'an atomic with scope="cta" is not atomic for other programs'
    assert summed(scope="cta", shared=False).findings == ()
    assert summed(scope="gpu", shared=True).findings == ()


def chained(*, later: bool) -> FunctionBuilder:
    """Each program waits for the flag of its neighbour, and adds 1 to the neighbour's sum."""
    kernel, e = kernel_of(2)
    step = e.constant(I32, 1)
    mine = e.op("arith.addi", program(e), step, to=I32)
    theirs = e.op("arith.addi", mine, step, to=I32) if later else program(e)
    e.op("tt.atomic_poll", element(e, 0, theirs), step, to=I1, sem="acquire")
    total = e.op("arith.addi", e.op("tt.load", element(e, 1, theirs), to=I32), step, to=I32)
    e.op("tt.store", element(e, 1, mine), total)
    e.op("tt.atomic_store", element(e, 0, mine), step, sem="release")
    return kernel


def test_program_that_polls_an_earlier_one_sees_its_stores() -> None:
    flags, sums = np.array([1, 0, 0, 0, 0], np.int32), np.zeros(5, np.int32)
    assert run(chained(later=False), 4, flags, sums).findings == ()
    assert (flags.tolist(), sums.tolist()) == ([1] * 5, [0, 1, 2, 3, 4])


def test_programs_that_poll_earlier_ones_keep_their_order() -> None:
    flags, sums = np.array([1, 0, 0, 0, 0], np.int32), np.zeros(5, np.int32)
    assert not run(chained(later=False), 4, flags, sums, seed=-1).is_reordered
    assert (flags.tolist(), sums.tolist()) == ([1] * 5, [0, 1, 2, 3, 4])


def test_program_that_polls_a_later_one_is_refused() -> None:
    flags = np.zeros(6, np.int32)
    with pytest.raises(UnsupportedError, match=r"^kernel.py:\d+: tt.atomic_poll: it waits for a program that runs lat"):
        run(chained(later=True), 4, flags, np.zeros(6, np.int32))
    assert not flags.any()


def test_poll_that_times_out_is_false() -> None:
    kernel, e = kernel_of(2)
    matches = e.op("tt.atomic_poll", block(e, 0), e.constant(BLOCK, 1), e.constant(I64, 9), to=tensor(I1, N))
    e.op("tt.store", block(e, 1), e.op("arith.extui", matches, to=BLOCK))
    seen = np.zeros(N, np.int32)
    run(kernel, 2, np.array([1, 0, 2, 1], np.int32), seen)
    assert seen.tolist() == [1, 0, 0, 1]


def looked_back(*, sem: str, sets: str = "", barrier: bool = False) -> tuple[MemoryFinding, ...]:
    """Findings of programs that each raise a flag after a store, and read what the one before has stored."""
    kernel, e = kernel_of(2)
    mine, one = program(e), e.constant(I32, 1)
    before = e.op("arith.maxsi", e.op("arith.subi", mine, one, to=I32), e.constant(I32, 0), to=I32)
    flag = element(e, 0, before)
    e.op("tt.atomic_rmw", flag, e.constant(I32, 0), to=I32, kind="add", sem=sem, scope="gpu")
    seen = e.op("tt.load", element(e, 1, before), to=I32)
    e.op("tt.store", element(e, 1, mine), e.op("arith.addi", seen, one, to=I32))
    if barrier:
        e.add("tt.debug_barrier", (), ())
    e.op("tt.atomic_rmw", element(e, 0, mine), one, to=I32, kind="exch", sem=sets or sem, scope="gpu")
    flags, carries = np.zeros(3, np.int32), np.zeros(3, np.int32)
    storages = [storage("xy"[at], array, I32, base=(at + 1) << 12) for at, array in enumerate((flags, carries))]
    memory = Memory(storages)
    limits = Limits(chunk_elements=1)
    done = execute(module(kernel.build()), (3, 1, 1), [Address(storage=0), Address(storage=1)], memory, limits=limits)
    assert carries.tolist() == [1, 2, 3]
    return done.findings


def test_relaxed_flag_orders_no_other_accesses() -> None:
    (finding,) = looked_back(sem="relaxed")
    assert (finding.kind, finding.storage) == (FindingKind.READ_CONFLICT, "y")
    assert (finding.element, finding.program, finding.other_program) == (0, 1, 0)
    assert finding.detail == 'atomic operations with sem="relaxed" order no other accesses'


def test_flag_with_an_order_or_a_barrier_orders_other_accesses() -> None:
    assert looked_back(sem="acq_rel") == ()
    assert looked_back(sem="acquire", sets="release") == ()
    assert looked_back(sem="relaxed", barrier=True) == ()
    assert looked_back(sem="release", sets="acquire", barrier=True) == ()


ONE_SIDED = 'an atomic operation with sem="acquire" orders no access before it, one with sem="release" none after it'


@pytest.mark.parametrize(
    ("sem", "sets", "detail"),
    [
        ("acquire", "acquire", ONE_SIDED),
        ("release", "release", ONE_SIDED),
        ("release", "acquire", ONE_SIDED),
        ("acquire", "relaxed", 'atomic operations with sem="relaxed" order no other accesses'),
    ],
)
def test_flag_orders_accesses_on_one_side_only(sem: str, sets: str, detail: str) -> None:
    (finding,) = looked_back(sem=sem, sets=sets)
    assert (finding.kind, finding.storage, finding.detail) == (FindingKind.READ_CONFLICT, "y", detail)


def test_programs_of_a_kernel_with_a_poll_may_wait() -> None:
    assert waits_for_programs(module(chained(later=False).build()))
