"""The least time that a device needs for a case, and findings on times below it.

The roofline time is the larger of two times: moving the least bytes at the measured copy bandwidth, and doing the least
operations at the measured peak of the precision that the problem permits.  It must never be higher than what an honest
kernel can reach, so a peak that was not measured makes no bound; no number of a data sheet is used instead.  Bytes that
need not reach the memory while a call is timed do not count either: outputs may stay in the second-level cache, as far
as they fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engine.model import CacheState, Cost, DType, Finding, Severity
from engine.model.benchmark import Bound, Floor, Peaks

CHECK = "faster_than_physics"
SUSPECT_BELOW = 0.9
"""Share of the roofline time below which a time is SUSPECT and not only a HINT.

The bandwidth of a copy differs from that of reading alone, and matrix products do not quite reach the peak.
"""
COLD_ROTATION = 5
"""Input sets that total this many times the second-level cache leave nothing in it for the next turn."""

_PRECISION = {DType.COMPLEX64: "float32", DType.COMPLEX128: "float64"}
_PASSES: Mapping[str, Mapping[str, int]] = {"float32": {"tf32": 3, "float16": 3, "bfloat16": 6}}
"""Number of products of a shorter type that together are as exact as the permitted type."""


def permitted_precision(dtype: DType) -> str:
    """The precision in which a problem of `dtype` may be computed, as `Peaks.flops_per_s` names it.

    float32 is float32: TensorFloat-32 keeps ten bits of the mantissa and is refused by the tolerances. A complex type
    is computed in that of its parts.  Integers and booleans keep their own names, under which no peak is measured: they
    have no compute bound.

    The problem's category makes no difference.  Only matrix products can use tensor cores, and every peak is that of a
    matrix product; for any other problem it is more than its operations can reach, so the bound is too low there, which
    is the safe side.
    """
    return _PRECISION.get(dtype, dtype.value)


def floor_of(
    cost: Cost, peaks: Peaks, precision: str, device_us: float | None, *, l2_bytes: int | None, cache: CacheState
) -> Floor:
    """The roofline time of a case on the device with these peaks, and its percentage of `device_us`.

    `peak_flops_per_s` of None means that no peak was measured for this precision and that only the bytes count.  Those
    are the bytes read, less those that a warm cache may hold, and the bytes written that do not fit into the
    second-level cache: none while its size is unknown.

    Raises:
        ValueError: an impossible peak or time.
    """
    _refuse_impossible(peaks, device_us)
    peak = peaks.flops_per_s.get(precision)
    memory_us = _microseconds(_least_moved(cost, l2_bytes, cache), peaks.copy_bytes_per_s)
    compute_us = _microseconds(cost.flops, peak)
    floor_us = max(memory_us, compute_us)
    return Floor(
        floor_us=floor_us,
        bound=Bound.COMPUTE if compute_us > memory_us else Bound.MEMORY,
        bandwidth_bytes_per_s=peaks.copy_bytes_per_s,
        peak_flops_per_s=peak,
        precision=precision,
        percent=None if device_us is None else 100.0 * floor_us / device_us,
    )


def faster_than_physics(
    case: str,
    cost: Cost,
    peaks: Peaks,
    precision: str,
    *,
    device_us: float,
    resident_bytes: int,
    l2_bytes: int | None,
    cache: CacheState,
) -> Finding | None:
    """SUSPECT when no honest kernel can be this fast, HINT below the displayed roofline time.

    `resident_bytes` is the total that rotates through the timed calls.  For SUSPECT nothing is assumed, including the
    emptying of the cache: only bytes that must come from memory count.  With a warm cache none do, with buffers that
    fit into the second-level cache (or a cache of unknown size) none, below COLD_ROTATION times its size the share that
    cannot be left in it.  And operations count at the fastest way to the permitted precision: three passes of
    TensorFloat-32 are as exact as float32.

    Honest code below a naive bound: an algorithm that needs fewer operations than the problem counts (Strassen,
    Winograd, a sum pulled through a product), float64 emulated on integer units, and inputs with structure.  None of it
    lowers the bytes that have to be read.

    Raises:
        ValueError: an impossible peak or time.
    """
    _refuse_impossible(peaks, device_us)
    moved = _least_moved(cost, l2_bytes, cache)
    shown_us, why_shown = _floor(moved, cost.flops, peaks, peaks.flops_per_s.get(precision))
    from_memory = _share_from_memory(resident_bytes, l2_bytes, cache)
    written = _beyond(cost.bytes_written, l2_bytes) if from_memory else 0
    strict_us, why_strict = _floor(
        from_memory * cost.bytes_read + written, cost.flops, peaks, _fastest_way(peaks, precision)
    )
    if device_us < SUSPECT_BELOW * strict_us:
        message = (
            f"took {device_us:.4g} us, but this device needs {strict_us:.4g} us {why_strict}; "
            "look for work that is skipped, cached or done outside of the call"
        )
        return Finding(check=CHECK, severity=Severity.SUSPECT, message=message, case=case)
    if device_us < shown_us:
        message = (
            f"took {device_us:.4g} us, {100 * device_us / shown_us:.0f} % of the {shown_us:.4g} us "
            f"that this device needs {why_shown}; measure the device's peaks again, then look at the kernel"
        )
        return Finding(check=CHECK, severity=Severity.HINT, message=message, case=case)
    return None


def _floor(moved_bytes: float, flops: int, peaks: Peaks, peak: float | None) -> tuple[float, str]:
    """The larger of both times in microseconds, and its cause."""
    memory_us = _microseconds(moved_bytes, peaks.copy_bytes_per_s)
    compute_us = _microseconds(flops, peak)
    if peak is not None and compute_us > memory_us:
        return compute_us, f"for {flops / 1e9:.4g} GFLOP at the measured {peak / 1e12:.3g} TFLOP/s"
    bandwidth = f"{peaks.copy_bytes_per_s / 1e9:.4g} GB/s"
    return memory_us, f"to move {moved_bytes / 1e6:.4g} MB at the measured {bandwidth}"


def _least_moved(cost: Cost, l2_bytes: int | None, cache: CacheState) -> int:
    """The bytes moved between memory and the cache, which is empty before the call if `cache` is COLD."""
    read = cost.bytes_read if cache is CacheState.COLD else _beyond(cost.bytes_read, l2_bytes)
    return read + _beyond(cost.bytes_written, l2_bytes)


def _beyond(amount_bytes: int, l2_bytes: int | None) -> int:
    """Bytes beyond the size of the second-level cache; 0 while its size is unknown."""
    return 0 if l2_bytes is None else max(0, amount_bytes - l2_bytes)


def _share_from_memory(resident_bytes: int, l2_bytes: int | None, cache: CacheState) -> float:
    """The least share of the bytes read that cannot be in the second-level cache when a call begins."""
    if cache is CacheState.WARM or l2_bytes is None or resident_bytes <= l2_bytes:
        return 0.0
    return 1.0 if resident_bytes >= COLD_ROTATION * l2_bytes else 1.0 - l2_bytes / resident_bytes


def _fastest_way(peaks: Peaks, precision: str) -> float | None:
    """Operations a second of the fastest measured way to `precision`; None if its own peak is unknown."""
    own = peaks.flops_per_s.get(precision)
    if own is None:
        return None
    passes = _PASSES.get(precision, {})
    return max((own, *(peaks.flops_per_s.get(name, 0.0) / count for name, count in passes.items())))


def _microseconds(amount: float, per_second: float | None) -> float:
    """Time for `amount`; 0.0 if the rate was not measured: it then bounds nothing."""
    return 0.0 if per_second is None else amount / per_second * 1e6


def _refuse_impossible(peaks: Peaks, device_us: float | None) -> None:
    rates = {"copy_bytes_per_s": peaks.copy_bytes_per_s, **peaks.flops_per_s}
    for name, rate in rates.items():
        if not (math.isfinite(rate) and rate > 0):
            raise ValueError(f"the peaks of {peaks.device_name} have {name} = {rate}; measure them again")
    if device_us is not None and not (math.isfinite(device_us) and device_us > 0):
        raise ValueError(f"a device time is finite and above zero, got {device_us} us")
