"""The interleaved layout of 8-bit weights that the AllSpark kernels read, called n32k16.

Weights of (K, N) are stored as (N / 4, 4 K) bytes, N rounded up to a multiple of 32.  Weight (k, n) is in row 8 (n //
32) + n % 8 and column 64 (k // 16) + 16 (k % 8 // 2) + 8 (n % 32 // 16) + 4 (n % 16 // 8) + 2 (k % 16 // 8) + k % 2.
The scale of column n is at 32 (n // 32) + 4 (n % 8) + n % 32 // 8 (vLLM, csrc/quantization/gptq_allspark).
"""

from __future__ import annotations

from problems.kit.deferred import torch

COLUMNS = 32


def to_interleaved(weights: torch.Tensor) -> torch.Tensor:
    """(K, N) -> (N, K) bytes, the storage of (N / 4, 4 K); K in multiples of 16, N of 32."""
    rows, columns = weights.shape
    stored = torch.empty(weights.numel(), dtype=weights.dtype, device=weights.device)
    stored[_places(rows, columns).to(weights.device)] = weights.flatten()
    return stored.reshape(columns, rows)


def from_interleaved(stored: torch.Tensor) -> torch.Tensor:
    """The (K, N) weights from the result of `to_interleaved`."""
    columns, rows = stored.shape
    return stored.reshape(-1)[_places(rows, columns).to(stored.device)].reshape(rows, columns)


def scale_places(columns: int) -> torch.Tensor:
    """(N,): the position of each column's scale."""
    n = torch.arange(columns)
    return n // 32 * 32 + n % 8 * 4 + n % 32 // 8


def _places(rows: int, columns: int) -> torch.Tensor:
    """(K * N,): the flat position of every weight, in row-major order."""
    k, n = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    column = k // 16 * 64 + k % 8 // 2 * 16 + n % 32 // 16 * 8 + n % 16 // 8 * 4 + k % 16 // 8 * 2 + k % 2
    return ((n // 32 * 8 + n % 8) * 4 * rows + column).flatten()
