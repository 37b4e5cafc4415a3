"""Context of operations while they run: the launch, a frame of active programs, and the plan of a block.

Programs of a chunk run in lockstep, operation by operation.  When they diverge, a child frame runs the programs of one
branch: it reads values of its parent for its programs alone, on first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec
import numpy as np

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError
from engine.machine.ir import Operation, Value
from engine.machine.numerics import Array
from engine.machine.results import FindingKind, Limits, kernel_line
from engine.machine.values import Val, select


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """An operation with its handler; `dead` are values that are not read afterwards."""

    operation: Operation
    handler: Handler
    elements: int
    regions: tuple[tuple[BlockPlan, ...], ...]
    dead: tuple[int, ...]


class BlockPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A block with resolved handlers; the terminator is kept separately."""

    arguments: tuple[Value, ...]
    steps: tuple[Step, ...]
    terminator: Operation


class FunctionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks of a function."""

    name: str
    blocks: tuple[BlockPlan, ...]


@dataclass(kw_only=True)
class Meter:
    """Counts of a launch against its limits."""

    limits: Limits
    counts_operations: bool = True
    steps: int = 0
    elements: int = 0
    elements_by_operation: dict[str, int] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)

    def count(self, step: Step, programs: int) -> None:
        """Count one more execution of `step` by this number of programs.

        Raises:
            LimitError: the launch exceeds its steps or elements.
        """
        self.steps += 1
        elements = step.elements * programs
        self.elements += elements
        if self.counts_operations:
            name, counted = step.operation.name, self.elements_by_operation
            counted[name] = counted.get(name, 0) + elements
        limits = self.limits
        if self.steps > limits.steps:
            raise LimitError(f"{where(step.operation)}more than {limits.steps} steps were executed")
        if self.elements > limits.elements:
            raise LimitError(f"{where(step.operation)}more than {self.limits.elements} elements were computed")

    def work(self, steps: int, operation: Operation) -> None:
        """Count the steps of an operation that takes many.

        Raises:
            LimitError: the launch exceeds its steps.
        """
        self.steps += steps
        if self.steps > self.limits.steps:
            raise LimitError(f"{where(operation)}more than {self.limits.steps} steps were executed")

    def print_line(self, text: str) -> None:
        """Add a line of a device print; lines beyond the limit are dropped."""
        if len(self.printed) < self.limits.printed_lines:
            self.printed.append(text)


class Frame:
    """Values of the active programs in one region.

    `chosen` are the positions of its programs among those of `parent`; None means all of them.
    """

    def __init__(self, *, meter: Meter, services: Services, programs: Array, depth: int = 0) -> None:
        self.meter = meter
        self.services = services
        self.programs = programs
        self.depth = depth
        self.values: dict[int, Val] = {}
        self.parent: Frame | None = None
        self.chosen: Array | None = None

    @property
    def count(self) -> int:
        """Number of active programs."""
        return len(self.programs)

    def child(self, chosen: Array | None = None) -> Frame:
        """A frame for a region: all programs, or those at positions `chosen`."""
        programs = self.programs if chosen is None else self.programs[chosen]
        inner = Frame(meter=self.meter, services=self.services, programs=programs, depth=self.depth)
        inner.parent, inner.chosen = self, chosen
        return inner

    def fresh(self) -> Frame:
        """A frame for a called function: the same programs, no values."""
        return Frame(meter=self.meter, services=self.services, programs=self.programs, depth=self.depth + 1)

    def read(self, value: Value) -> Val:
        """The value for the active programs."""
        return self._read(value.index)

    def read_all(self, values: Sequence[Value]) -> list[Val]:
        """The values of several SSA values."""
        return [self._read(value.index) for value in values]

    def _read(self, index: int) -> Val:
        found = self.values.get(index)
        if found is not None:
            return found
        if self.parent is None:
            raise KeyError(index)
        outer = self.parent._read(index)
        if self.chosen is None:
            return outer
        self.values[index] = inner = select(outer, self.chosen)
        return inner

    def set(self, values: Sequence[Value], results: Sequence[Val]) -> None:
        """Define values."""
        for value, result in zip(values, results, strict=True):
            self.values[value.index] = result

    def run(self, block: BlockPlan, arguments: Sequence[Val]) -> list[Val]:
        """Execute a block; returns the operands of its terminator."""
        self.set(block.arguments, arguments)
        values, meter, count, read = self.values, self.meter, self.count, self._read
        for step in block.steps:
            meter.count(step, count)
            operation = step.operation
            try:
                results = step.handler(self, step, [read(operand.index) for operand in operation.operands])
            except UnsupportedError as error:
                raise located(error, operation) from None
            if not isinstance(results, tuple):
                values[operation.results[0].index] = results
            else:
                self.set(operation.results, results)
            for index in step.dead:
                values.pop(index, None)
        return self.read_all(block.terminator.operands)


Handler: TypeAlias = Callable[[Frame, Step, list[Val]], "Val | tuple[Val, ...]"]


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Services of a launch for operations, other than values.

    A loop that repeats more often than `most_idle_turns` without a change of memory waits for another program.
    """

    memory: MemoryAccess
    grid: tuple[int, int, int]
    functions: Mapping[str, FunctionPlan]
    call: Callable[[Frame, FunctionPlan, list[Val]], list[Val]]
    most_idle_turns: float = math.inf


