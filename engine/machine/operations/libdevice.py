"""Functions of libdevice, by the name of their symbol."""

from __future__ import annotations

import math

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array, where
from engine.machine.numerics import Array, decode, dtype_of, encode
from engine.machine.operations.floats import maximum_number, minimum_number
from engine.machine.operations.mathematics import (
    FUNCTIONS,
    TESTS,
    Compute,
    erfc,
    fused,
    per_element,
    power,
    reciprocal_root,
    round_half_away,
)
from engine.machine.values import Val, scalar_of


def _log_of_gamma(number: float) -> float:
    """Infinite at its poles, which are 0 and the negative integers."""
    return math.inf if number <= 0 and (math.isinf(number) or number == int(number)) else math.lgamma(number)


def _gamma(number: float) -> float:
    """Infinite at 0, with its sign."""
    return math.copysign(math.inf, number) if number == 0 else math.gamma(number)


def _reciprocal(numbers: Array) -> Array:
    return np.array(1, numbers.dtype) / numbers


def _normal_cumulative(numbers: Array) -> Array:
    scaled = numbers * np.array(-math.sqrt(0.5), numbers.dtype)
    return np.asarray(np.multiply(np.array(0.5, numbers.dtype), erfc(scaled)))


_FUNCTIONS: dict[str, Compute] = {
    **FUNCTIONS,
    **TESTS,
    "pow": power,
    "powi": power,
    "fabs": np.abs,
    "abs": np.abs,
    "fmod": np.fmod,
    "fmax": maximum_number,
    "fmin": minimum_number,
    "hypot": np.hypot,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": round_half_away,
    "erfc": erfc,
    "lgamma": per_element(_log_of_gamma),
    "tgamma": per_element(_gamma),
    "normcdf": _normal_cumulative,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "sinpi": lambda x: np.sin(x.astype(np.float64) * math.pi).astype(x.dtype),
    "cospi": lambda x: np.cos(x.astype(np.float64) * math.pi).astype(x.dtype),
    "fdim": lambda x, y: np.where(x <= y, np.array(0, x.dtype), x - y),  # NaN if one of them is
    "saturate": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1).astype(x.dtype),
    "fast_exp": np.exp,
    "fast_exp10": FUNCTIONS["exp10"],
    "fast_log": np.log,
    "fast_log2": np.log2,
    "fast_log10": np.log10,
    "fast_sin": np.sin,
    "fast_cos": np.cos,
    "fast_tan": np.tan,
    "fast_pow": power,
    "fast_fdivide": np.divide,
    "fast_tanh": np.tanh,
    "frsqrt_rn": lambda x: reciprocal_root(x.astype(np.float64)).astype(x.dtype),
    "fma_rn": fused,
    "fmaf_rn": fused,
    **{
        f"{kind}{name}_rn": compute
        for kind in ("f", "d")  # of float32 and of float64
        for name, compute in (
            ("add", np.add),
            ("sub", np.subtract),
            ("mul", np.multiply),
            ("div", np.divide),
            ("rcp", _reciprocal),
            ("sqrt", np.sqrt),
        )
    },
}


def library_function(symbol: str) -> Compute | None:
    """The function of a libdevice symbol: `__nv_tanhf`, `__ocml_tanh_f32`; None if the machine has none."""
    name = symbol
    for prefix in ("__nv_", "__ocml_", "__imf_", "__triton_hip_"):
        name = name.removeprefix(prefix)
    name = name.removesuffix("_f32").removesuffix("_f64").removesuffix("_f16")
    for candidate in (name, name.removesuffix("f"), name.removesuffix("d"), name.removeprefix("native_")):
        if candidate in _FUNCTIONS:
            return _FUNCTIONS[candidate]
    return None


def _external(frame: Frame, step: Step, operands: list[Val]) -> Val:
    operation = step.operation
    symbol = str(operation.attributes["symbol"])
    compute = library_function(symbol)
    if compute is None:
        raise UnsupportedError(f"{where(operation)}{operation.name}: the machine has no function {symbol}")
    target = scalar_of(operation.results[0].type)
    scalars = [scalar_of(operand.type) for operand in operation.operands]
    arrays = [decode(scalar, as_array(value)) for scalar, value in zip(scalars, operands, strict=True)]
    result = compute(*arrays)
    return encode(target, result) if target.is_float else result.astype(dtype_of(target))


OPERATIONS: dict[str, Handler] = {"tt.extern_elementwise": _external}
