"""Types from their text; each text is parsed once."""

from __future__ import annotations

import re

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError
from engine.machine.ir import Descriptor, Pointer, Scalar, Tensor, Type
from engine.machine.reader.limits import Limits

_SCALARS = {scalar.value: scalar for scalar in Scalar}
_DIMENSIONS = re.compile(r"((?:\d++x)*+)(.*+)", re.DOTALL | re.ASCII)
# A descriptor has signed or unsigned integers, as <16x16xsi32>; loads and stores use tensors of i32.
_SIGN = re.compile(r"(?<=x)[su](?=i\d)", re.ASCII)
_UNSIGNED = re.compile(r"xi(?=\d+$)", re.ASCII)
_OTHER_SCALAR = re.compile(r"(?:[su]?i\d+|t?f\d+\w*|none|complex<.*>|vector<.*>|memref<.*>|!\w.*)", re.DOTALL)


class MalformedTypeError(ValueError):
    """The text is not a type; the caller adds the position."""


class TypeTable:
    """Types by their text, within the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._types: dict[str, Type] = dict(_SCALARS)

    def __contains__(self, text: str) -> bool:
        return text in self._types

    def find(self, text: str) -> Type:
        """The type of a text such as `tensor<64xf32>`.

        Raises:
            MalformedTypeError: the text is not a type.
            UnsupportedError: a type that the machine does not have.
            LimitError: too many dimensions or elements.
        """
        known = self._types.get(text)
        if known is None:
            known = self._types[text] = self._read(text)
        return known

    def short(self, kind: str, text: str) -> Type:
        """The type of `<f32>`, which represents `!tt.ptr<f32>`, or of `<16x16xf32>` for a descriptor."""
        return self.find(f"!tt.{kind}{text}")

    def _read(self, text: str) -> Type:
        text = text.strip()
        if text in _SCALARS:
            return _SCALARS[text]
        opening = text.find("<")
        inside = text[opening + 1 : -1]
        match text[: max(opening, 0)] if text.endswith(">") else "":
            case "tensor":
                return self._tensor(inside)
            case "!tt.ptr":
                return self._pointer(inside)
            case "!tt.tensordesc":
                sign = _SIGN.search(inside)
                inside = _SIGN.sub("", inside)
                block = self.find(inside) if inside.startswith("tensor<") else self._tensor(inside)
                if not isinstance(block, Tensor) or not isinstance(block.element, Scalar):
                    raise MalformedTypeError(f"{text} is not a type: a descriptor has a block of scalars")
                return Descriptor(block=block, unsigned=sign is not None and sign[0] == "u")
        if _OTHER_SCALAR.fullmatch(text):
            raise UnsupportedError(f"type {text[:60]} is not supported")
        raise MalformedTypeError(f"{text[:60]} is not a type")

    def _tensor(self, inside: str) -> Tensor:
        found = _DIMENSIONS.fullmatch(inside.strip())
        assert found is not None  # every text matches
        sizes = found[1].split("x")[:-1]
        element_text, comma, _ = found[2].partition(",") if not found[2].startswith("!tt.ptr") else (found[2], "", "")
        if comma or "?" in inside or "*" in inside:
            raise UnsupportedError(
                f"type tensor<{inside[:60]}> is not supported: neither layouts nor unknown sizes are"
            )
        if len(sizes) > self._limits.rank:
            raise LimitError(f"a tensor has {len(sizes)} dimensions, more than {self._limits.rank}")
        if any(len(size) > 12 for size in sizes):
            raise LimitError(f"tensor<{inside[:60]}> has more than {self._limits.elements:,} elements")
        shape = tuple(map(int, sizes))
        elements = 1
        for size in shape:
            elements *= size
        if elements > self._limits.elements:
            raise LimitError(f"tensor<{inside[:60]}> has more than {self._limits.elements:,} elements")
        element = self.find(element_text)
        if not isinstance(element, Scalar | Pointer) or elements == 0:
            raise MalformedTypeError(f"tensor<{inside[:60]}> is not a type")
        return Tensor(shape=shape, element=element)

    def _pointer(self, inside: str) -> Pointer:
        pointee_text, comma, space = inside.rpartition(",") if inside[-1:].isdecimal() else (inside, "", "")
        if not comma:
            pointee_text, space = inside, "1"
        if len(space.strip()) > 4 or not space.strip().isdecimal():
            raise MalformedTypeError(f"!tt.ptr<{inside[:60]}> is not a type")
        pointee = self.find(pointee_text)
        if isinstance(pointee, Pointer | Descriptor):
            raise UnsupportedError(f"type !tt.ptr<{inside[:60]}> is not supported")
        return Pointer(pointee=pointee, address_space=int(space))


def type_text(found: Type) -> str:
    """A type as TTIR writes it."""
    match found:
        case Scalar():
            return found.value
        case Pointer(address_space=1):
            return f"!tt.ptr<{type_text(found.pointee)}>"
        case Pointer():
            return f"!tt.ptr<{type_text(found.pointee)}, {found.address_space}>"
        case Tensor():
            return f"tensor<{''.join(f'{size}x' for size in found.shape)}{type_text(found.element)}>"
        case Descriptor():
            block = type_text(found.block)[7:-1]
            return f"!tt.tensordesc<{_UNSIGNED.sub('xui', block) if found.unsigned else block}>"
