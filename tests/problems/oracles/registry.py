"""The second implementation of every operator of the catalogue, by its full name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import torch

from tests.operators import NAMES
from tests.problems.oracles import blas, caches, inference, packed_weights, routing
from tests.problems.oracles.functions import ARRAYS, ELEMENTARY, OTHER_NAMES, OWN
from tests.problems.oracles.oracle import Oracle, by_function, by_own_operator, by_vectors

_DIGITS = 40
_POSITIONS = 0x4444
"""Four quadruples of 2:4 sparse weights that keep their first two."""


def _elementary(name: str) -> Oracle:
    def function(x: np.ndarray[Any, Any], *_: Any) -> np.ndarray[Any, Any]:
        with mpmath.workdps(_DIGITS):
            return np.vectorize(lambda one: _number(ELEMENTARY[name](mpmath.mpf(one))), otypes=[float])(x)

    return by_function(f"mpmath with {_DIGITS} digits", function)


def _number(value: Any) -> float:
    """NaN where the function has no real value."""
    return float(mpmath.re(value)) if mpmath.im(value) == 0 else float("nan")


def _int32(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _sparse_product() -> Oracle:
    """All words 0 are weights of -8 in the kept places; 15 at the first place makes the first one 7."""
    words = torch.zeros((1, 128), dtype=torch.int32)
    words[0, 0] = 15
    meta = torch.full((1, 128), _POSITIONS, dtype=torch.int16)
    arguments = (
        torch.ones((1, 32), dtype=torch.float16), words, meta, torch.ones((1, 64), dtype=torch.float16),
        _int32(*[0] * 64), "uint4b8", 1, 64, 32,
    )  # fmt: skip
    wanted = torch.full((1, 64), -128.0, dtype=torch.float16)
    wanted[0, 0] = -113.0
    first = torch.zeros((1, 32), dtype=torch.float16)
    first[0, 0] = 1.0
    of_first = torch.full((1, 64), -8.0, dtype=torch.float16)
    of_first[0, 0] = 7.0
    return by_vectors(
        "products worked out by hand, of weights at known places",
        (arguments, (wanted,)),
        ((first, *arguments[1:]), (of_first,)),
    )


def _sparse_pattern() -> Oracle:
    """Four row blocks of 2 queries, diagonals at 4 and 0, blocks of 4 keys, columns 0, 1, 3 and 5."""
    arguments = (_int32(8), _int32(8), _int32(0, 1, 3, 5)[None, None], _int32(4, 0)[None, None], 8, 2, 4, True)
    counts, columns = _int32(1, 1, 2, 2), _int32(0, 2, 1, 3)
    offsets = torch.tensor([[0, 0], [2, 0], [0, 4], [2, 6]], dtype=torch.int32)
    indexes = torch.tensor([[0, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0], [0, 1, 5, 0]], dtype=torch.int32)
    wanted = tuple(one[None, None] for one in (counts, offsets, columns, indexes))
    return by_vectors("a pattern of four row blocks, worked out by hand", (arguments, wanted))


def _aten() -> Iterator[tuple[str, Oracle]]:
    yield from ((name, _elementary(name)) for name in ELEMENTARY)
    yield from ((name, by_function(f"{source}, in double precision", call)) for name, (source, call) in ARRAYS.items())
    for name, operators in OWN.items():
        yield name, by_own_operator(OTHER_NAMES.get(name, name), operators=operators)


def _vllm() -> Iterator[tuple[str, Oracle]]:
    for module in (packed_weights, caches, inference, routing):
        yield from (
            (name, by_function("loops of Python over NumPy arrays", call)) for name, call in module.ORACLES.items()
        )
    yield "gptq_marlin_24_gemm", _sparse_product()
    yield "convert_vertical_slash_indexes", _sparse_pattern()


def _all() -> Iterator[tuple[str, Oracle]]:
    yield from ((f"aten::{name}", oracle) for name, oracle in _aten())
    yield from ((f"vllm::{name}", oracle) for name, oracle in _vllm())
    yield from ((name, blas.oracle_of(name.removeprefix("cublas::"))) for name in NAMES if name.startswith("cublas::"))


ORACLES = dict(_all())
