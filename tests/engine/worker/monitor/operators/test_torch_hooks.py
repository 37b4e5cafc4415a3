"""Threads that a candidate starts, and operators that it registers, run within what notes operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import Forking

PROGRAM = """
import contextlib, sys, threading, _thread
from concurrent.futures import ThreadPoolExecutor
from engine.worker.monitor.operators import torch_hooks
within = threading.local()
@contextlib.contextmanager
def noting():
    within.noted = True
    yield
torch_hooks.follow_threads(noting)
reported, done = [], threading.Event()
def work(first=0, *, second=0):
    reported.append((getattr(within, "noted", False), first, second))
    done.set()
{start}
done.wait(10)
print(reported)
"""


@pytest.mark.parametrize(
    ("start", "reported"),
    [
        ("threading.Thread(target=work, args=(1,), kwargs={'second': 2}).start()", "[(True, 1, 2)]"),
        ("ThreadPoolExecutor(1).submit(work, 1)", "[(True, 1, 0)]"),
        ("_thread.start_new_thread(work, (1,), {'second': 2})", "[(True, 1, 2)]"),
        ("_thread.start_new(work, ())", "[(True, 0, 0)]"),
        ("work()", "[(False, 0, 0)]"),
    ],
)
def test_a_new_thread_is_within(fresh_process: Forking, tmp_path: Path, start: str, reported: str) -> None:
    done = fresh_process.run(PROGRAM.replace("{start}", start), cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, reported)


JOINABLE = """
import _thread, contextlib, sys, threading
def start_joinable_thread(function, *, handle, daemon):
    function()
    return handle, daemon
if sys.version_info < (3, 13):
    _thread.start_joinable_thread = threading._start_joinable_thread = start_joinable_thread
from engine.worker.monitor.operators import torch_hooks
reported = []
@contextlib.contextmanager
def noting():
    reported.append("within")
    yield
torch_hooks.follow_threads(noting)
threading._start_joinable_thread(lambda: reported.append("run"), handle=None, daemon=True)
while "run" not in reported:
    pass
print(reported)
"""


def test_a_joinable_thread_is_within(fresh_process: Forking, tmp_path: Path) -> None:
    done = fresh_process.run(JOINABLE, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "['within', 'run']")


OPERATORS = """
import contextlib, torch
from engine.worker.monitor.operators import torch_hooks
reported = []
@contextlib.contextmanager
def noting():
    reported.append("within")
    yield
torch_hooks.follow_operators(reported.append, noting)
{register}
torch.ops.toy.twice(torch.ones(2))
print([name for name in dict.fromkeys(reported) if name in ("toy::twice", "within")])  # others are torch's own
"""


@pytest.mark.parametrize(
    ("register", "reported"),
    [
        (
            "library = torch.library.Library('toy', 'DEF'); library.define('twice(Tensor x) -> Tensor');"
            "library.impl('twice', lambda x: x + x, 'CPU')",
            "['toy::twice', 'within']",
        ),
        (
            "library = torch.library.Library('toy', 'DEF'); library.define('twice(Tensor x) -> Tensor');"
            "library.impl('twice', torch.library.fallthrough_kernel, 'AutogradCPU');"
            "library.impl('twice', lambda x: x + x, 'CPU')",
            "['toy::twice', 'within']",
        ),
        (
            "def twice(x: torch.Tensor) -> torch.Tensor:\n    return x + x\n"
            "torch.library.custom_op('toy::twice', twice, mutates_args=())",
            "['toy::twice', 'within']",
        ),
    ],
)
def test_an_operator_that_is_registered_runs_within(
    fresh_process: Forking, tmp_path: Path, register: str, reported: str
) -> None:
    program = OPERATORS.replace("{register}", register)
    done = fresh_process.run(program, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, reported)


def test_hook_of_torch_operator_is_not_traced(fresh_process: Forking, tmp_path: Path) -> None:
    register = (
        "library = torch.library.Library('aten', 'IMPL');"
        "library.impl('flip', __import__('functools').partial(lambda x, dims: x), 'CPU', allow_override=True)"
    )
    program = OPERATORS.replace("{register}", register).replace("torch.ops.toy.twice(torch.ones(2))", "{call}")
    program = program.replace("{call}", "torch.ones(2).flip(0)").replace('"toy::twice"', '"aten::flip"')
    done = fresh_process.run(program, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "['within']")


def test_hook_of_other_library_keeps_operator_untraced(fresh_process: Forking, tmp_path: Path) -> None:
    register = (
        "library = torch.library.Library('mkldnn', 'IMPL');"
        "library.impl('_linear_pointwise', lambda *args: None, 'Meta')"
    )
    program = OPERATORS.replace("{register}", register).replace("torch.ops.toy.twice(torch.ones(2))", "")
    program = program.replace('"toy::twice"', '"mkldnn::_linear_pointwise"')
    done = fresh_process.run(program, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "[]")