class MemoryAccess(Protocol):
    """Memory operations; `accesses.Accesses` implements them.  `changes` counts those that may have changed memory."""

    changes: int

    def load(self, frame: Frame, step: Step, pointers: Val, mask: Array | None, other: Array | None) -> Array:
        """The elements at `pointers`; `other`, or 0, where the mask is false."""
        ...

    def store(self, frame: Frame, step: Step, pointers: Val, values: Array, mask: Array | None) -> None:
        """Write elements."""
        ...

    def update(self, frame: Frame, step: Step, pointers: Val, update: Update, mask: Array | None) -> Array:
        """Read, change and write elements, one program after the other; returns the values before."""
        ...

    def locate(self, addresses: Array) -> int | Array:
        """The storages of absolute addresses."""
        ...

    def bases(self, origin: int | Array) -> int | Array:
        """The addresses at which storages begin."""
        ...

    def fail(self, frame: Frame, step: Step, failing: Array, message: str) -> None:
        """Stop the launch because of a device assertion of the programs at places `failing`."""
        ...

    def find_claim(self, kind: FindingKind, frame: Frame, step: Step, failing: Array, detail: str = "") -> None:
        """Record a claim that is false in the programs at places `failing`."""
        ...

    def synchronize(self, frame: Frame) -> None:
        """Order the accesses of each program of the frame before and after this point."""
        ...

    def needs_check(self, frame: Frame, step: Step) -> bool:
        """Whether to check the hints of an operation now; true once for each chunk until one is found to be false."""
        ...


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """An atomic: `apply(old, *operands)` is the new value; `shortcut(view, index, operands)` needs no old values.

    The first operand has the shape and dtype of the elements, also where it is not used.  An atomic load changes
    nothing, an atomic store reads nothing.
    """

    operands: tuple[Array, ...]
    apply: Callable[..., Array]  # one parameter for the old values, and one per operand
    shortcut: Callable[[Array, Array, tuple[Array, ...]], None] | None
    needs_old: bool
    reads: bool = True
    writes: bool = True


def where(operation: Operation) -> str:
    """Prefix of a message, `softmax.py:12: ` or nothing."""
    line = kernel_line(operation.location)
    return f"{line.file.rpartition('/')[2]}:{line.line}: " if line is not None else ""


def located(error: UnsupportedError, operation: Operation) -> UnsupportedError:
    """The error with the name of the operation and its line, once."""
    text = str(error)
    return error if operation.name in text else type(error)(f"{where(operation)}{operation.name}: {text}")


def as_array(value: Val) -> Array:
    """A value that is an array by its type.

    Raises:
        UnsupportedError: it is a pointer or a descriptor.
    """
    if not isinstance(value, np.ndarray):
        raise UnsupportedError("a pointer where a number is expected")
    return value
