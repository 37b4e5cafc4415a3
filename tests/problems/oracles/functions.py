"""ATen operators by mpmath with 40 digits, NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import torch
from scipy import special

Array = np.ndarray[Any, Any]

ELEMENTARY: dict[str, Callable[[Any], Any]] = {
    "acosh": mpmath.acosh,
    "asin": mpmath.asin,
    "cos": mpmath.cos,
    "cosh": mpmath.cosh,
    "erfc": mpmath.erfc,
    "floor": mpmath.floor,
    "hardsigmoid": lambda x: min(max(x + 3, 0), 6) / 6,
    "i0": lambda x: mpmath.besseli(0, x),
    "log10": mpmath.log10,
    "mish": lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x))),
    "neg": lambda x: -x,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sgn": mpmath.sign,
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "sin": mpmath.sin,
    "special_entr": lambda x: -x * mpmath.log(x) if x > 0 else -mpmath.inf,
    "square": lambda x: x * x,
}
"""Functions of one number, real or complex."""


def sort(x: Array, dim: int, is_descending: bool, is_stable: bool) -> tuple[Array, Array]:
    """A stable sort by lists of Python: NaN is the largest, and equal elements keep their order."""

    def order(row: Array) -> list[int]:
        return sorted(
            range(len(row)),
            key=lambda i: (row[i] != row[i], row[i] if row[i] == row[i] else 0),
            reverse=is_descending,
        )

    places = np.apply_along_axis(order, dim, x)
    return np.take_along_axis(x, places, dim), places


ARRAYS: dict[str, tuple[str, Callable[..., Any]]] = {
    "_to_copy": ("numpy.ndarray.astype", lambda x, dtype, *_: x.astype(np.int32) if dtype is torch.int32 else x),
    "to": ("numpy.ndarray.astype", lambda x, dtype, *_: x.astype(np.int32) if dtype is torch.int32 else x),
    "contiguous": ("numpy.copy", np.copy),
    "add": ("numpy.add", lambda x, other, alpha: np.add(x, alpha * other)),
    "sub": ("numpy.subtract", lambda x, other, alpha: np.subtract(x, alpha * other)),
    "rsub": ("numpy.subtract", lambda x, other, alpha: np.subtract(other, alpha * x)),
    "mul": ("numpy.multiply", np.multiply),
    "div": ("numpy.divide", lambda x, other, mode: np.divide(x, other)),
    "pow": ("numpy.power", np.power),
    "eq": ("numpy.equal", np.equal),
    "gt": ("numpy.greater", np.greater),
    "le": ("numpy.less_equal", np.less_equal),
    "mm": ("numpy.matmul", np.matmul),
    "bmm": ("numpy.matmul", np.matmul),
    "matmul": ("numpy.matmul", np.matmul),
    "linear": ("numpy.matmul", lambda x, w, bias: np.matmul(x, w.T) + (bias if bias is not None else 0)),
    "sum": (
        "numpy.sum",
        lambda x, dims, kept, dtype: np.sum(x, axis=None if dims is None else tuple(dims), keepdims=kept),
    ),
    "cumsum": ("numpy.cumsum", lambda x, dim, dtype: np.cumsum(x, axis=dim)),
    "softmax": ("scipy.special.softmax", lambda x, dim, dtype: special.softmax(x, axis=dim)),
    "sort": ("Python's sorted", sort),
    "diff": (
        "numpy.diff",
        lambda x, n, dim, before, after: np.diff(
            x, n, dim, *(np._NoValue if end is None else end for end in (before, after))
        ),
    ),
    "expand": (
        "numpy.broadcast_to",
        lambda x, size, *_: np.broadcast_to(x, np.broadcast_shapes(x.shape, [abs(n) for n in size])),
    ),
    "expand_as": ("numpy.broadcast_to", lambda x, other: np.broadcast_to(x, other.shape)),
    "reshape": ("numpy.reshape", np.reshape),
    "resolve_conj": ("PyTorch's resolve_conj", lambda x: x),
    "resolve_neg": ("PyTorch's resolve_neg", lambda x: x),
}
"""The function's name, and the operator by it, on arrays in double precision."""

_NAMED_ALIKE = """
_index_put_impl_ _local_scalar_dense _softmax add_ affine_grid_generator amin arange argmax as_strided bernoulli
binary_cross_entropy_with_logits bitwise_not cat clone copy_ div_ embedding empty_strided exponential_ fill_
floor_divide fmax full gather heaviside huber_loss im2col index index_put_ index_select log_sigmoid_backward
logaddexp2 logit masked_fill_ mean mish_backward new_empty_strided new_ones ones_like poisson polygamma
reflection_pad1d_backward renorm rot90 rrelu_with_noise_backward scalar_tensor scatter select smooth_l1_loss_backward
soft_margin_loss softplus_backward stack t unsafe_split unsafe_split_with_sizes unsqueeze upsample_nearest2d_backward
zero_ zeros zeros_like
"""
OWN: dict[str, tuple[str, ...]] = {name: (name,) for name in _NAMED_ALIKE.split()} | {
    "item": ("_local_scalar_dense",),
    "margin_ranking_loss": ("clamp_min_",),
    "narrow": ("slice",),
    "pairwise_distance": ("norm",),
    "prelu": ("_prelu_kernel",),
    "rrelu_with_noise": ("uniform_", "leaky_relu"),
    "select_backward": ("select",),
}
"""Operators whose eager calls PyTorch's own, with the ATen operators that it comes down to."""
OTHER_NAMES = {"rrelu_with_noise": "uniform_ and leaky_relu", "select_backward": "select"}
"""Names of these operators, where not that of the problem."""
