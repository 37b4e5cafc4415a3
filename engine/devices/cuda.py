"""NVIDIA GPUs, named through NVML, which needs no CUDA context and no torch."""

from __future__ import annotations

from engine.devices import Device

NAME = "cuda"
VISIBLE_ENV = "CUDA_VISIBLE_DEVICES"
TORCH_DEVICE = "cuda:0"
INTERPRETED = False


def detect() -> tuple[Device, ...]:
    """The GPUs that the driver knows, in its order; () without a driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        return tuple(_describe(index) for index in range(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


def _describe(index: int) -> Device:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return Device(
        platform=NAME,
        index=index,
        name=str(pynvml.nvmlDeviceGetName(handle)),
        target=f"sm_{major}{minor}",
        memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
        driver=str(pynvml.nvmlSystemGetDriverVersion()),
    )
