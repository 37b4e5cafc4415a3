"""How child processes use a torch device: one module per platform.  torch is imported inside of functions only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.devices.runtimes import cpu, cuda
from engine.errors import EngineError

if TYPE_CHECKING:
    import torch


class Runtime(Protocol):
    """Interface of every module here."""

    TORCH_TYPE: str  # the `type` of its torch devices
    EXECUTED_ON_CPU: bool  # whether kernels are executed from TTIR on the CPU, without machine code

    def is_nvidia(self) -> bool:
        """Whether the devices are NVIDIA's and torch was built for them."""
        ...

    def synchronise(self, device: torch.device) -> None:
        """Wait until the device has finished all queued work."""
        ...

    def release_cached_memory(self) -> None:
        """Return the cached memory of torch's allocator to the driver."""
        ...

    def is_capturing(self) -> bool:
        """Whether the current stream records a graph, during which nothing may be read back."""
        ...

    def random_state(self, device: torch.device) -> bytes | None:
        """The state of the device's own random generator; None when it has none."""
        ...


# Not found by scanning: a child may not look for modules once a candidate is loaded.
RUNTIMES: tuple[Runtime, ...] = (cpu, cuda)


def runtime_of(device: torch.device) -> Runtime:
    """The runtime of this device's platform.

    Raises:
        EngineError: no platform has torch devices of this type.
    """
    for runtime in RUNTIMES:
        if device.type == runtime.TORCH_TYPE:
            return runtime
    known = ", ".join(runtime.TORCH_TYPE for runtime in RUNTIMES)
    raise EngineError(f"no platform has {device.type!r} devices; engine/devices/runtimes has {known}")
