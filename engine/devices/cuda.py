"""NVIDIA GPUs, named through NVML, which needs no CUDA context and no torch."""

from __future__ import annotations

import os
from typing import Any

from engine.devices import Device

NAME = "cuda"
VISIBLE_ENV = "CUDA_VISIBLE_DEVICES"
TORCH_DEVICE = "cuda:0"
EXECUTED_ON_CPU = False
HAS_ACTIVITY_RECORD = True  # CUPTI's
QUEUES_ENV = "CUDA_DEVICE_MAX_CONNECTIONS"


def detect() -> tuple[Device, ...]:
    """The GPUs that the driver lists, in its order; () without a driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        return tuple(_describe(index) for index in _visible(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


def _visible(count: int) -> list[int]:
    """The GPUs selected by CUDA_VISIBLE_DEVICES, in its order; like CUDA, it stops at the first invalid entry."""
    chosen = os.environ.get(VISIBLE_ENV)
    if chosen is None:
        return list(range(count))
    visible: list[int] = []
    for word in chosen.split(","):
        index = _index_of(word.strip(), count)
        if index is None:
            break
        visible.append(index)
    return visible


def _index_of(word: str, count: int) -> int | None:
    import pynvml

    if word.isdecimal():
        return int(word) if int(word) < count else None
    found = (i for i in range(count) if word and str(pynvml.nvmlDeviceGetUUID(_handle(i))).startswith(word))
    return next(found, None)


def _handle(index: int) -> Any:  # Any: NVML's own handle
    import pynvml

    return pynvml.nvmlDeviceGetHandleByIndex(index)


def _describe(index: int) -> Device:
    import pynvml

    handle = _handle(index)
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return Device(
        platform=NAME,
        index=index,
        name=str(pynvml.nvmlDeviceGetName(handle)),
        target=f"sm_{major}{minor}",
        memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
        driver=str(pynvml.nvmlSystemGetDriverVersion()),
    )
