"""A candidate's own tuner: it takes what runs while cases are verified, and measures as it likes before it is timed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources

from engine.worker.launches import tuning as tuning_module
from engine.worker.launches.tuning import Tuning

Bench = Callable[..., list[float]]


def patient(kernel_call: Callable[[], object], quantiles: object = None) -> list[float]:
    """The candidate's own way to measure."""
    return [1.0, 1.0, 1.0]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How Triton's own measuring was called; its tuner is put back afterwards."""
    calls: list[dict[str, Any]] = []

    def do_bench(kernel_call: Callable[[], object], **kwargs: Any) -> list[float]:
        calls.append(kwargs)
        return [2.0, 2.0, 2.0]

    monkeypatch.setattr(Autotuner, "__init__", Autotuner.__init__)
    monkeypatch.setattr(Autotuner, "do_bench", vars(Autotuner)["do_bench"])
    monkeypatch.setattr(Autotuner, "prune_configs", Autotuner.prune_configs)
    monkeypatch.setattr(triton.testing, "do_bench", do_bench)
    return calls


def tuner_of_the_candidate(bench: Bench = patient, *, cache_results: bool = False) -> Autotuner:
    configs = [triton.Config({}, num_warps=count) for count in (4, 8)]

    @triton.autotune(configs=configs, key=["n"], do_bench=bench, cache_results=cache_results)
    @triton.jit
    def kernel(x, n):
        pass

    assert isinstance(kernel, Autotuner)
    return kernel


class Launches:
    """Stands for a kernel that a tuner launches; it does not run with the warps in `broken`."""

    def __init__(self, *broken: int) -> None:
        self.warps: list[int] = []
        self._broken = broken

    def run(self, *args: object, num_warps: int, **kwargs: object) -> None:
        self.warps.append(num_warps)
        if num_warps in self._broken:
            raise OutOfResources(required=2, limit=1, name="shared memory")


def launched_by(tuner: Autotuner, *broken: int, calls: tuple[int, ...]) -> list[int]:
    """The warps of every launch when the tuner is called with each of these."""
    tuner.fn = launches = Launches(*broken)
    for number in calls:
        tuner.run(None, number, grid=(1,), warmup=False)
    return launches.warps


@pytest.mark.parametrize(("broken", "warps"), [((), [4, 4]), ((4,), [4, 8, 8])])
def test_tuner_takes_first_working_configuration_while_verifying(
    measured: list[dict[str, Any]], broken: tuple[int, ...], warps: list[int]
) -> None:
    Tuning()
    assert launched_by(tuner_of_the_candidate(), *broken, calls=(1,)) == warps
    assert measured == []


def test_tuner_runs_for_each_key(measured: list[dict[str, Any]]) -> None:
    Tuning()
    assert launched_by(tuner_of_the_candidate(), 4, calls=(1, 1, 2)) == [4, 8, 8, 8, 4, 8, 8]


def test_choice_without_measuring_is_reported(measured: list[dict[str, Any]]) -> None:
    chosen: list[tuple[str, int]] = []
    Tuning(lambda function, count: chosen.append((function.__name__, count)))
    launched_by(tuner_of_the_candidate(), calls=(1, 1, 2))
    assert chosen == [("kernel", 2), ("kernel", 2)]


def test_tuner_measures_as_requested_before_timing(measured: list[dict[str, Any]]) -> None:
    tuning = Tuning()
    tuner = tuner_of_the_candidate()
    tuning.start_measuring()
    assert tuner.do_bench(lambda: None) == [1.0, 1.0, 1.0]
    assert measured == []


def test_brief_choices_are_forgotten_and_measured_ones_kept(
    measured: list[dict[str, Any]],
) -> None:
    tuning = Tuning()
    tuners = [tuner_of_the_candidate(), tuner_of_the_candidate()]
    for tuner in tuners:
        tuner.cache[(1,)] = tuner.configs[0]
    tuning.start_measuring()
    assert [tuner.cache for tuner in tuners] == [{}, {}]
    tuners[0].cache[(1,)] = tuners[0].configs[1]
    tuning.start_measuring()
    assert tuners[0].cache == {(1,): tuners[0].configs[1]}


