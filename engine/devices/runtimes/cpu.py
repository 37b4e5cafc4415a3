"""The CPU as a torch device: calls return when they have finished, and nothing is asynchronous."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

TORCH_TYPE = "cpu"
EXECUTED_ON_CPU = True


def is_nvidia() -> bool:
    """False."""
    return False


def synchronise(device: torch.device) -> None:
    """No operation: nothing is queued on a CPU."""


def release_cached_memory() -> None:
    """No operation: torch caches no host memory."""


def is_capturing() -> bool:
    """False: the CPU has no graphs."""
    return False


def random_state(device: torch.device) -> bytes | None:
    """None: the generator of the CPU is torch's default one."""
    return None
