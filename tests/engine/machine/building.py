"""Builds modules of the machine's records by hand, one operation after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.machine.executor import execute
from engine.machine.ir import (
    Attribute,
    Block,
    Constant,
    Function,
    Module,
    Operation,
    Pointer,
    Region,
    Scalar,
    SourceLocation,
    Successor,
    Tensor,
    Type,
    Value,
)
from engine.machine.memory import Address, Memory, Storage
from engine.machine.numerics import dtype_of, encode

I1, I8, I32, I64, F16, BF16, F32, F64 = (
    Scalar.I1,
    Scalar.I8,
    Scalar.I32,
    Scalar.I64,
    Scalar.F16,
    Scalar.BF16,
    Scalar.F32,
    Scalar.F64,
)
FILE = "kernel.py"


def tensor(element: Scalar | Pointer, *shape: int) -> Tensor:
    """A block type."""
    return Tensor(shape=shape, element=element)


def pointer(scalar: Scalar) -> Pointer:
    """A pointer type."""
    return Pointer(pointee=scalar)


@dataclass
class Builder:
    """Operations of one block; the line of an operation is its place in the function, from 1."""

    function: FunctionBuilder
    operations: list[Operation] = field(default_factory=list)
    arguments: tuple[Value, ...] = ()

    def op(self, name: str, *operands: Value, to: Type | None = None, **attributes: Attribute) -> Value:
        """Add an operation with at most one result; the result, or the last operand if it has none."""
        results = () if to is None else (self.function.value(to),)
        self.add(name, operands, results, attributes)
        return results[0] if results else operands[-1]

    def add(
        self,
        name: str,
        operands: tuple[Value, ...],
        results: tuple[Value, ...],
        attributes: dict[str, Attribute] | None = None,
        regions: tuple[Region, ...] = (),
        successors: tuple[Successor, ...] = (),
    ) -> None:
        """Add any operation."""
        self.function.line += 1
        self.operations.append(
            Operation(
                name=name,
                operands=operands,
                results=results,
                attributes=attributes or {},
                regions=regions,
                successors=successors,
                location=SourceLocation(file=FILE, line=self.function.line, column=1),
            )
        )

    def many(
        self,
        name: str,
        *operands: Value,
        to: tuple[Type, ...],
        regions: tuple[Region, ...] = (),
        **attributes: Attribute,
    ) -> tuple[Value, ...]:
        """Add an operation with several results or with regions."""
        results = tuple(self.function.value(kind) for kind in to)
        self.add(name, operands, results, attributes, regions)
        return results

    def constant(self, kind: Type, number: float) -> Value:
        """A constant, the same for all elements."""
        scalar = kind.element if isinstance(kind, Tensor) else kind
        assert isinstance(scalar, Scalar)
        return self.op("arith.constant", to=kind, value=Constant(bits=(bits_of(scalar, number),)))

    def block(self, *kinds: Type) -> Builder:
        """A block for a region, with arguments."""
        return Builder(function=self.function, arguments=tuple(self.function.value(kind) for kind in kinds))

    def region(self) -> Region:
        """A region of this block alone."""
        return Region(blocks=(self.done(),))

    def done(self) -> Block:
        """The block."""
        return Block(arguments=self.arguments, operations=tuple(self.operations))


class FunctionBuilder:
    """A kernel whose entry block is `entry`."""

    def __init__(self, *kinds: Type, name: str = "kernel") -> None:
        self.name = name
        self.count = 0
        self.line = 0
        self.entry = Builder(function=self)
        self.entry.arguments = tuple(self.value(kind) for kind in kinds)
        self.blocks = [self.entry]
        self.divisibility: dict[int, int] = {}

    def value(self, kind: Type) -> Value:
        """A new value."""
        self.count += 1
        return Value(index=self.count - 1, name=f"%{self.count - 1}", type=kind)

    def build(self, *, is_public: bool = True, results: tuple[Type, ...] = ()) -> Function:
        """The function; a missing return is added to its last block."""
        last = self.blocks[-1]
        if not last.operations or last.operations[-1].name != "tt.return":
            last.add("tt.return", (), ())
        return Function(
            name=self.name,
            body=Region(blocks=tuple(block.done() for block in self.blocks)),
            results=results,
            values=self.count,
            divisibility=self.divisibility,
            is_public=is_public,
        )


def bits_of(scalar: Scalar, number: float) -> int:
    """The pattern of a number."""
    if scalar.is_float:
        array = encode(scalar, np.array([number], np.float64)).astype(dtype_of(scalar))
        return int.from_bytes(array.tobytes(), "little")
    return int(number) & ((1 << scalar.bits) - 1)


def module(*functions: Function) -> Module:
    """A module of these functions."""
    return Module(functions={function.name: function for function in functions})


def storage(name: str, array: np.ndarray, scalar: Scalar, *, base: int, written: bool = True) -> Storage:
    """A storage with the bytes of an array, without a copy."""
    data = array.reshape(-1).view(np.uint8)
    return Storage(
        name=name, data=data, base=base, element=scalar, written=None if written else np.zeros(len(data), np.bool_)
    )


def scalar_for(array: np.ndarray) -> Scalar:
    """The element type of a numpy array."""
    names = {"bool": I1, "int8": I8, "int16": Scalar.I16, "int32": I32, "int64": I64}
    return (names | {"float16": F16, "uint16": BF16, "float32": F32, "float64": F64})[array.dtype.name]


def compute(name: str, inputs: list[tuple[Scalar, np.ndarray]], result: Scalar, **attributes: Attribute) -> np.ndarray:
    """The result of one elementwise operation on vectors, loaded and stored by a kernel of one program."""
    length = len(inputs[0][1])
    kernel = FunctionBuilder(*(pointer(scalar) for scalar, _ in inputs), pointer(result))
    entry = kernel.entry
    offsets = entry.op("tt.make_range", to=tensor(I32, length), start=0, end=length)
    values = []
    for argument, (scalar, _) in zip(entry.arguments, inputs, strict=False):
        values.append(entry.op("tt.load", _at(entry, argument, offsets, scalar, length), to=tensor(scalar, length)))
    value = entry.op(name, *values, to=tensor(result, length), **attributes)
    entry.op("tt.store", _at(entry, entry.arguments[-1], offsets, result, length), value)
    output = np.zeros(length, np.uint8 if result is I1 else dtype_of(result))
    arrays = [array.copy() for _, array in inputs]
    scalars = [scalar for scalar, _ in inputs]
    storages = [
        storage(f"s{place}", array, scalar, base=(place + 1) << 20)
        for place, (array, scalar) in enumerate(zip([*arrays, output], [*scalars, result], strict=True))
    ]
    arguments = [Address(storage=place) for place in range(len(storages))]
    assert execute(module(kernel.build()), (1, 1, 1), arguments, Memory(storages)).findings == ()
    return output


def _at(entry: Builder, base: Value, offsets: Value, scalar: Scalar, length: int) -> Value:
    spread = entry.op("tt.splat", base, to=tensor(pointer(scalar), length))
    return entry.op("tt.addptr", spread, offsets, to=tensor(pointer(scalar), length))
