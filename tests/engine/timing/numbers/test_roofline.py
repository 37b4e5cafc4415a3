"""Bytes and operations against measured peaks: the floor, and what is under it."""

from __future__ import annotations

import dataclasses
import math

import pytest

from engine.model import CacheState, Cost, DType, Finding, Severity
from engine.model.benchmark import Bound, Floor, Peaks
from engine.timing.numbers.roofline import CHECK, faster_than_physics, floor_of, permitted_precision

PEAKS = Peaks(
    device_name="a device",
    driver="1",
    versions="torch 1",
    copy_bytes_per_s=1e12,
    flops_per_s={"float32": 50e12, "tf32": 300e12, "bfloat16": 600e12, "float64": 60e12},
    measured_at="2025-01-01T00:00:00Z",
)
MEGABYTES = 1_000_000
COPY = Cost(flops=0, bytes_read=500 * MEGABYTES, bytes_written=550 * MEGABYTES)  # 1000 us: 50 MB stay in the cache
PRODUCT = Cost(flops=50_000_000_000, bytes_read=2 * MEGABYTES, bytes_written=1 * MEGABYTES)  # 1000 us in float32
L2_BYTES = 50 * MEGABYTES


def found(
    cost: Cost,
    device_us: float,
    *,
    precision: str = "float32",
    resident_bytes: int = 5 * L2_BYTES,
    l2_bytes: int | None = L2_BYTES,
    cache: CacheState = CacheState.COLD,
    peaks: Peaks = PEAKS,
) -> Finding | None:
    return faster_than_physics(
        "a case",
        cost,
        peaks,
        precision,
        device_us=device_us,
        resident_bytes=resident_bytes,
        l2_bytes=l2_bytes,
        cache=cache,
    )


def floor(
    cost: Cost,
    device_us: float | None,
    *,
    precision: str = "float32",
    peaks: Peaks = PEAKS,
    l2_bytes: int | None = L2_BYTES,
    cache: CacheState = CacheState.COLD,
) -> Floor:
    return floor_of(cost, peaks, precision, device_us, l2_bytes=l2_bytes, cache=cache)


def severity(cost: Cost, device_us: float, **circumstances: object) -> Severity | None:
    finding = found(cost, device_us, **circumstances)  # type: ignore[arg-type]
    return finding.severity if finding else None


# The floor.


def test_case_moving_mostly_bytes_is_memory_bound() -> None:
    assert floor(COPY, 2000.0) == Floor(
        floor_us=1000.0,
        bound=Bound.MEMORY,
        bandwidth_bytes_per_s=1e12,
        peak_flops_per_s=50e12,
        precision="float32",
        percent=50.0,
    )


def test_case_computing_mostly_is_compute_bound() -> None:
    found = floor(PRODUCT, 1250.0)
    assert found.bound is Bound.COMPUTE
    assert (found.floor_us, found.percent) == pytest.approx((1000.0, 80.0))


def test_the_permitted_precision_decides_which_peak_counts() -> None:
    found = floor(PRODUCT, None, precision="bfloat16")
    assert (found.peak_flops_per_s, found.precision) == (600e12, "bfloat16")
    assert found.floor_us == pytest.approx(1000.0 / 12)


def test_roofline_without_measured_peak_counts_bytes_only() -> None:
    found = floor(PRODUCT, None, precision="float16")
    assert (found.bound, found.floor_us, found.peak_flops_per_s) == (Bound.MEMORY, 2.0, None)


def test_untimed_case_has_roofline_without_percentage() -> None:
    assert floor(COPY, None).percent is None


def test_an_empty_case_has_a_floor_of_nothing() -> None:
    found = floor(Cost(flops=0, bytes_read=0, bytes_written=0), 2.0)
    assert (found.floor_us, found.bound, found.percent) == (0.0, Bound.MEMORY, 0.0)


def test_written_bytes_count_only_beyond_the_cache() -> None:
    doubling = Cost(flops=0, bytes_read=13 * MEGABYTES, bytes_written=13 * MEGABYTES)
    assert floor(doubling, None).floor_us == pytest.approx(13.0)
    assert floor(doubling, None, l2_bytes=10 * MEGABYTES).floor_us == pytest.approx(16.0)
    assert floor(doubling, None, l2_bytes=None).floor_us == pytest.approx(13.0)


def test_bytes_in_warm_cache_need_no_read() -> None:
    assert floor(PRODUCT, None, precision="float16", cache=CacheState.WARM).floor_us == 0.0
    assert floor(COPY, None, cache=CacheState.WARM).floor_us == pytest.approx(950.0)


def test_time_below_roofline_exceeds_hundred_percent() -> None:
    assert floor(COPY, 500.0).percent == 200.0


@pytest.mark.parametrize("device_us", [0.0, -1.0, math.nan, math.inf])
def test_invalid_device_time_is_refused(device_us: float) -> None:
    with pytest.raises(ValueError, match=f"above zero, got {device_us} us"):
        floor(COPY, device_us)
    with pytest.raises(ValueError, match=f"above zero, got {device_us} us"):
        found(COPY, device_us)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_impossible_peaks_are_refused(rate: float) -> None:
    for peaks in (
        dataclasses.replace(PEAKS, copy_bytes_per_s=rate),
        dataclasses.replace(PEAKS, flops_per_s={"tf32": rate}),
    ):
        with pytest.raises(ValueError, match=f"the peaks of a device have .* = {rate}; measure them again"):
            floor(COPY, None, peaks=peaks)


