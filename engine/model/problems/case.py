"""One case of a problem: its dtype, sizes, layout and tier.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Parameter: TypeAlias = bool | int | float | str | tuple[int, ...]


class DType(enum.StrEnum):
    """Element types by their torch names."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    FLOAT8_E4M3FNUZ = "float8_e4m3fnuz"
    FLOAT8_E5M2FNUZ = "float8_e5m2fnuz"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT64 = "uint64"
    UINT32 = "uint32"
    UINT16 = "uint16"
    UINT8 = "uint8"
    BOOL = "bool"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return _ELEMENT_BYTES[self]

    @property
    def short(self) -> str:
        """The short form that tables use: f32, bf16, i64, e4m3."""
        return _SHORT_NAMES[self]

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point type: neither integer, boolean nor complex."""
        return self in _EPSILONS and not self.is_complex

    @property
    def is_complex(self) -> bool:
        """Whether it has a real and an imaginary part."""
        return self in (DType.COMPLEX64, DType.COMPLEX128)

    @property
    def epsilon(self) -> float:
        """Distance from 1.0 to the next number of this type; 0.0 for integers and booleans."""
        return _EPSILONS.get(self, 0.0)


_ELEMENT_BYTES = {
    DType.FLOAT64: 8, DType.FLOAT32: 4, DType.FLOAT16: 2, DType.BFLOAT16: 2,
    DType.FLOAT8_E4M3FN: 1, DType.FLOAT8_E5M2: 1, DType.FLOAT8_E4M3FNUZ: 1, DType.FLOAT8_E5M2FNUZ: 1,
    DType.INT64: 8, DType.INT32: 4, DType.INT16: 2, DType.INT8: 1,
    DType.UINT64: 8, DType.UINT32: 4, DType.UINT16: 2, DType.UINT8: 1, DType.BOOL: 1,
    DType.COMPLEX64: 8, DType.COMPLEX128: 16,
}  # fmt: skip


_SHORT_NAMES = {
    DType.FLOAT64: "f64", DType.FLOAT32: "f32", DType.FLOAT16: "f16", DType.BFLOAT16: "bf16",
    DType.FLOAT8_E4M3FN: "e4m3", DType.FLOAT8_E5M2: "e5m2",
    DType.FLOAT8_E4M3FNUZ: "e4z", DType.FLOAT8_E5M2FNUZ: "e5z",
    DType.INT64: "i64", DType.INT32: "i32", DType.INT16: "i16", DType.INT8: "i8",
    DType.UINT64: "u64", DType.UINT32: "u32", DType.UINT16: "u16", DType.UINT8: "u8",
    DType.BOOL: "bool", DType.COMPLEX64: "c64", DType.COMPLEX128: "c128",
}  # fmt: skip


_EPSILONS = {
    DType.FLOAT64: 2.0**-52,
    DType.FLOAT32: 2.0**-23,
    DType.FLOAT16: 2.0**-10,
    DType.BFLOAT16: 2.0**-7,
    DType.FLOAT8_E4M3FN: 2.0**-3,
    DType.FLOAT8_E5M2: 2.0**-2,
    DType.FLOAT8_E4M3FNUZ: 2.0**-3,
    DType.FLOAT8_E5M2FNUZ: 2.0**-2,
    DType.COMPLEX64: 2.0**-23,
    DType.COMPLEX128: 2.0**-52,
}


class Tier(enum.StrEnum):
    """Size class of a case: SMOKE takes milliseconds in the interpreter, BENCH has realistic shapes."""

    SMOKE = "smoke"
    FULL = "full"
    BENCH = "bench"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One shape, dtype and layout of a problem.

    `params` maps the problem's own size and option names to plain values; `name` is unique within the problem and
    short; tables and the command line show it.
    """

    name: str
    dtype: DType
    tier: Tier
    params: Mapping[str, Parameter]

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def size(self, key: str) -> int:
        """The integer parameter `key`.

        Raises:
            KeyError: there is none.
            TypeError: it is not an integer.
        """
        value = self.params[key]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"case {self.name}: parameter {key} should be an integer, is {value!r}")
        return value

    def number(self, key: str) -> float:
        """The numeric parameter `key`.

        Raises:
            KeyError: there is none.
            TypeError: it is not a number.
        """
        value = self.params[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"case {self.name}: parameter {key} should be a number, is {value!r}")
        return float(value)

    def claim(self, key: str) -> bool:
        """The boolean parameter `key`.

        Raises:
            KeyError: there is none.
            TypeError: it is not a boolean.
        """
        value = self.params[key]
        if not isinstance(value, bool):
            raise TypeError(f"case {self.name}: parameter {key} should be true or false, is {value!r}")
        return value

    def word(self, key: str) -> str:
        """The text parameter `key`.

        Raises:
            KeyError: there is none.
            TypeError: it is not a string.
        """
        value = self.params[key]
        if not isinstance(value, str):
            raise TypeError(f"case {self.name}: parameter {key} should be a string, is {value!r}")
        return value

    def shape(self, key: str) -> tuple[int, ...]:
        """The tuple-of-integers parameter `key`.

        Raises:
            KeyError: there is none.
            TypeError: it is not a tuple.
        """
        value = self.params[key]
        if not isinstance(value, tuple):
            raise TypeError(f"case {self.name}: parameter {key} should be a shape, is {value!r}")
        return value
