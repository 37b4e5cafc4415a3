"""Functions of libdevice for Triton's interpreter, which has none of them.

Without this `libdevice.exp(x)` is None there, and a right kernel fails with an unrelated error.  The results are as
exact as the type allows, also for functions that a device approximates.  For triton 3.6 to 3.9; never used outside a
worker.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.interpreter import TensorHandle

from engine.loading.raised import InterpreterLimitError

# Triton's interpreter is not typed: its arguments and results are Any throughout this file.

_MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice")
_NUMPY = (
    "abs floor ceil trunc rint exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh atan2 hypot copysign fmod nextafter"
)
_NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
}
_ONE_BY_ONE = {"erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma, "tgamma": math.gamma}
_FORMULAS: dict[str, Callable[..., Any]] = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "nearbyint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x),
    "pow": np.power,
    "fma": lambda x, y, z: x.astype(np.float64) * y + z,
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "saturatef": lambda x: np.nan_to_num(np.clip(x, 0, 1), nan=0.0),
    "add_rn": np.add,
    "sub_rn": np.subtract,
    "mul_rn": np.multiply,
    "div_rn": np.divide,
    "rcp_rn": lambda x: 1 / x,
}
_SAME_AS = {
    "fast_expf": "exp", "fast_logf": "log", "fast_log2f": "log2", "fast_log10f": "log10", "fast_sinf": "sin",
    "fast_cosf": "cos", "fast_tanf": "tan", "fast_tanhf": "tanh", "fast_exp10f": "exp10", "fast_powf": "pow",
    "fast_dividef": "div_rn", "sqrt_rn": "sqrt", "rsqrt_rn": "rsqrt", "fma_rn": "fma",
}  # fmt: skip
_QUESTIONS: dict[str, Callable[..., Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finitef": np.isfinite,
    "isfinited": np.isfinite,
    "signbit": np.signbit,
}
# The types that compile on a device, and the positions of arguments that may be integers.
_FLOATS = (tl.float32, tl.float64)
_INTEGERS = {"abs": (0,), "pow": (1,)}


@functools.cache
def functions() -> tuple[tuple[ModuleType, str, Callable[..., Any]], ...]:
    """Module, name and implementation of every function of Triton's libdevice."""
    known = dict(_known())
    return tuple(
        (module, name, known.get(name) or _missing(name))
        for path in _MODULES
        for module in (importlib.import_module(path),)
        for name, function in list(vars(module).items())
        if inspect.isfunction(function) and function.__module__ == path
    )


def _known() -> Iterator[tuple[str, Callable[..., Any]]]:
    formulas = {name: getattr(np, _NUMPY_NAMES.get(name, name)) for name in _NUMPY.split()} | _FORMULAS
    formulas |= {name: np.vectorize(function, otypes=[np.float64]) for name, function in _ONE_BY_ONE.items()}
    formulas |= {name: formulas[other] for name, other in _SAME_AS.items()}
    for name, formula in formulas.items():
        yield name, _elementwise(name, formula, asks=False)
    for name, formula in _QUESTIONS.items():
        yield name, _elementwise(name, formula, asks=True)


def _elementwise(name: str, formula: Callable[..., Any], *, asks: bool) -> Callable[..., Any]:
    """A function on blocks of one type, made from one on arrays; a predicate (`asks`) returns 0 or 1."""
    integers = _INTEGERS.get(name, ())

    def compute(*args: Any, _semantic: object = None) -> Any:
        blocks = [triton_interpreter.interpreter_semantic.to_tensor(arg) for arg in args]
        for number, block in enumerate(blocks):
            if block.dtype not in _FLOATS and not (number in integers and block.dtype in (tl.int32, tl.int64)):
                raise TypeError(f"libdevice.{name} does not take {block.dtype}: cast the argument, x.to(tl.float32)")
        model = max(blocks, key=lambda block: len(block.shape))
        scalar = tl.int32 if asks else model.dtype
        with np.errstate(all="ignore"):
            values = np.asarray(formula(*(block.handle.data for block in blocks)))
        kind = np.int32 if asks else model.handle.data.dtype
        shape = list(np.broadcast_shapes(*(tuple(map(int, block.shape)) for block in blocks)))
        block_type = tl.block_type(scalar, shape) if shape else scalar
        return tl.core.tensor(TensorHandle(values.astype(kind), scalar), block_type)

    return compute


def _missing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **options: Any) -> Any:
        raise InterpreterLimitError(f"the interpreter has no libdevice.{name}; run this kernel on a GPU")

    return refuse
