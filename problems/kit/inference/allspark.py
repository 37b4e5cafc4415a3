"""The interleaved layout of 8-bit weights that the AllSpark kernels read, called n32k16.

Weights of (K, N) are stored as (N / 4, 4 K) bytes, N rounded up to a multiple of 32.  Weight (k, n) is in row 8 (n //
32) + n % 8 and column 64 (k // 16) + 16 (k % 8 // 2) + 8 (n % 32 // 16) + 4 (n % 16 // 8) + 2 (k % 16 // 8) + k % 2.
The scale of column n is at 32 (n // 32) + 4 (n % 8) + n % 32 // 8 (vLLM, csrc/quantization/gptq_allspark).
"""

from __future__ import annotations

from problems.kit.deferred import torch

COLUMNS = 32
_PARTS = ((2, 4, 2), (2, 2, 8))
"""What k % 16 and n % 32 consist of, from the highest part to the lowest."""
_ORDER = (4, 7, 0, 2, 5, 6, 1, 3)
"""The parts of (k, n), k // 16 and n // 32 first, in the order in which they are stored."""


def to_interleaved(weights: torch.Tensor) -> torch.Tensor:
    """(K, N) -> (N, K) bytes, the storage of (N / 4, 4 K); K in multiples of 16, N of 32."""
    rows, columns = weights.shape
    return weights.reshape(_parts(rows, columns)).permute(_ORDER).reshape(columns, rows)


def from_interleaved(stored: torch.Tensor) -> torch.Tensor:
    """The (K, N) weights from the result of `to_interleaved`."""
    columns, rows = stored.shape
    parts = _parts(rows, columns)
    as_stored = stored.reshape([parts[part] for part in _ORDER])
    return as_stored.permute([_ORDER.index(part) for part in range(len(_ORDER))]).reshape(rows, columns)


def scale_places(columns: int) -> torch.Tensor:
    """(N,): the position of each column's scale."""
    n = torch.arange(columns)
    return n // 32 * 32 + n % 8 * 4 + n % 32 // 8


def _parts(rows: int, columns: int) -> tuple[int, ...]:
    """The shape of (K, N) weights with K and N divided into their parts."""
    of_rows, of_columns = _PARTS
    return (rows // 16, *of_rows, columns // COLUMNS, *of_columns)
