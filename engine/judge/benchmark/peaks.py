"""Measured peaks of this device: copy bandwidth, and matrix multiplication in each precision.

Roofline times are computed from these numbers, so they are the best of several rounds on random content: a peak that is
too low would call an honest kernel impossible.  Nothing here is taken from a data sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import torch

from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError

Timer: TypeAlias = Callable[[Callable[[], object], int], float]
"""Seconds on the device for this number of consecutive calls of the function."""

_WARM_UP_S = 0.1
_ROUND_S = 0.1
_ROUNDS = 3
_COPY_BYTES = 1 << 30
_LEAST_CACHES = 8
_LARGEST_SHARE = 4  # of the free memory, a quarter for one buffer
_LEAST_SIDE = 1024
_TF32_SINCE = (8, 0)


@dataclass(frozen=True, kw_only=True)
class MeasuredPeaks:
    """Bytes read plus bytes written a second, and operations a second by precision.

    A precision that the device does not support is absent.
    """

    copy_bytes_per_s: float
    flops_per_s: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "flops_per_s", MappingProxyType(dict(self.flops_per_s)))


@dataclass(frozen=True, kw_only=True)
class Precision:
    """One way to multiply matrices: `side` is their number of rows and columns."""

    name: str
    dtype: torch.dtype
    side: int
    tf32: bool = False


PRECISIONS = (
    Precision(name="float64", dtype=torch.float64, side=4096),
    Precision(name="float32", dtype=torch.float32, side=4096),
    Precision(name="tf32", dtype=torch.float32, side=8192, tf32=True),
    Precision(name="float16", dtype=torch.float16, side=8192),
    Precision(name="bfloat16", dtype=torch.bfloat16, side=8192),
)


def measure_peaks(device: torch.device, *, timer: Timer) -> MeasuredPeaks:
    """The peaks of a GPU that no other process uses; its memory is released afterwards.

    Raises:
        UnsupportedError: it is not a GPU, has too little free memory, or its timer measures no time.
    """
    if runtime_of(device).EXECUTED_ON_CPU:
        raise UnsupportedError(f"peaks are measured on a GPU only; this device is {device.type}")
    properties = torch.cuda.get_device_properties(device)
    free_bytes, _ = torch.cuda.mem_get_info(device)
    bytes_to_copy = copy_size(cache_bytes=properties.L2_cache_size, free_bytes=free_bytes)
    has_tf32 = torch.version.hip is not None or (properties.major, properties.minor) >= _TF32_SINCE
    # cuBLAS keeps its workspace.  Made later, it would be part of a buffer's segment, which then cannot be released.
    torch.mm(*torch.ones((2, 64, 64), device=device))
    try:
        return MeasuredPeaks(
            copy_bytes_per_s=copy_rate(device, bytes_to_copy, timer=timer),
            flops_per_s={
                precision.name: product_rate(device, precision, side_within(precision, free_bytes), timer=timer)
                for precision in PRECISIONS
                if has_tf32 or not (precision.tf32 or precision.dtype is torch.bfloat16)
            },
        )
    finally:
        torch.cuda.empty_cache()


def event_timer(device: torch.device) -> Timer:
    """A timer of events on the device's current stream."""

    def seconds(work: Callable[[], object], calls: int) -> float:
        with torch.cuda.device(device):
            began = torch.cuda.Event(enable_timing=True)
            ended = torch.cuda.Event(enable_timing=True)
            began.record()
            for _ in range(calls):
                work()
            ended.record()
            ended.synchronize()
        return float(began.elapsed_time(ended)) / 1e3

    return seconds


def copy_size(*, cache_bytes: int, free_bytes: int) -> int:
    """Bytes to copy: 1 GiB, more if the cache is large, less if memory is short.

    Raises:
        UnsupportedError: a quarter of the free memory is less than eight times the cache.
    """
    least_bytes = _LEAST_CACHES * cache_bytes
    most_bytes = free_bytes // _LARGEST_SHARE
    if most_bytes < least_bytes:
        raise UnsupportedError(
            f"the copy bandwidth cannot be measured: a buffer of {least_bytes} bytes is needed to get past the cache, "
            f"and only {free_bytes} bytes are free; stop other programs on the device"
        )
    return min(max(_COPY_BYTES, least_bytes), most_bytes)


def side_within(precision: Precision, free_bytes: int) -> int:
    """Side length of the three matrices of a product, halved until they fit in a quarter of the free memory.

    Raises:
        UnsupportedError: not even small ones fit.
    """
    side = precision.side
    while 3 * side * side * precision.dtype.itemsize > free_bytes // _LARGEST_SHARE:
        side //= 2
    if side < _LEAST_SIDE:
        raise UnsupportedError(
            f"the {precision.name} peak cannot be measured with {free_bytes} bytes free; "
            "stop other programs on the device"
        )
    return side


def copy_rate(device: torch.device, bytes_to_copy: int, *, timer: Timer) -> float:
    """Bytes read plus bytes written a second."""
    source = torch.empty(bytes_to_copy // 8, dtype=torch.int64, device=device).random_()
    destination = torch.empty_like(source)
    return 2 * source.nbytes / best_call_s(lambda: destination.copy_(source), timer=timer)


def product_rate(device: torch.device, precision: Precision, side: int, *, timer: Timer) -> float:
    """Multiplications and additions a second."""
    left, right = (torch.randn((side, side), dtype=precision.dtype, device=device) for _ in range(2))
    out = torch.empty_like(left)
    with _tf32(precision.tf32):
        return 2 * side**3 / best_call_s(lambda: torch.mm(left, right, out=out), timer=timer)


def best_call_s(work: Callable[[], object], *, timer: Timer) -> float:
    """The shortest mean time of a call over rounds of 100 ms each, after 100 ms of warming up.

    Raises:
        UnsupportedError: the timer measures no time.
    """
    calls, warmed_s = 1, 0.0
    timer(work, calls)  # the first call loads the kernel, which says nothing about its speed
    while warmed_s < _WARM_UP_S:
        took_s = timer(work, calls)
        if took_s <= 0:
            raise UnsupportedError(f"the device's timer measured {took_s} s for {calls} calls; expected more than 0 s")
        warmed_s += took_s
        call_s = took_s / calls
        calls = max(1, math.ceil(_ROUND_S / call_s))
    return min(timer(work, calls) for _ in range(_ROUNDS)) / calls


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    """Context in which products of float32 matrices round their inputs to TF32, or do not."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
