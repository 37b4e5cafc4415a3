"""GPUs that torch addresses as "cuda": NVIDIA's, and AMD's with a torch built for ROCm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

TORCH_TYPE = "cuda"
EXECUTED_ON_CPU = False


def is_nvidia() -> bool:
    """Whether torch was built for CUDA; a build for ROCm has the same device type."""
    import torch

    return torch.version.cuda is not None


def synchronise(device: torch.device) -> None:
    """Wait for all streams of the device."""
    import torch

    torch.cuda.synchronize(device)


def release_cached_memory() -> None:
    """Return unused blocks of the caching allocator to the driver."""
    import torch

    torch.cuda.empty_cache()


def is_capturing() -> bool:
    """Whether the current stream records a CUDA graph."""
    import torch

    return torch.cuda.is_current_stream_capturing()


def random_state(device: torch.device) -> bytes | None:
    """The state of the device's default generator."""
    import torch

    return torch.cuda.get_rng_state(device).numpy().tobytes()
