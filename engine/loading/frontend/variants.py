"""Lowers kernels for the CPU: specialisations that differ only in the divisibility of arguments share one lowering.

Divisibility is an attribute of an argument: Triton's frontend and the passes behind it copy it and do not read it.  The
text of such a variant is that of the module with the attribute at other arguments.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from engine.loading.frontend.kernel_state import state_of
from engine.loading.frontend.lowering import module_of, ttir_of

# Triton's sources, targets, options and modules are not typed: they are Any throughout this file.

_NAME, _DIVISOR = _ATTRIBUTE = ("tt.divisibility", 16)
_TEXT = f" {{{_NAME} = {_DIVISOR} : i32}}"
_MOST_KERNELS = 1000


class Variants:
    """The texts of the kernels lowered in this process."""

    def __init__(self) -> None:
        self._by_key: dict[str, _VariantText | None] = {}

    def ttir_of(self, source: Any, target: Any, options: Any) -> str:
        """The TTIR text before all later stages; the backend parses `options`.

        Raises:
            Exception: what the frontend raises for a kernel that does not compile.
        """
        divisible = _divisible_of(source)
        key = _key_of(source, target, options)
        if divisible is None or not key:
            return ttir_of(source, target, options)
        if key not in self._by_key:
            if len(self._by_key) == _MOST_KERNELS:
                self._by_key.clear()
            self._by_key[key] = _VariantText.of(source, module_of(source, target, options))
        text = self._by_key[key]
        return text.where(divisible) if text is not None else ttir_of(source, target, options)


@dataclass(frozen=True, kw_only=True)
class _VariantText:
    """The text of a module, divided where an argument has its attribute; `places` are those of the parameters."""

    parts: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, source: Any, module: Any) -> _VariantText | None:
        """The divided text, for which the module is changed; None if an argument cannot be told by its place."""
        kinds = [source.signature.get(name) for name in source.fn.arg_names]
        places = tuple(place for place, kind in enumerate(kinds) if kind != "constexpr")
        function = module.get_function(module.get_entry_func_name())
        # A tuple or a descriptor is several arguments, or none.
        if not all(isinstance(kind, str) for kind in kinds) or function.get_num_args() != len(places):
            return None
        for argument in range(len(places)):
            function.set_arg_attr(argument, *_ATTRIBUTE)
        parts = tuple(str(module).split(_TEXT))
        return cls(parts=parts, places=places) if len(parts) == len(places) + 1 else None

    def where(self, divisible: frozenset[int]) -> str:
        """The text where the parameters at these places are divisible."""
        first, *others = self.parts
        pairs = zip(self.places, others, strict=True)
        return first + "".join((_TEXT if place in divisible else "") + part for place, part in pairs)


def _divisible_of(source: Any) -> frozenset[int] | None:
    """The places of the parameters that are divisible; None if a parameter has another attribute."""
    attributes = {path: values for path, values in source.attrs.items() if values}
    if any(len(path) != 1 or [tuple(value) for value in values] != [_ATTRIBUTE] for path, values in attributes.items()):
        return None
    return frozenset(path[0] for path in attributes)


def _key_of(source: Any, target: Any, options: Any) -> str:
    """What a module depends on, without the attributes of arguments; "" where that is not known."""
    plain = copy.copy(source)
    plain.attrs = {}
    state = state_of(source)
    try:
        # Triton's hash takes 1 and "1" for the same constant.
        constants = sorted(source.constants.items())
        described = f"{plain.hash()} {state} {constants} {target} {sorted(vars(options).items())}"
    except Exception:  # of the candidate's kernel, for which the frontend raises its own error
        return ""
    return described if state else ""
