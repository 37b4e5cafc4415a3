"""Codes of float8 e4m3fn by PyTorch's own casts, which the references do not use."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

LARGEST = 448.0
Array = np.ndarray[Any, Any]


def rounded(values: Array) -> Array:
    """The nearest values of e4m3fn, saturated."""
    clamped = torch.from_numpy(np.clip(values, -LARGEST, LARGEST)).float()
    return clamped.to(torch.float8_e4m3fn).double().numpy()


def codes_of(values: Array) -> Array:
    """The codes of the nearest values, saturated."""
    clamped = torch.from_numpy(np.clip(values, -LARGEST, LARGEST)).float()
    return clamped.to(torch.float8_e4m3fn).view(torch.uint8).numpy()


def values_of(codes: Array) -> Array:
    """The values of these codes."""
    return torch.from_numpy(np.ascontiguousarray(codes)).view(torch.float8_e4m3fn).double().numpy()
