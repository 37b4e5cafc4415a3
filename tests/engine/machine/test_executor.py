"""Whole kernels, built by hand."""

from __future__ import annotations

import numpy as np

from engine.machine.executor import execute
from engine.machine.memory import Address, Memory
from engine.machine.results import AccessKind
from tests.engine.machine.building import F32, I1, I32, FunctionBuilder, module, pointer, storage, tensor


def add_kernel(block: int):
    kernel = FunctionBuilder(pointer(F32), pointer(F32), pointer(F32), I32)
    e = kernel.entry
    x, y, out, n = e.arguments
    pid = e.op("tt.get_program_id", to=I32, axis=0)
    start = e.op("arith.muli", pid, e.constant(I32, block), to=I32)
    lanes = e.op("tt.make_range", to=tensor(I32, block), start=0, end=block)
    offsets = e.op("arith.addi", e.op("tt.splat", start, to=tensor(I32, block)), lanes, to=tensor(I32, block))
    limit = e.op("tt.splat", n, to=tensor(I32, block))
    mask = e.op("arith.cmpi", offsets, limit, to=tensor(I1, block), predicate="slt")
    kind = tensor(pointer(F32), block)
    at = [e.op("tt.addptr", e.op("tt.splat", base, to=kind), offsets, to=kind) for base in (x, y, out)]
    values = [e.op("tt.load", address, mask, to=tensor(F32, block), segments=(1, 1, 0)) for address in at[:2]]
    total = e.op("arith.addf", *values, to=tensor(F32, block))
    e.op("tt.store", at[2], total, mask)
    return module(kernel.build())


def test_add_with_a_ragged_end_is_exact():
    x, y = np.random.default_rng(0).random((2, 1000), np.float32)
    out = np.zeros(1000, np.float32)
    memory = Memory(
        [storage(name, a, F32, base=b << 20) for b, (name, a) in enumerate(zip("xyo", (x, y, out), strict=True), 1)]
    )
    execution = execute(
        add_kernel(64), (16, 1, 1), [Address(storage=0), Address(storage=1), Address(storage=2), 1000], memory
    )
    assert execution.is_complete
    assert execution.findings == ()
    np.testing.assert_array_equal(out, x + y)
    load = execution.accesses[0]
    assert (load.executions, load.requested_bytes, load.distinct_bytes, load.sectors) == (16, 4000, 4000, 125)


def test_execution_without_measuring_has_storages_and_no_numbers():
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    memory = Memory([storage(name, a, F32, base=b << 20) for b, (name, a) in enumerate((("x", x), ("o", out)), 1)])
    arguments = [Address(storage=0), Address(storage=0), Address(storage=1), 64]
    execution = execute(add_kernel(64), (1, 1, 1), arguments, memory, measures=False)
    np.testing.assert_array_equal(out, x + x)
    assert [(facts.kind, facts.storages) for facts in execution.accesses] == [
        (AccessKind.LOAD, ("x",)),
        (AccessKind.LOAD, ("x",)),
        (AccessKind.STORE, ("o",)),
    ]
    assert {facts.sectors for facts in execution.accesses} == {0}
    assert execution.elements_by_operation == {}
