"""Which runtime a torch device has, and the CPU's."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from engine.devices.runtimes import RUNTIMES, cuda, runtime_of
from engine.errors import EngineError


@pytest.mark.parametrize(("name", "is_interpreted"), [("cpu", True), ("cuda:1", False)])
def test_runtime_is_that_of_the_device_type(name: str, is_interpreted: bool) -> None:
    assert runtime_of(torch.device(name)).EXECUTED_ON_CPU is is_interpreted


def test_device_of_no_platform_is_an_error() -> None:
    with pytest.raises(EngineError, match=r"'meta'.*cpu, cuda"):
        runtime_of(torch.device("meta"))


def test_cpu_is_synchronous_and_has_no_generator() -> None:
    device = torch.device("cpu")
    runtime = runtime_of(device)
    runtime.synchronise(device)
    runtime.release_cached_memory()
    assert (runtime.is_nvidia(), runtime.is_capturing(), runtime.random_state(device)) == (False, False, None)


@pytest.mark.parametrize(("built_for", "expected"), [("13.0", True), (None, False)])
def test_gpu_is_nvidia_when_torch_has_cuda(
    monkeypatch: pytest.MonkeyPatch, built_for: str | None, expected: bool
) -> None:
    monkeypatch.setattr(torch, "version", SimpleNamespace(cuda=built_for))
    assert cuda.is_nvidia() is expected


def test_runtimes_have_different_device_types() -> None:
    assert len({runtime.TORCH_TYPE for runtime in RUNTIMES}) == len(RUNTIMES)
