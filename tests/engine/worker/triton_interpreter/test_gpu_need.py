"""Host code that stops for want of a GPU is told from host code that fails by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.loading.failures import NeedsGpuError, failure
from engine.worker.triton_interpreter.gpu_need import GpuNeed

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")

FIRST = "import torch\ndef f(x, launch):\n"


@pytest.fixture
def need() -> Iterator[GpuNeed]:
    lazy_init = torch.cuda._lazy_init
    need = GpuNeed()
    need.install()
    yield need
    torch.cuda._lazy_init = lazy_init


def called(need: GpuNeed, tmp_path: Path, body: str, *, launches: bool = True) -> Any:
    """What the function with this body returns, or the line in which it needs a GPU."""
    path = tmp_path / "kernel.py"
    path.write_text(FIRST + "".join(f"    {line}\n" for line in body.splitlines()))
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    need.watch(str(path))

    def call() -> Any:
        return names["f"](torch.zeros(4), need.skips)

    try:
        with need.looking_into(call, launches=launches):
            return call()
    except NeedsGpuError as error:
        trace = failure("x", error, str(path)).trace
        assert "engine" not in trace, trace
        return f"line {error.line}: {str(error).removeprefix('needs a GPU, and this machine has none: ')}"


@pytest.mark.parametrize(
    "condition",
    [
        "x.is_cuda",
        "not x.is_cpu",
        "x.device.type == 'cuda'",
        "x.get_device() >= 0",
        "'cuda' in str(x.device)",
        "x.device == torch.device('cuda', 0)",
        "x.device != torch.device('cpu')",
        "f'{x.device}'.startswith('cuda')",
        "x.device.index is not None",
        "torch.cuda.is_available()",
        "torch.cuda.device_count()",
    ],
)
def test_condition_true_only_on_gpu_needs_gpu(need: GpuNeed, tmp_path: Path, condition: str) -> None:
    reported = called(
        need, tmp_path, f"y = torch.empty(4, device=x.device)\nassert {condition}, 'no'\nlaunch()\nreturn y"
    )
    assert reported == "line 4: AssertionError: no; run it on a machine with a GPU"


@pytest.mark.parametrize(
    "body",
    [
        "if not x.is_cuda:\n    return torch.softmax(x, 0)\nlaunch()",
        "if x.device.type != 'cuda':\n    return torch.softmax(x, 0)\nlaunch()",
        "if not torch.cuda.is_available():\n    return torch.softmax(x, 0)\nlaunch()",
        "try: torch.cuda.current_stream()\nexcept Exception:\n    return torch.softmax(x, 0)\nlaunch()",
        "if x.is_cuda: torch.cuda.current_stream()\nelse: return torch.softmax(x, 0)",
    ],
)
def test_call_without_cpu_launches_needs_gpu(need: GpuNeed, tmp_path: Path, body: str) -> None:
    assert called(need, tmp_path, body) == "line 3: without one it launches no kernel; run it on a machine with a GPU"


@pytest.mark.parametrize(
    "body",
    [
        "assert x.dim() == 3, x.is_cuda",
        "if not x.is_cuda:\n    pass\nassert x.dtype == torch.float16",
        "launch()\nif x.is_cuda:\n    pass\nassert x.dim() == 3",
        "import sys\nif not torch.cuda.is_available():\n    pass\nsys.exit(0)",
    ],
)
def test_failure_that_a_gpu_would_share_stays(need: GpuNeed, tmp_path: Path, body: str) -> None:
    with pytest.raises((AssertionError, SystemExit)):
        called(need, tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "if not x.is_cuda:\n    launch()\nelse:\n    launch()\nreturn 1",
        "if x.numel() == 4:\n    return 1\nif x.is_cuda:\n    launch()",
        "if x.data_ptr() != f.__dict__.setdefault('seen', x.data_ptr()):\n    launch()  # get_device\nreturn 1",
        "y = torch.softmax(x.cpu().to(x.device), 0)\nassert y.device == x.device\nreturn 1",
    ],
)
def test_call_without_gpu_launches_needs_no_gpu(need: GpuNeed, tmp_path: Path, body: str) -> None:
    assert called(need, tmp_path, body) == 1


def test_load_requesting_gpu_needs_gpu(need: GpuNeed, tmp_path: Path) -> None:
    reported = called(need, tmp_path, "if not torch.cuda.is_available(): raise SystemExit(1)", launches=False)
    assert reported == "line 3: SystemExit: 1; run it on a machine with a GPU"


def test_second_call_restores_torch(need: GpuNeed, tmp_path: Path) -> None:
    before = set(vars(torch.Tensor))
    called(need, tmp_path, "assert x.is_cuda")
    assert (set(vars(torch.Tensor)), torch.zeros(1).device.type, torch.cuda.is_available()) == (
        before,
        "cpu",
        False,
    )


def test_assertion_without_text_is_named_alone(need: GpuNeed, tmp_path: Path) -> None:
    reported = called(need, tmp_path, "assert x.is_cuda\nlaunch()")
    assert reported == "line 3: AssertionError; run it on a machine with a GPU"
