"""Broken and hostile candidates end in a clear outcome, and never hurt the process that judges them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model import Outcome
from tests.candidates import cheat
from tests.engine.end_to_end.conftest import SMALL
from tests.engine.process_tree import children_of, fork_servers_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

IMPATIENT = replace(SMALL, load_s=1.0, case_s=1.0)  # of what never ends
HEAD = """
import ctypes, os, sys, time
import torch
"""


async def test_an_infinite_loop_is_a_timeout(evaluate):
    judged = await evaluate("def silu(self):\n    while True:\n        pass\n", limits=IMPATIENT)
    assert judged.verdict.outcome is Outcome.TIMEOUT
    assert "infinite loop?" in judged.verdict.sentence


async def test_an_endless_sleep_is_a_timeout(evaluate):
    judged = await evaluate(HEAD + "def silu(self):\n    time.sleep(1_000_000)\n", limits=IMPATIENT)
    assert judged.verdict.outcome is Outcome.TIMEOUT
    assert "deadlock?" in judged.verdict.sentence


async def test_an_infinite_loop_at_import_is_a_timeout(evaluate):
    judged = await evaluate("while True:\n    pass\n\ndef silu(self):\n    return self\n", limits=IMPATIENT)
    assert judged.verdict.outcome is Outcome.TIMEOUT


async def test_clean_exit_at_import_is_crash(evaluate):
    judged = await evaluate("import os\nos._exit(0)\ndef silu(self):\n    return self\n")
    assert judged.verdict.outcome is Outcome.CRASHED


async def test_clean_exit_in_entry_is_crash(evaluate):
    judged = await evaluate("import os\ndef silu(self):\n    os._exit(0)\n")
    assert judged.verdict.outcome is Outcome.CRASHED


async def test_sys_exit_is_a_named_runtime_error(evaluate):
    judged = await evaluate("import sys\ndef silu(self):\n    sys.exit(0)\n")
    assert judged.verdict.outcome is Outcome.RUNTIME_ERROR
    assert "sys.exit(0)" in judged.verdict.sentence


async def test_segfault_is_crash_naming_the_signal(evaluate):
    judged = await evaluate("import ctypes\ndef silu(self):\n    ctypes.string_at(0)\n")
    assert judged.verdict.outcome is Outcome.CRASHED
    assert "signal 11" in judged.verdict.sentence


@pytest.mark.parametrize("name", ["eats_memory", "eats_memory_in_tensors"])
async def test_unbounded_memory_is_out_of_memory(evaluate, name):
    # Memory that a virtual machine touches first takes it up to two seconds per GiB.
    judged = await evaluate(cheat(name), limits=replace(SMALL, case_s=60.0))
    assert judged.verdict.outcome is Outcome.OUT_OF_MEMORY


async def test_gigabyte_of_output_is_truncated(evaluate):
    judged = await evaluate(cheat("prints_a_gigabyte"), limits=replace(SMALL, case_s=60.0))
    assert judged.verdict.outcome is Outcome.WRONG_VALUE
    assert "output limit reached" in judged.log
    assert len(judged.log) < 4 << 20


async def test_fork_bomb_hits_limit_and_leaves_no_process(evaluate, engine):
    source = (
        HEAD
        + """
def silu(self):
    made = 0
    try:
        while made < 2000:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            made += 1
    except OSError:
        print(f"stopped after {made}")
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert judged.verdict.outcome is Outcome.WRONG_VALUE
    assert "stopped after" in judged.log
    await engine.wait_until_warm()
    assert len(_below(engine, "kgtui-worker")) == 2  # the spares


@pytest.mark.parametrize("where", ["import", "entry"])
async def test_a_forged_reply_on_any_descriptor_is_tampering(evaluate, where):
    forge = """
def forge():
    for fd in range(3, 64):
        try:
            os.write(fd, b'{"type":"called","id":"x","returned":[],"launches":[],"elapsed_s":0}\\n')
        except OSError:
            pass
"""
    call = "forge()\n" if where == "import" else ""
    body = "    forge()\n" if where == "entry" else ""
    judged = await evaluate(HEAD + forge + call + "def silu(self):\n" + body + "    return self\n")
    assert judged.verdict.outcome is Outcome.TAMPERED


async def test_a_reply_with_the_stolen_id_is_tampering(evaluate):
    judged = await evaluate(cheat("forges_with_the_real_id"))
    assert judged.verdict.outcome is Outcome.TAMPERED


async def test_oversized_forged_reply_is_tampering(evaluate, engine, copy_kernel):
    source = (
        HEAD
        + """
def silu(self):
    frame = sys._getframe()
    while frame is not None:
        for name in {getattr(value, "id", None) for value in list(frame.f_locals.values()) if type(value).__hash__}:
            if isinstance(name, str):
                values = ",".join(['{"type_name":""}'] * 100_000)
                line = f'{{"type":"called","id":"{name}","returned":[{values}],"launches":[],"elapsed_s":0}}\\n'
                for fd in range(3, 64):
                    try:
                        os.write(fd, line.encode())
                    except OSError:
                        pass
        frame = frame.f_back
    return self
"""
    )
    assert (await evaluate(copy_kernel)).verdict.outcome is Outcome.PASS
    judges = _below(engine, "kgtui-judge")
    assert (await evaluate(source)).verdict.outcome is Outcome.TAMPERED
    assert len(judges) == 1
    assert _below(engine, "kgtui-judge") == judges