@pytest.mark.parametrize(
    ("dtype", "precision"),
    [
        (DType.FLOAT64, "float64"),
        (DType.FLOAT32, "float32"),
        (DType.FLOAT16, "float16"),
        (DType.BFLOAT16, "bfloat16"),
        (DType.COMPLEX64, "float32"),
        (DType.COMPLEX128, "float64"),
    ],
)
def test_problem_may_compute_in_precision_of_dtype(dtype: DType, precision: str) -> None:
    assert permitted_precision(dtype) == precision


@pytest.mark.parametrize("dtype", [DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8, DType.BOOL])
def test_integers_have_no_compute_floor(dtype: DType) -> None:
    found = floor(PRODUCT, None, precision=permitted_precision(dtype))
    assert (found.bound, found.peak_flops_per_s) == (Bound.MEMORY, None)


# Under the floor.


@pytest.mark.parametrize(
    ("device_us", "expected"),
    [
        (10.0, Severity.SUSPECT),
        (890.0, Severity.SUSPECT),
        (910.0, Severity.HINT),
        (999.0, Severity.HINT),
        (1000.0, None),
        (9000.0, None),
    ],
)
def test_time_far_below_memory_roofline_is_suspect(device_us: float, expected: Severity | None) -> None:
    assert severity(COPY, device_us) is expected


@pytest.mark.parametrize(
    ("device_us", "expected"), [(74.0, Severity.SUSPECT), (76.0, Severity.HINT), (83.0, Severity.HINT), (84.0, None)]
)
def test_time_far_below_compute_roofline_is_suspect(device_us: float, expected: Severity | None) -> None:
    assert severity(PRODUCT, device_us, precision="bfloat16") is expected  # 83.3 us


def test_the_finding_names_its_case_and_both_times() -> None:
    finding = found(COPY, 400.0)
    assert finding is not None
    assert (finding.check, finding.case) == (CHECK, "a case")
    assert "took 400 us, but this device needs 1000 us to move 1000 MB at the measured 1000 GB/s" in finding.message


def test_compute_roofline_finding_names_the_peak() -> None:
    finding = found(PRODUCT, 10.0, precision="bfloat16")
    assert finding is not None
    assert "needs 83.33 us for 50 GFLOP at the measured 600 TFLOP/s" in finding.message


def test_hint_states_distance_below_roofline() -> None:
    finding = found(COPY, 960.0)
    assert finding is not None
    assert "took 960 us, 96 % of the 1000 us that this device needs to move 1000 MB" in finding.message


def test_bytes_with_warm_cache_raise_no_suspicion() -> None:
    assert severity(COPY, 1000.0, cache=CacheState.WARM) is None
    assert severity(COPY, 1.0, cache=CacheState.WARM) is Severity.HINT


def test_buffers_fitting_the_cache_raise_no_suspicion() -> None:
    assert severity(COPY, 1.0, resident_bytes=L2_BYTES) is Severity.HINT


def test_unknown_cache_size_raises_no_suspicion() -> None:
    assert severity(COPY, 1.0, l2_bytes=None) is Severity.HINT


def test_compute_roofline_holds_without_memory_roofline() -> None:
    assert severity(PRODUCT, 10.0, precision="bfloat16", cache=CacheState.WARM) is Severity.SUSPECT
    assert severity(PRODUCT, 10.0, precision="bfloat16", resident_bytes=L2_BYTES) is Severity.SUSPECT
    assert severity(PRODUCT, 10.0, precision="bfloat16", l2_bytes=None) is Severity.SUSPECT


def test_few_rotating_buffers_count_only_beyond_cache() -> None:
    reading = Cost(flops=0, bytes_read=1000 * MEGABYTES, bytes_written=0)
    assert severity(reading, 460.0, resident_bytes=2 * L2_BYTES) is Severity.HINT  # half: 500 us
    assert severity(reading, 440.0, resident_bytes=2 * L2_BYTES) is Severity.SUSPECT
    assert severity(reading, 1000.0, resident_bytes=2 * L2_BYTES) is None


def test_last_written_bytes_may_stay_in_cache() -> None:
    writing = Cost(flops=0, bytes_read=0, bytes_written=L2_BYTES)
    assert severity(writing, 1.0) is None
    twice = Cost(flops=0, bytes_read=0, bytes_written=2 * L2_BYTES)
    assert severity(twice, 46.0) is Severity.HINT
    assert severity(twice, 44.0) is Severity.SUSPECT


def test_three_tensor_core_passes_count_as_float32() -> None:
    assert severity(PRODUCT, 520.0) is Severity.HINT  # tf32 / 3: 500 us
    assert severity(PRODUCT, 440.0) is Severity.SUSPECT


def test_one_pass_of_shorter_type_is_suspect() -> None:
    assert severity(PRODUCT, 1000.0 / 6) is Severity.SUSPECT  # tf32


def test_compute_roofline_needs_its_own_measured_peak() -> None:
    peaks = dataclasses.replace(PEAKS, flops_per_s={"tf32": 300e12})
    assert severity(PRODUCT, 3.1, peaks=peaks) is None


def test_an_empty_case_is_never_too_fast() -> None:
    assert severity(Cost(flops=0, bytes_read=0, bytes_written=0), 0.5) is None
