"""A TTIR module as frozen records: types, values, operations, regions, functions and source locations.

The reader parses text to these records, the executor runs them.  Both share the names and attributes of operations in
`engine/machine/operations/`; this module depends on neither numpy nor the text.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec


class Scalar(enum.Enum):
    """An element type, by its name in TTIR."""

    I1 = "i1"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    INDEX = "index"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"
    F8E4M3FN = "f8E4M3FN"
    F8E4M3FNUZ = "f8E4M3FNUZ"
    F8E4M3B11FNUZ = "f8E4M3B11FNUZ"
    F8E5M2 = "f8E5M2"
    F8E5M2FNUZ = "f8E5M2FNUZ"

    @property
    def bits(self) -> int:
        """The width in bits; an index has 64."""
        return _BITS_BY_SCALAR[self]

    @property
    def bytes(self) -> int:
        """The width in memory in bytes; an i1 takes one byte there."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.value.startswith(("f", "bf"))


_BITS_BY_SCALAR = {
    scalar: 64 if scalar is Scalar.INDEX else 8 if scalar.value.startswith("f8") else int(scalar.value.lstrip("bfi"))
    for scalar in Scalar
}


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """`!tt.ptr<f32>` or `!tt.ptr<tensor<16x16xf32>>`: an address of a scalar, or a block pointer."""

    pointee: Scalar | Tensor
    address_space: int = 1


class Tensor(msgspec.Struct, frozen=True, kw_only=True):
    """`tensor<16x16xf32>`: a block of scalars or pointers, in row-major order."""

    shape: tuple[int, ...]
    element: Scalar | Pointer


class Descriptor(msgspec.Struct, frozen=True, kw_only=True):
    """`!tt.tensordesc<16x16xf32>`: a tensor in memory, read and written by blocks of this type.

    `unsigned` is that of `<16x16xui32>`: its reductions compare unsigned integers.
    """

    block: Tensor
    unsigned: bool = False


Type: TypeAlias = Scalar | Pointer | Tensor | Descriptor


class SourceLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Source line of a value; lines and columns count from 1.

    `variable` is the name of the value in the source, "" if none.  `callers` are the call sites that lead to the line,
    innermost first: for `tl.sum(x)` the file is Triton's own, and the first caller is the line of the kernel.
    """

    file: str
    line: int
    column: int
    variable: str = ""
    callers: tuple[SourceLocation, ...] = ()


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """An SSA value; `index` is unique in its function and counts from 0, so that a list can hold all of them."""

    index: int
    name: str
    type: Type
    location: SourceLocation | None = None


class Constant(msgspec.Struct, frozen=True, kw_only=True):
    """The value of `arith.constant`: bit patterns, unsigned, one if all elements are alike, else one per element."""

    bits: tuple[int, ...]


Attribute: TypeAlias = "int | float | bool | str | Constant | Type | tuple[Attribute, ...]"


class Successor(msgspec.Struct, frozen=True, kw_only=True):
    """Target block of a branch of `cf` (its index in the region), with the operands of its arguments."""

    block: int
    operands: tuple[Value, ...] = ()


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One operation; the pretty and the generic form are parsed to the same record."""

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: Mapping[str, Attribute]
    regions: tuple[Region, ...] = ()
    successors: tuple[Successor, ...] = ()
    location: SourceLocation | None = None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that run in order; the last one is a terminator."""

    arguments: tuple[Value, ...]
    operations: tuple[Operation, ...]


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of one operation; the first is the entry."""

    blocks: tuple[Block, ...]

    def all_operations(self) -> Iterator[Operation]:
        """Every operation of its blocks and of the regions inside of it, in the order of the text."""
        for block in self.blocks:
            for operation in block.operations:
                yield operation
                for inner in operation.regions:
                    yield from inner.all_operations()


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """`tt.func`: arguments are those of the entry block; `divisibility` has `tt.divisibility` by argument index."""

    name: str
    body: Region
    results: tuple[Type, ...]
    values: int
    divisibility: Mapping[int, int]
    is_public: bool
    location: SourceLocation | None = None

    @property
    def arguments(self) -> tuple[Value, ...]:
        """The arguments in the order of a launch, without specialised ones."""
        return self.body.blocks[0].arguments


class Module(msgspec.Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """Result of one specialisation: a public function, the kernel, and private ones that it calls.

    Compared by identity, so that what is derived from a module can be kept for it.
    """

    functions: Mapping[str, Function]

    @property
    def kernel(self) -> Function:
        """The public function; ValueError unless there is exactly one."""
        (kernel,) = (function for function in self.functions.values() if function.is_public)
        return kernel