async def test_garbage_on_the_reply_channel_is_tampering(evaluate):
    source = (
        HEAD
        + """
def silu(self):
    for fd in range(3, 64):
        try:
            os.write(fd, b"\\xff\\x00 not json\\n")
        except OSError:
            pass
    return self
"""
    )
    assert (await evaluate(source)).verdict.outcome is Outcome.TAMPERED


async def test_endless_line_on_reply_channel_is_tampering(evaluate):
    source = (
        HEAD
        + """
def silu(self):
    for fd in range(3, 64):
        try:
            for _ in range(9):
                os.write(fd, b"x" * (1 << 20))
        except OSError:
            pass
    return self
"""
    )
    assert (await evaluate(source)).verdict.outcome is Outcome.TAMPERED


async def test_patched_allclose_does_not_change_verdict(evaluate):
    source = (
        HEAD
        + """
torch.allclose = torch.equal = torch.testing.assert_close = lambda *args, **kwargs: True
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)

def silu(self):
    return torch.zeros_like(self)
"""
    )
    assert (await evaluate(source)).verdict.outcome is Outcome.WRONG_VALUE


async def test_the_memory_of_other_processes_cannot_be_read(evaluate):
    source = (
        HEAD
        + """
libc = ctypes.CDLL(None, use_errno=True)

def silu(self):
    for pid in (1, os.getppid()):
        try:
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                print("OPENED", pid)
        except OSError:
            print("refused")
        if libc.ptrace(0x4206, pid, None, None) == 0:
            print("ATTACHED", pid)
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert "refused" in judged.log
    assert "OPENED" not in judged.log
    assert "ATTACHED" not in judged.log


async def test_the_parent_cannot_be_killed(evaluate):
    source = (
        HEAD
        + f"""
def silu(self):
    for pid in ({os.getpid()}, os.getppid()):
        try:
            os.kill(pid, 9)
            print("KILLED", pid)
        except OSError as error:
            print("refused", error)
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert judged.log.count("refused") >= 2
    assert "KILLED" not in judged.log


async def test_nothing_outside_the_own_folder_can_be_written(evaluate, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("kept")
    victim.chmod(0o666)
    tmp_path.chmod(0o777)
    source = (
        HEAD
        + f"""
def silu(self):
    for path in ({str(victim)!r}, {str(tmp_path / "new.txt")!r}, "/dev/shm/planted"):
        try:
            open(path, "w").write("overwritten")
            print("WROTE", path)
        except OSError:
            print("refused")
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert "WROTE" not in judged.log
    assert victim.read_text() == "kept"


async def test_worker_has_no_network_and_no_api_key(evaluate):
    source = (
        HEAD
        + """
import socket

def silu(self):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        print("SOCKET")
    except OSError:
        print("no socket")
    print([name for name in os.environ if "KEY" in name or "TOKEN" in name or "SECRET" in name])
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert "no socket" in judged.log
    assert "[]" in judged.log


async def test_judge_code_cannot_be_imported(evaluate):
    source = (
        HEAD
        + """
import gc

def silu(self):
    import engine.judge.compare.compare
"""
    )
    judged = await evaluate(source)
    assert judged.verdict.outcome is Outcome.RUNTIME_ERROR
    assert "No module named 'engine'" in judged.verdict.sentence


async def test_truncated_shared_file_is_tampering(evaluate, copy_kernel):
    source = (
        HEAD
        + """
import glob

def silu(self):
    for line in open("/proc/self/maps"):
        path = line.split()[-1]
        if path.endswith(".in"):
            os.truncate(path, 0)
    return torch.zeros(1)
"""
    )
    assert (await evaluate(source)).verdict.outcome is Outcome.TAMPERED
    assert (await evaluate(copy_kernel)).verdict.outcome is Outcome.PASS


async def test_reading_truncated_file_is_reported_as_truncation(evaluate):
    source = (
        HEAD
        + """
def silu(self):
    for line in open("/proc/self/maps"):
        path = line.split()[-1]
        if path.endswith(".in"):
            os.truncate(path, 0)
    return self + 1
"""
    )
    verdict = (await evaluate(source)).verdict
    assert verdict.outcome is Outcome.TAMPERED
    assert "the shared memory of the case was cut short" in verdict.sentence


async def test_pipe_instead_of_outputs_does_not_block_judge(evaluate):
    source = (
        HEAD
        + """
import threading

def silu(self):
    arena = [line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith(".in")][0]
    outputs = arena[:-3] + ".out"
    original = type(open(os.devnull, "wb")).close

    def swap():
        while not os.path.exists(outputs):
            pass
        while True:
            try:
                os.unlink(outputs)
            except OSError:
                pass
            try:
                os.mkfifo(outputs)
            except OSError:
                pass

    threading.Thread(target=swap, daemon=True).start()
    return torch.zeros_like(self)
"""
    )
    judged = await evaluate(source)
    assert judged.verdict.outcome in (Outcome.TAMPERED, Outcome.WRONG_VALUE, Outcome.TIMEOUT)


async def test_engine_works_after_all_hostile_candidates(evaluate, copy_kernel):
    judged = await evaluate(copy_kernel)
    assert judged.verdict.outcome is Outcome.PASS


def _below(engine: Engine, name: str) -> set[int]:
    """The processes that are called so: whatever a candidate forks inherits the name of its worker."""
    found: set[int] = set()
    level = fork_servers_of(engine)
    while level:
        level = [child for pid in level for child in _children(pid)]
        found |= {pid for pid in level if _name(pid) == name}
    return found


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):  # it has ended meanwhile, as ptxas does
        return children_of(pid)
    return []


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
