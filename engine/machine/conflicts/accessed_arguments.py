"""Which pointers of a kernel its loads and stores may go through."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.machine.ir import Descriptor, Function, Operation, Pointer, Tensor, Type

_ATOMICS = frozenset({"tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_store"})
_WRITES = _ATOMICS | {"tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce"}
_READS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})


class AccessedArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of the arguments that stores may go through, and of those that loads may; None for anywhere."""

    written: frozenset[int] | None
    read: frozenset[int] | None

    @classmethod
    def of(cls, function: Function) -> AccessedArguments:
        """Those of a kernel.

        Pointer values that occur together in an operation, a loop or a branch are one class; a class with an integer
        converted to a pointer may be anywhere.
        """
        classes = _PointerClasses()
        for operation in function.body.all_operations():
            classes.visit(operation)
        for block in function.body.blocks:
            for successor in block.operations[-1].successors:
                arguments = function.body.blocks[successor.block].arguments
                for operand, argument in zip(successor.operands, arguments, strict=True):
                    classes.join(operand.index, argument.index)
        unknown = classes.found(classes.unknown)
        written, read = classes.found(classes.written), classes.found(classes.read)
        class_by_argument = {place: classes.find(one.index) for place, one in enumerate(function.arguments)}
        return cls(
            written=None if unknown & written else _arguments_in(written, class_by_argument),
            read=None if unknown & read else _arguments_in(read, class_by_argument),
        )


def _arguments_in(classes: set[int], class_by_argument: Mapping[int, int]) -> frozenset[int]:
    return frozenset(place for place, one in class_by_argument.items() if one in classes)


class _PointerClasses:
    """Sets of pointer values of one function that may point to the same storages; values that are accessed."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self.written: set[int] = set()
        self.read: set[int] = set()
        self.unknown: set[int] = set()

    def found(self, values: set[int]) -> set[int]:
        """The classes of these values."""
        return {self.find(value) for value in values}

    def find(self, value: int) -> int:
        """The representative of a value's class."""
        while self._parents.setdefault(value, value) != value:
            self._parents[value] = value = self._parents[self._parents[value]]
        return value

    def join(self, one: int, other: int) -> None:
        """Merge the classes of two values."""
        self._parents[self.find(one)] = self.find(other)

    def visit(self, operation: Operation) -> None:
        """Join the operands of an operation, and record the values that it writes or reads through."""
        values = [*operation.operands, *operation.results]
        for region in operation.regions:
            for block in region.blocks:
                values += [*block.arguments, *block.operations[-1].operands]
        met = [value.index for value in values if _is_address(value.type)]
        for value in met[1:]:
            self.join(value, met[0])
        if operation.name in _WRITES and operation.operands:
            self.written.add(operation.operands[0].index)
        if operation.name in _READS and operation.operands:
            self.read.add(operation.operands[0].index)
        if operation.name == "tt.call":
            self.written.update(met)
            self.read.update(met)
        if operation.name == "tt.int_to_ptr":
            self.unknown.update(value.index for value in operation.results)


def _is_address(kind: Type) -> bool:
    return isinstance(kind, Pointer | Descriptor) or (isinstance(kind, Tensor) and isinstance(kind.element, Pointer))
