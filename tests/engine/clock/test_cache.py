"""Reading memory of any size, and saying so when lines may persist in the cache."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from engine.clock import cache


@pytest.mark.parametrize("cache_bytes", [0, 1, 4096])
def test_eviction_reads_three_times_the_cache(cache_bytes: int) -> None:
    eviction = cache.Eviction(torch.device("cpu"), cache_bytes)
    assert eviction._memory.nbytes == max(4, 3 * cache_bytes // 4 * 4)
    before = eviction._memory.clone()
    eviction()
    assert torch.equal(eviction._memory, before)
    assert float(eviction._sum) == before.numel()


def test_touching_reports_its_device_work_and_changes_nothing() -> None:
    content = torch.arange(64, dtype=torch.uint8)
    before = content.clone()
    assert cache.touch((content[:16], content[16:29], content[32:32], content[40:43]), activities=2) == 8
    assert torch.equal(content, before)


def test_reading_bypasses_replaced_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    eviction, content = cache.Eviction(torch.device("cpu"), 64), torch.zeros(64, dtype=torch.uint8)
    heard: list[object] = []

    class Listening(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            heard.append(func)
            return func(*args, **(kwargs or {}))

    for owner, name in ((torch, "sum"), (torch.Tensor, "narrow"), (torch.Tensor, "view"), (torch.Tensor, "numel")):
        monkeypatch.setattr(owner, name, lambda *_, name=name, **__: heard.append(name))
    with Listening():
        eviction()
        cache.touch((content,), activities=1)
    assert heard == []


class Driver:
    """A driver that answers with these statuses."""

    def __init__(self, limit: int, reset: int) -> None:
        self.limits: list[tuple[int, int]] = []
        self._limit, self._reset = limit, reset

    def cuCtxSetLimit(self, limit: int, value: Any) -> int:  # noqa: N802 -- the driver's name
        self.limits.append((limit, value.value))
        return self._limit

    def cuCtxResetPersistingL2Cache(self) -> int:  # noqa: N802 -- the driver's name
        return self._reset


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        ((0, 0), ""),
        ((215, 0), "persisting cache lines could not be disabled: the driver returned (215, 0)"),
        ((0, 801), "persisting cache lines could not be disabled: the driver returned (0, 801)"),
    ],
)
def test_persisting_cache_limit_is_cleared_or_refusal_reported(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[int, int], note: str
) -> None:
    driver = Driver(*answers)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    assert cache.forbid_persistence() == note
    assert driver.limits == [(6, 0)]


def test_missing_driver_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(f"{name}: not found")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert cache.forbid_persistence() == ("persisting cache lines could not be disabled: libcuda.so.1: not found")
