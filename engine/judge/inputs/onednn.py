"""Calls of PyTorch's operators without oneDNN, whose products of special values are wrong on some processors.

With AMX instructions, oneDNN 3.12 pads matrices of 16-bit numbers and multiplies the padding with the other matrix:
where that has an infinity the sum is NaN instead of an infinity.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def without_onednn() -> Iterator[None]:
    """Context in which operators on the CPU do not use oneDNN; for one thread at a time, since the flag is global."""
    before, *_ = torch.backends.mkldnn.set_flags(False)
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(before)
