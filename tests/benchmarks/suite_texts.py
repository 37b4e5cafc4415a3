"""Candidates for the tasks of the sample suites, as rows of predictions: for `own_rules.py` and `bench_resume.py`.

Three are made for every task from its own reference, without a kernel: a copy of it, one whose result is off by less
than the suite's tolerance, and one that returns zeros.  The others are written: a kernel, and the same with an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from problems.suites.source import suite_at
from problems.suites.task import CandidateForm, Task

TESTS = Path(__file__).parents[1]
SAMPLES, KERNELS = TESTS / "problems" / "samples", TESTS / "corpus" / "suites"
SUITES = ("kernelbench", "kernelbench_x", "tritonbench", "gpu_mode", "multikernelbench", "flashinfer_trace")
CAP = 64

_OFF = {"kernelbench_x": 8e-6, "gpu_mode": 8e-3, "flashinfer_trace": 8e-3}
_OFF_ELSEWHERE = 8e-5
_CHANGES = {"copy": "value", "zeros": "torch.zeros_like(value)"}

_CHANGED = """
def _changed(value):
    if isinstance(value, (tuple, list)):
        return type(value)(_changed(item) for item in value)
    return {change}
"""
_BY_FORM = {
    CandidateForm.MODULE: """
class {entry}(Model):
    def forward(self, *inputs):
        return _changed(super().forward(*inputs))
""",
    CandidateForm.CALL: """
_reference = {entry}


def {entry}(*arguments, **options):
    return _changed(_reference(*arguments, **options))
""",
    CandidateForm.DESTINATION: """
_reference = {entry}


def {entry}(*arguments):
    arguments[-1].copy_(_changed(_reference(*arguments[:-1])))
""",
    CandidateForm.SUBMISSION: """
def {entry}(data):
    return _changed(_reference(data))
""",
}
_REFERENCES = {
    "pmpp/histogram_py": "output = data[1]\n    output[...] = torch.bincount(data[0].long(), minlength=output.numel())",
    "pmpp_v2/scale_py": "output = data[0] * data[1][:, None]",
}
_SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def _softmax(x_ptr, y_ptr, columns, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=at < columns, other=float("-inf"))
    e = tl.exp(x - tl.max(x))
    tl.store(y_ptr + row + at, e / tl.sum(e), mask=at < columns)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        _softmax[(x.shape[0],)](x, y, x.shape[1], SIZE=triton.next_power_of_2(x.shape[1]))
        return y
"""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A kernel for a task, and what is replaced in it to make a wrong one, or one in the suite's tolerance."""

    task: str
    text: str
    right: str
    wrong: str

    @property
    def broken(self) -> str:
        """The kernel with the error."""
        assert self.right in self.text
        return self.text.replace(self.right, self.wrong)


def written(suite: str) -> tuple[Written, ...]:
    """The kernels for a suite."""
    return tuple(
        Written(task=task, text=text, right=right, wrong=wrong) for task, text, right, wrong in _WRITTEN[suite]
    )


def _kernel(name: str) -> str:
    return (KERNELS / f"{name}.py").read_text()


_WRITTEN = {
    "kernelbench": [("level1/23_Softmax", _SOFTMAX, "e / tl.sum(e)", "e / tl.sum(e) + 5e-5")],
    "kernelbench_x": [
        ("Activation/relu", _kernel("relu"), "tl.maximum(x, 0.0)", "tl.maximum(x, 0.000005)"),
        ("Quantization/matmul_w8a8", _kernel("matmul_w8a8"), "acc.to(tl.float32)", "1.06 * acc.to(tl.float32)"),
    ],
    "tritonbench": [("T/add", _kernel("add"), "alpha * y", "y")],
    "gpu_mode": [("pmpp/histogram_py", _kernel("histogram"), "v == b", "v <= b")],
    "multikernelbench": [("npukernelbench_level1/3_add", _kernel("npu_add"), "x + alpha * y", "x + alpha * y + 5e-5")],
    "flashinfer_trace": [("rmsnorm/rmsnorm_h32", _kernel("rms_norm"), "* scale * w", "* scale * w * 1.009")],
}


def rows(suite: str) -> list[dict[str, object]]:
    """A row of predictions for every candidate of every task of a sample suite that can be judged."""
    source = suite_at(SAMPLES / suite)
    found = [row for name in source.names() for row in _of_task(source.task(name), suite)]
    for one in written(suite):
        found += [_row(one.task, "kernel", one.text), _row(one.task, "wrong kernel", one.broken)]
    return found


def label(text: str) -> str:
    """What kind of candidate a row has."""
    return text.partition("\n")[0].removeprefix("# ")


def _of_task(task: Task, suite: str) -> list[dict[str, object]]:
    if task.refusal:
        return []
    off = f"(value * (1 + {_OFF.get(suite, _OFF_ELSEWHERE)})).to(value.dtype)"
    return [_row(task.name, kind, _from_reference(task, change)) for kind, change in {**_CHANGES, "off": off}.items()]


def _from_reference(task: Task, change: str) -> str:
    reference = task.text
    if task.form is CandidateForm.SUBMISSION:
        reference = f"def _reference(data):\n    {_REFERENCES[task.name]}\n    return output\n"
    return (
        f"import torch\n{reference}\n{_CHANGED.format(change=change)}\n{_BY_FORM[task.form].format(entry=task.entry)}"
    )


def _row(task: str, kind: str, text: str) -> dict[str, object]:
    return {"file": task, "code": f"# {kind}\n{text}"}
