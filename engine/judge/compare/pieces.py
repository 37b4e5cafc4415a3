"""Large tensors in host memory, a piece at a time, so that intermediates of a piece stay in the CPU cache.

Comparing takes a dozen temporaries in float64.  For a whole output each would be newly allocated memory, which the
kernel has to clear.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

_PIECE_ELEMENTS = 1 << 14  # below torch's threshold for several threads, which wait for each other on a busy machine


def pieces(*values: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Corresponding flat parts of values of one shape; on a device a single part, so that it synchronises once."""
    flat = [value.reshape(-1) for value in values]
    step = _PIECE_ELEMENTS if flat[0].device.type == "cpu" else max(1, flat[0].numel())
    for begin in range(0, flat[0].numel(), step):
        yield tuple(value[begin : begin + step] for value in flat)