def test_brief_choice_is_not_cached_on_disk(measured: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.knobs.autotuning, "cache", True)
    assert tuner_of_the_candidate(cache_results=True).cache_results
    Tuning()
    tuners = [tuner_of_the_candidate(cache_results=asked) for asked in (False, True)]
    assert [tuner.cache_results for tuner in tuners] == [False, False]


def test_tuner_made_later_measures_like_the_others(measured: list[dict[str, Any]]) -> None:
    tuning = Tuning()
    tuning.start_measuring()
    assert tuner_of_the_candidate().do_bench(lambda: None) == [1.0, 1.0, 1.0]


def test_deleted_tuner_is_not_kept_alive(measured: list[dict[str, Any]]) -> None:
    tuning = Tuning()
    gone = weakref.ref(tuner_of_the_candidate())
    tuning.start_measuring()
    assert gone() is None


def test_tuner_can_be_brief_again_and_keeps_choices(measured: list[dict[str, Any]]) -> None:
    tuning = Tuning()
    tuner = tuner_of_the_candidate()
    tuning.start_measuring()
    tuner.cache[("n",)] = tuner.configs[0]
    tuning.stop_measuring()
    assert launched_by(tuner, calls=(1,)) == [4, 4]
    assert ("n",) in tuner.cache


def test_verification_runs_smallest_configuration(measured: list[dict[str, Any]]) -> None:
    tuning = Tuning()
    sizes = {1: 256, 2: 64, 4: 128, 8: 512, 16: 1024}  # by warps
    configs = [triton.Config({"BLOCK": size}, num_warps=warps) for warps, size in sizes.items()]
    tuner = Autotuner.__new__(Autotuner)
    tuner.__init__(_kernel(), ["x", "n"], configs, ["n"], None, None, do_bench=patient)
    assert launched_by(tuner, calls=(1,)) == [2, 2]
    assert launched_by(tuner, 2, calls=(2,)) == [2, 4, 4]
    tuning.start_measuring()
    assert [config.num_warps for config in tuner.prune_configs({})] == [1, 2, 4, 8, 16]


def test_spent_budget_skips_the_rest_of_grid(measured: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(100))
    monkeypatch.setattr(tuning_module, "_clock", lambda: float(next(seconds)))
    configs = [triton.Config({}, num_warps=count) for count in (1, 2, 4, 8)]

    def bench(kernel_call: Callable[[], object], quantiles: object = None) -> list[float]:
        kernel_call()
        return [1.0, 1.0, 1.0]

    tuning = Tuning()
    tuner = Autotuner.__new__(Autotuner)
    tuner.__init__(_kernel(), ["x", "n"], configs, ["n"], None, None, do_bench=bench)
    tuning.start_measuring(2.0)
    tuner.fn = launches = Launches()
    tuner.run(None, 1, grid=(1,), warmup=False)
    assert launches.warps == [1, 2, 1]
    assert tuning.note == "its autotuner tried 2 of 4 configurations within 2 s"
    tuner.run(None, 2, grid=(1,), warmup=False)  # another choice: one is measured, whatever was spent
    assert launches.warps[3:] == [1, 1]
    tuning.start_measuring(2.0)
    assert tuning.note == ""


def test_measurement_is_shortened_for_large_grid(
    measured: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning = Tuning()
    tuning.start_measuring(3.0)
    configs = [triton.Config({}, num_warps=4)] * 30
    tuner = Autotuner.__new__(Autotuner)
    tuner.__init__(_kernel(), ["x", "n"], configs, ["n"], None, None)
    benched = tuning._bench_of(tuner, lambda _: triton.testing.do_bench)
    benched(lambda: None, quantiles=(0.5,))
    assert measured == [{"warmup": 5, "rep": 50.0, "quantiles": (0.5,)}]


def _kernel() -> Any:
    @triton.jit
    def kernel(x, n):
        pass

    return kernel
