"""Executes a module for a grid: chunks of programs, one after the other, in the order that a seed chooses.

The programs of a chunk run in lockstep.  The interleaving of their memory accesses is therefore one of the possible
orders; a kernel whose result depends on it has a finding.  A kernel that may wait for another program, in a loop or a
poll, runs its programs one at a time, so that locks and flags of earlier programs are released; if one of them does
wait in another order, all run in ascending order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from engine.errors import UnsupportedError, UsageError
from engine.machine.accesses import Accesses, StopLaunchError
from engine.machine.conflicts.checks import ConflictChecks
from engine.machine.conflicts.warps import ONE_WARP, Warps
from engine.machine.descriptor_fields import fields_of
from engine.machine.errors import LimitError, WaitError
from engine.machine.frame import Frame, FunctionPlan, Meter, Services, as_array
from engine.machine.ir import Descriptor, Function, Module, Pointer, Scalar, Tensor, Type, Value
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory
from engine.machine.numerics import Array, constant, dtype_of, encode
from engine.machine.operations.control import Departures, decided
from engine.machine.plan import ModulePlan, plan_module
from engine.machine.results import AccessKind, Execution, FindingKind, Limits, MemoryFinding
from engine.machine.values import Pointers, TensorDescriptor, Val

DEFAULT_LIMITS = Limits()
_MOST_IDLE_TURNS = 1000  # of a loop in another order, after which all programs run in ascending order
_REORDERED_CHUNKS = 16  # fewest chunks of a launch whose programs are reordered


def execute(
    module: Module,
    grid: tuple[int, int, int],
    arguments: Sequence[Argument],
    memory: Memory,
    *,
    limits: Limits = DEFAULT_LIMITS,
    seed: int = 0,
    measures: bool = True,
    warps: Warps = ONE_WARP,
) -> Execution:
    """Run the kernel for every program of `grid`; storages of `memory` change in place.

    `arguments` are those of the kernel's function, in order.  With seed 0 programs run in ascending order, with a
    negative one in descending order, with any other in a permutation determined by the seed; in ascending order, too,
    if one of them waits for another that has not run.  Unless it `measures`, the numbers of accesses are 0, and
    operations are not counted.  Programs with several `warps` are checked for data that these exchange.

    Raises:
        UnsupportedError: an operation, type or form that the machine does not execute; memory is unchanged.
        LimitError: executing would take more than `limits` allows; memory is unchanged.
        UsageError: the arguments are not those of the kernel.
    """
    try:
        return _executed(module, grid, arguments, memory, limits, seed, measures=measures, warps=warps)
    except WaitError:
        if not seed:
            raise
        return _executed(module, grid, arguments, memory, limits, 0, measures=measures, warps=warps)


def _executed(
    module: Module, grid: tuple[int, int, int], arguments: Sequence[Argument], memory: Memory, limits: Limits,
    seed: int, *, measures: bool, warps: Warps,
) -> Execution:  # fmt: skip
    """The result in the order that the seed chooses."""
    kernel = module.kernel
    programs = grid[0] * grid[1] * grid[2]
    if min(grid) < 0 or programs > limits.programs:
        raise LimitError(f"a grid of {grid[0]} x {grid[1]} x {grid[2]} programs; the limit is {limits.programs}")
    plan = plan_module(module, limits)
    arguments = _with_descriptor_fields(kernel, arguments)
    values = _argument_values(kernel, arguments, memory)
    checks = _conflict_checks(plan, arguments, memory, warps)
    accesses = Accesses(memory, limits, programs=programs, checks=checks, measures=measures)
    meter = Meter(limits=limits, counts_operations=measures)
    for finding in _false_claims(kernel, arguments, memory):
        accesses.journal.note(finding)
    most_idle_turns = _MOST_IDLE_TURNS if seed and plan.waits else math.inf
    services = Services(
        memory=accesses, grid=grid, functions=plan.functions, call=_call, most_idle_turns=most_idle_turns
    )
    is_complete = False
    try:
        with np.errstate(all="ignore"):
            for chunk in _chunks(plan, programs, limits, seed):
                frame = Frame(meter=meter, services=services, programs=chunk)
                _call(frame, plan.functions[kernel.name], values)
        is_complete = True
    except StopLaunchError:
        pass
    finally:
        if is_complete:
            accesses.commit()
        else:
            accesses.restore()
    return Execution(
        is_complete=is_complete,
        programs=programs,
        findings=accesses.journal.findings,
        accesses=accesses.journal.facts,
        elements_by_operation=dict(meter.elements_by_operation),
        printed=tuple(meter.printed),
        is_reordered=bool(seed) and programs > 1,
    )


def _chunks(plan: ModulePlan, programs: int, limits: Limits, seed: int) -> Iterator[Array]:
    """Programs that run together; small enough that a block of each of them stays in a cache."""
    order = np.arange(programs)
    if seed:
        order = order[::-1] if seed < 0 else np.random.default_rng(seed).permutation(programs)
    if plan.waits:
        yield from order[:, None]
        return
    together = max(1, limits.chunk_elements // plan.largest_elements)
    if seed:  # small chunks, so that the order has an effect
        together = min(together, max(1, programs // _REORDERED_CHUNKS))
    for first in range(0, programs, together):
        yield order[first : first + together]


def _call(frame: Frame, plan: FunctionPlan, arguments: list[Val]) -> list[Val]:
    """Results of a function, or of the region of scalars of `tt.map_elementwise`, run in a new frame."""
    return _from_block(frame, plan, 0, arguments)


def _from_block(frame: Frame, plan: FunctionPlan, place: int, arguments: list[Val]) -> list[Val]:
    """Follow branches to the return; programs that diverge run to the end separately for each side."""
    while True:
        block = plan.blocks[place]
        operands = frame.run(block, arguments)
        terminator = block.terminator
        if terminator.name in ("tt.return", "tt.map_elementwise.return"):
            return operands
        if terminator.name not in ("cf.br", "cf.cond_br"):
            raise UnsupportedError(f"{terminator.name} at the end of a block of a function")
        frame.meter.work(1, terminator)
        condition = as_array(operands[0]) if terminator.name == "cf.cond_br" else None
        choice = True if condition is None else decided(condition)
        if choice is not None:
            successor = terminator.successors[0 if choice else 1]
            place, arguments = successor.block, frame.read_all(successor.operands)
            continue
        left = Departures()
        for side, successor in zip((True, False), terminator.successors, strict=True):
            places = np.flatnonzero(condition == side)
            inner = frame.child(places)
            left.add(places, _from_block(inner, plan, successor.block, inner.read_all(successor.operands)))
        return list(left.merged(frame.count))


def _conflict_checks(plan: ModulePlan, arguments: Sequence[Argument], memory: Memory, warps: Warps) -> ConflictChecks:
    """The conflicts to look for in a launch with these arguments."""
    written, read = (_storages(places, arguments, memory) for places in (plan.accessed.written, plan.accessed.read))
    return ConflictChecks(written=written, read=read, has_barrier=plan.has_barrier, warps=warps)


def _storages(places: frozenset[int] | None, arguments: Sequence[Argument], memory: Memory) -> frozenset[int]:
    """The storages that arguments at these places point to; all of them for None."""
    if places is None:
        return frozenset(range(len(memory.storages)))
    targets = (_address_of(arguments[place]) for place in places)
    return frozenset(address.storage for address in targets if address is not None)


def _address_of(argument: Argument) -> Address | None:
    """Address that an argument points to."""
    if isinstance(argument, DescriptorArgument):
        return argument.base
    return argument if isinstance(argument, Address) else None


def _with_descriptor_fields(kernel: Function, arguments: Sequence[Argument]) -> Sequence[Argument]:
    """Arguments with the fields of descriptors, which a kernel may take after a descriptor or in its place."""
    if len(arguments) == len(kernel.arguments):
        return arguments
    spread: list[Argument] = []
    for argument in arguments:
        if isinstance(argument, DescriptorArgument):
            sizes: tuple[Argument, ...] = (*argument.shape, *argument.strides)
            flags: tuple[Argument, Argument] = (argument.padding_is_nan, argument.rounds_to_tf32)
            place = len(spread)
            spread += fields_of(kernel, place, descriptor=argument, base=argument.base, sizes=sizes, flags=flags)
        else:
            spread.append(argument)
    return spread


def _argument_values(kernel: Function, arguments: Sequence[Argument], memory: Memory) -> list[Val]:
    if len(arguments) != len(kernel.arguments):
        raise UsageError(f"{kernel.name} takes {len(kernel.arguments)} arguments, {len(arguments)} were given")
    return [
        _argument_value(value, argument, memory) for value, argument in zip(kernel.arguments, arguments, strict=True)
    ]


def _argument_value(declared: Value, argument: Argument, memory: Memory) -> Val:
    kind = declared.type
    if isinstance(argument, DescriptorArgument) and isinstance(kind, Descriptor):
        return TensorDescriptor(
            base=_pointer(kind.block, argument.base, memory),
            shape=tuple(np.array([length], np.int64) for length in argument.shape),
            strides=tuple(np.array([stride], np.int64) for stride in argument.strides),
            padding_is_nan=argument.padding_is_nan,
            rounds_to_tf32=argument.rounds_to_tf32,
        )
    if isinstance(argument, Address) and isinstance(kind, Pointer):
        return _pointer(kind.pointee, argument, memory)
    if isinstance(argument, int | float) and isinstance(kind, Scalar):
        return _scalar(kind, argument)
    raise UsageError(f"argument {declared.name} of type {kind} cannot be {type(argument).__name__}")


def _pointer(pointee: Type, address: Address, memory: Memory) -> Pointers:
    element = pointee.element if isinstance(pointee, Tensor) else pointee
    if not isinstance(element, Scalar):
        raise UnsupportedError("an argument that points to pointers is not executed")
    if not 0 <= address.storage < len(memory.storages):
        raise UsageError(f"an argument points to storage {address.storage} of {len(memory.storages)}")
    index, start = divmod(address.offset, element.bytes)
    return Pointers(index=np.array([index], np.int64), origin=address.storage, unit=element.bytes, start=start)


def _scalar(scalar: Scalar, number: float) -> Array:
    """A number as an element: integers by their low bits, floats rounded."""
    if scalar.is_float:
        return encode(scalar, np.array([number], np.float64)).astype(dtype_of(scalar), copy=False)
    return constant(scalar, (int(number) & ((1 << scalar.bits) - 1),))


def _false_claims(kernel: Function, arguments: Sequence[Argument], memory: Memory) -> list[MemoryFinding]:
    """Arguments that are not multiples of the divisibility that the specialisation claims."""
    findings = []
    for place, divisor in kernel.divisibility.items():
        argument = arguments[place]
        address = _address_of(argument)
        number = argument if isinstance(argument, int) else None
        if address is not None:
            number = memory.storages[address.storage].base + address.offset
        if number is None or divisor <= 0 or number % divisor == 0:
            continue
        storage = memory.storages[address.storage] if address is not None else None
        name = kernel.arguments[place].name
        findings.append(
            MemoryFinding(
                kind=FindingKind.MISALIGNED,
                access=AccessKind.LOAD,
                storage="" if storage is None else storage.name,
                element=0 if storage is None or address is None else address.offset // storage.element.bytes,
                elements=0 if storage is None else storage.bytes // storage.element.bytes,
                program=0,
                location=kernel.location,
                detail=f"argument {name} is {number:#x}, compiled as a multiple of {divisor}",
            )
        )
    return findings
