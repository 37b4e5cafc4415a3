"""Python float arguments of an interpreted kernel, converted to tensors of a float type as in compiled code.

There a float is a float32 unless its parameter is declared as another type (`alpha: tl.float64`),
`alpha.to(tl.float32)` is valid, and half-precision numbers times alpha are float32.  Triton's interpreter keeps Python
floats, which have no `to` and take the type of the other operand, and ignores declarations.  Patches the interpreter
for triton 3.6 to 3.9; never used outside a worker.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.interpreter import TensorHandle
from triton.runtime.jit import _normalize_ty

from engine.worker.triton_interpreter.bfloat16 import narrow

# Triton's interpreter is not typed, and kernels take everything: Any throughout this file.

_TYPES: dict[str, Any] = {"fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64}
_NUMPY = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


@dataclass(frozen=True, kw_only=True)
class DeclaredFloat:
    """A number whose parameter is declared as a float of this type, such as "fp64"."""

    value: float
    type: str


def install() -> None:
    """Convert floats to tensors where Triton converts integers, before they reach a kernel."""
    convert = triton_interpreter._implicit_cvt

    def converted(argument: Any) -> Any:
        if isinstance(argument, DeclaredFloat):
            return _tensor(argument.value, argument.type)
        return _tensor(argument, "fp32") if type(argument) is float else convert(argument)

    triton_interpreter._implicit_cvt = converted


def declared(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a kernel; numbers whose parameters are declared as floats are marked."""
    parameters = inspect.signature(function).parameters
    kinds = {name: _normalize_ty(parameters[name].annotation) for name in values if type(values[name]) in (int, float)}
    return {
        name: DeclaredFloat(value=value, type=kinds[name]) if kinds.get(name) in _TYPES else value
        for name, value in values.items()
    }


def _tensor(number: float, kind: str) -> Any:
    with np.errstate(over="ignore"):
        data = narrow(np.array([number], np.float32)) if kind == "bf16" else np.array([number], dtype=_NUMPY[kind])
    return tl.tensor(TensorHandle(data, _TYPES[kind]), _TYPES[kind])
