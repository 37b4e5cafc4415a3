"""Peaks: the arithmetic, the warm-up and the refusals, with a timer that is told what to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from engine.errors import UnsupportedError
from engine.judge.benchmark import peaks
from engine.judge.benchmark.peaks import PRECISIONS, Precision, measure_peaks
from engine.model.benchmark import Peaks

CPU = torch.device("cpu")
GIB = 1 << 30
MIB = 1 << 20


class ScriptedTimer:
    """Says that every call takes `call_s`, or the next of several; runs the work once, and keeps its result."""

    def __init__(self, *call_s: float) -> None:
        self._call_s = iter(call_s) if len(call_s) > 1 else None
        self._always_s = call_s[0]
        self.rounds: list[int] = []
        self.result: object = None
        self.tf32: bool | None = None

    def __call__(self, work: Callable[[], object], calls: int) -> float:
        self.rounds.append(calls)
        self.result = work()
        self.tf32 = torch.backends.cuda.matmul.allow_tf32
        return calls * (self._always_s if self._call_s is None else next(self._call_s))


def precision(name: str) -> Precision:
    return next(precision for precision in PRECISIONS if precision.name == name)


@pytest.fixture(params=[False, True], ids=["TF32 was off", "TF32 was on"])
def tf32_before(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = request.param
    yield request.param
    torch.backends.cuda.matmul.allow_tf32 = before


def test_copy_counts_bytes_read_and_bytes_written() -> None:
    assert peaks.copy_rate(CPU, 4096, timer=ScriptedTimer(0.5)) == 2 * 4096 / 0.5


def test_product_counts_two_operations_per_term() -> None:
    assert peaks.product_rate(CPU, precision("bfloat16"), 16, timer=ScriptedTimer(0.25)) == 2 * 16**3 / 0.25


def test_the_content_is_random() -> None:
    timer = ScriptedTimer(0.5)
    peaks.copy_rate(CPU, 4096, timer=timer)
    assert isinstance(timer.result, torch.Tensor)
    assert len(timer.result.unique()) == 512
    peaks.product_rate(CPU, precision("float32"), 16, timer=timer)
    assert len(timer.result.unique()) > 200


@pytest.mark.parametrize("name", [precision.name for precision in PRECISIONS])
def test_tf32_is_enabled_for_its_peak_only(tf32_before: bool, name: str) -> None:
    timer = ScriptedTimer(0.25)
    peaks.product_rate(CPU, precision(name), 16, timer=timer)
    assert (timer.tf32, torch.backends.cuda.matmul.allow_tf32) == (name == "tf32", tf32_before)


def test_tf32_is_put_back_when_the_measurement_fails(tf32_before: bool) -> None:
    def failing(work: Callable[[], object], calls: int) -> float:
        raise RuntimeError("the device is gone")

    with pytest.raises(RuntimeError, match="the device is gone"):
        peaks.product_rate(CPU, precision("tf32"), 16, timer=failing)
    assert torch.backends.cuda.matmul.allow_tf32 == tf32_before


def test_the_peak_is_the_best_round() -> None:
    timer = ScriptedTimer(9.0, 0.25, 0.5, 0.125, 0.25)
    assert peaks.best_call_s(lambda: None, timer=timer) == 0.125


def test_first_call_is_discarded_and_warmup_is_timed() -> None:
    timer = ScriptedTimer(2**-8)
    peaks.best_call_s(lambda: None, timer=timer)
    # One call that loads the kernel, one that sizes a round, and a round of a tenth of a second; then three rounds.
    assert timer.rounds == [1, 1, 26, 26, 26, 26]


def test_slow_device_is_warmed_no_longer_than_needed() -> None:
    timer = ScriptedTimer(0.5)
    peaks.best_call_s(lambda: None, timer=timer)
    assert timer.rounds == [1, 1, 1, 1, 1]


def test_timer_without_elapsed_time_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"the device's timer measured 0\.0 s for 1 calls"):
        peaks.best_call_s(lambda: None, timer=ScriptedTimer(0.0))


@pytest.mark.parametrize(
    ("cache_bytes", "free_bytes", "expected"),
    [(50 * MIB, 79 * GIB, GIB), (256 * MIB, 79 * GIB, 2 * GIB), (50 * MIB, 2 * GIB, GIB // 2), (0, 2 * GIB, GIB // 2)],
    ids=["1 GiB", "a large cache", "short of memory", "no cache"],
)
def test_copy_exceeds_cache_and_fits_in_memory(cache_bytes: int, free_bytes: int, expected: int) -> None:
    assert peaks.copy_size(cache_bytes=cache_bytes, free_bytes=free_bytes) == expected


def test_copy_that_fits_in_cache_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=f"a buffer of {400 * MIB} bytes is needed.* only {GIB} bytes are free"):
        peaks.copy_size(cache_bytes=50 * MIB, free_bytes=GIB)


@pytest.mark.parametrize(
    ("name", "free_bytes", "expected"),
    [("bfloat16", 79 * GIB, 8192), ("float64", 79 * GIB, 4096), ("tf32", 2 * GIB, 4096)],
)
def test_matrices_are_halved_until_they_fit(name: str, free_bytes: int, expected: int) -> None:
    assert peaks.side_within(precision(name), free_bytes) == expected


def test_matrices_too_small_for_device_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=f"the float64 peak cannot be measured with {64 * MIB} bytes free"):
        peaks.side_within(precision("float64"), 64 * MIB)


def test_a_cpu_has_no_peaks() -> None:
    with pytest.raises(UnsupportedError, match="peaks are measured on a GPU only; this device is cpu"):
        measure_peaks(CPU, timer=ScriptedTimer(1.0))


def test_precisions_are_those_of_the_roofline() -> None:
    assert [precision.name for precision in PRECISIONS] == ["float64", "float32", "tf32", "float16", "bfloat16"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="peaks are measured on a GPU; there is none here")
def test_gpu_peaks_are_ordered_by_precision() -> None:
    device = torch.device("cuda:0")
    reserved_before = torch.cuda.memory_reserved(device)
    measured = measure_peaks(device, timer=peaks.event_timer(device))
    record = Peaks(
        device_name="",
        driver="",
        versions="",
        copy_bytes_per_s=measured.copy_bytes_per_s,
        flops_per_s=measured.flops_per_s,
        measured_at="",
    )
    assert record.copy_bytes_per_s > 0
    assert set(record.flops_per_s) >= {"float64", "float32", "float16"}
    assert record.flops_per_s["float16"] > record.flops_per_s["float32"] > 0
    # What stays is cuBLAS's workspace; one buffer of the copy alone would be a gigabyte.
    assert torch.cuda.memory_reserved(device) - reserved_before < 256 * MIB
