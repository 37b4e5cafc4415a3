"""Functions prepared for execution: resolved handlers, dead values, possible writes and waits of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import msgspec

from engine.errors import UnsupportedError
from engine.machine.conflicts.accessed_arguments import AccessedArguments
from engine.machine.errors import LimitError
from engine.machine.frame import BlockPlan, FunctionPlan, Step, where
from engine.machine.ir import Block, Function, Module, Operation, Region
from engine.machine.operations import TERMINATORS, handler_of
from engine.machine.operations.claims import with_hints
from engine.machine.operations.effects import BARRIERS, with_barrier
from engine.machine.results import Limits
from engine.machine.values import elements_of


class ModulePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What every launch of a module needs.

    `largest_elements` is the size of the largest value, `waits` the result of `waits_for_programs`, `accessed` are the
    pointers of the kernel, and `has_barrier` is whether there is a barrier of the threads of a program.
    """

    functions: Mapping[str, FunctionPlan]
    largest_elements: int
    waits: bool
    accessed: AccessedArguments
    has_barrier: bool


_plans: WeakKeyDictionary[Module, dict[Limits, ModulePlan]] = WeakKeyDictionary()


def plan_module(module: Module, limits: Limits) -> ModulePlan:
    """The plan of a module, made at its first launch; a launch of a small kernel takes less time than its plan.

    Raises:
        UnsupportedError: an operation that cannot be executed, the first of all functions.
        LimitError: an operation with a tensor that is too large.
    """
    plans = _plans.setdefault(module, {})
    if limits not in plans:
        functions = {
            name: FunctionPlan(name=name, blocks=_blocks(function.body, limits))
            for name, function in module.functions.items()
        }
        plans[limits] = ModulePlan(
            functions=functions,
            largest_elements=_largest_tensor(module),
            waits=waits_for_programs(module),
            accessed=AccessedArguments.of(module.kernel),
            has_barrier=_has_barrier(module),
        )
    return plans[limits]


def _largest_tensor(module: Module) -> int:
    """Elements of the largest value."""
    return max(
        (
            elements_of(result.type)
            for function in module.functions.values()
            for operation in function.body.all_operations()
            for result in operation.results
        ),
        default=1,
    )


def _has_barrier(module: Module) -> bool:
    return any(
        operation.name in BARRIERS
        for function in module.functions.values()
        for operation in function.body.all_operations()
    )


def waits_for_programs(module: Module) -> bool:
    """Whether a program may wait for a write of another one: in a poll, or a loop with an atomic or a volatile load."""
    for function in module.functions.values():
        if _may_repeat(function) and _has_atomics(function.body):
            return True
        for operation in function.body.all_operations():
            if operation.name == "tt.atomic_poll":
                return True
            if operation.name == "scf.while" and any(_has_atomics(region) for region in operation.regions):
                return True
    return False


def _has_atomics(region: Region) -> bool:
    """Whether a region has an atomic; a call counts, since the called function may have one."""
    return any(
        inner.name.startswith("tt.atomic") or inner.name == "tt.call" or bool(inner.attributes.get("isVolatile"))
        for inner in region.all_operations()
    )


def _may_repeat(function: Function) -> bool:
    """Whether a branch returns to an earlier block."""
    return any(
        successor.block <= place
        for place, block in enumerate(function.body.blocks)
        for successor in block.operations[-1].successors
    )


def _blocks(region: Region, limits: Limits) -> tuple[BlockPlan, ...]:
    shared = frozenset(_free_values(region)) if len(region.blocks) > 1 else frozenset()
    return tuple(_block(block, limits, shared) for block in region.blocks)


def _block(block: Block, limits: Limits, shared: frozenset[int]) -> BlockPlan:
    """A block; `shared` are values that other blocks may read."""
    if not block.operations or block.operations[-1].name not in TERMINATORS:
        last = block.operations[-1] if block.operations else None
        raise UnsupportedError(f"{where(last) if last else ''}a block ends with {last.name if last else 'nothing'}")
    *body, terminator = block.operations
    dead = [tuple(sorted({*values} - shared)) for values in _dead_after(block)]
    steps = tuple(_step(operation, dead[place], limits) for place, operation in enumerate(body))
    return BlockPlan(arguments=block.arguments, steps=steps, terminator=terminator)


def _step(operation: Operation, dead: tuple[int, ...], limits: Limits) -> Step:
    elements = max((elements_of(value.type) for value in (*operation.results, *operation.operands)), default=1)
    if elements > limits.tensor_elements:
        raise LimitError(
            f"{where(operation)}{operation.name} has a tensor of {elements} elements; "
            f"the limit is {limits.tensor_elements}"
        )
    return Step(
        operation=operation,
        handler=with_barrier(operation, with_hints(operation, handler_of(operation))),
        elements=elements,
        regions=tuple(_blocks(region, limits) for region in operation.regions),
        dead=dead,
    )


def _dead_after(block: Block) -> list[tuple[int, ...]]:
    """For each operation the values of this block that are not read afterwards."""
    last: dict[int, int] = {}
    kept: set[int] = set()
    for place, operation in enumerate(block.operations):
        for result in operation.results:
            last[result.index] = place
        used = [operand.index for operand in operation.operands]
        for region in operation.regions:
            used += _free_values(region)
        for index in used:
            if index in last:
                last[index] = place
        kept.update(operand.index for successor in operation.successors for operand in successor.operands)
    end = len(block.operations) - 1
    dead: list[list[int]] = [[] for _ in block.operations]
    for index, place in last.items():
        if place != end and index not in kept:
            dead[place].append(index)
    return [tuple(values) for values in dead]


def _free_values(region: Region) -> list[int]:
    """Every value that a region reads."""
    return [operand.index for operation in region.all_operations() for operand in operation.operands]
