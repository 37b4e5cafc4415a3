"""Records of launches, from which a kernel can be compiled elsewhere, for any target.

Recorded once per specialisation, and again if its grid extends along another axis.  Both kinds of launches are recorded
here: those of the CPU's launcher and of the compiled kernel's `run`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from triton.runtime.jit import mangle_type

from engine.clock.safe_torch import without_functions
from engine.loading import generated
from engine.loading.closures import closure_of, identity_of
from engine.model import Launch, Traffic, specialisation
from engine.protocol.launches import number_that_fits

OPTIONS = ("num_ctas", "maxnreg", "enable_fp_fusion", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_DEFAULT_WARPS, _DEFAULT_STAGES = 4, 3


class LaunchLog:
    """The distinct launches of this process, and which of them have not been reported yet."""

    def __init__(self) -> None:
        self._launches: dict[tuple[object, ...], Launch] = {}
        self._axes: dict[tuple[object, ...], set[int]] = {}
        self._unreported_keys: list[tuple[object, ...]] = []

    def has_traffic(self, launch: Launch) -> bool:
        """Whether the traffic of such a launch has been recorded; that of later ones is not used."""
        known = self._launches.get(specialisation(launch))
        return known is not None and known.traffic is not None

    def add(self, launch: Launch, *, traffic: Traffic | None = None) -> None:
        """Record one launch by its description; the first one's traffic is kept."""
        key = specialisation(launch)
        axes = {axis for axis, size in enumerate(launch.grid) if size > 1}
        known = self._launches.get(key)
        # Programs along a new grid axis are reported again, since a race between them is checked in that case.
        if known is None or not axes <= self._axes[key]:
            if key not in self._unreported_keys:
                self._unreported_keys.append(key)
            self._axes[key] = axes | self._axes.get(key, set())
            count = known.count + 1 if known is not None else 1
            first = known.traffic if known is not None else None
            self._launches[key] = replace(launch, count=count, traffic=first or traffic)
        else:
            self._launches[key] = replace(known, count=known.count + 1, traffic=known.traffic or traffic)

    def take_unreported(self) -> tuple[Launch, ...]:
        """The launches that were not reported yet, oldest first, as many as fit into a reply."""
        launches = [self._launches[key] for key in self._unreported_keys]
        count = number_that_fits(launches)
        self._unreported_keys = self._unreported_keys[count:]
        return tuple(launches[:count])


def bound_arguments(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:  # Any: kernels take everything
    """Parameter name to argument of one launch, defaults filled in, launch options left out."""
    signature = _signature(function)
    known = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind_partial(*args, **known)
    bound.apply_defaults()
    return dict(bound.arguments)


def parts_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # Any: kernels take everything
    """An argument by its name; items of a tuple by name and position: "sizes.2"."""
    if isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from parts_of(f"{name}.{place}", part)
    else:
        yield name, value


def leaves_of(name: str, kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """The run-time values of an argument with these types in the kernel's signature, by their names: "sizes.2"."""
    if isinstance(kind, tuple | list):
        for place, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from leaves_of(f"{name}.{place}", inner, part)
    elif kind != "constexpr":
        yield name, value


def argument_names(signature: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the arguments that a compiled kernel takes: "sizes.2" is a part of a tuple."""
    return tuple(leaf for name, kind in signature.items() for leaf, _ in leaves_of(name, kind, values[name]))


def describe(
    function: Callable[..., Any], values: Mapping[str, Any], options: Mapping[str, Any], grid: tuple[int, ...]
) -> Launch:  # Any: kernels take everything
    """The launch record for the plain Python function `function` of a kernel with all these arguments."""
    types: dict[str, str] = {}
    constants: dict[str, str] = {}
    divisible: list[str] = []
    with without_functions():
        for name, value in values.items():
            if value is None or is_constexpr(function, name):
                types[name] = "constexpr"
                constants[name] = _literal(value)
                continue
            types[name] = str(mangle_type(value))
            for path, part in parts_of(name, value) if isinstance(value, tuple) else ((name, value),):
                if part is None or (isinstance(part, int) and not isinstance(part, bool) and part == 1):
                    constants[path] = _literal(part)
                address = part.data_ptr() if hasattr(part, "data_ptr") else part
                if isinstance(address, int) and not isinstance(address, bool) and address % 16 == 0:
                    divisible.append(path)
    code = function.__code__
    return Launch(
        kernel=function.__name__,
        signature=types,
        constants=constants,
        divisible_by_16=tuple(divisible),
        num_warps=_number(options.get("num_warps"), _DEFAULT_WARPS),
        num_stages=_number(options.get("num_stages"), _DEFAULT_STAGES),
        grid=grid,
        line=code.co_firstlineno,
        options={name: repr(options[name]) for name in OPTIONS if options.get(name) is not None},
        closure=closure_of(function),
        generated_source=_generated_source(function),
    )


@functools.lru_cache(maxsize=1024)
def _generated_source(function: Callable[..., Any]) -> str:
    return generated.source_of(function)


@functools.lru_cache(maxsize=1024)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


@functools.lru_cache(maxsize=4096)
def is_constexpr(function: Callable[..., Any], name: str) -> bool:
    """Whether this parameter of a kernel is annotated as a constant, in whatever way Triton accepts."""
    annotation = _signature(function).parameters[name].annotation
    return "constexpr" in (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""))


def _literal(value: object) -> str:
    """The constant as text that the compiler child can read: a Python literal, "tl.float32", or "@" and a kernel."""
    value = getattr(value, "value", value)  # a tl.constexpr
    if type(value).__module__.startswith("triton.language") and hasattr(value, "primitive_bitwidth"):
        return f"tl.{_DTYPE_WORDS.get(str(value), str(value))}"
    function = getattr(value, "fn", None)
    return f"@{identity_of(function)}" if isinstance(function, FunctionType) else repr(value)


_DTYPE_WORDS = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8e4nv": "float8e4nv",
    "fp8e5": "float8e5",
}


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
