"""A candidate reaches no file, socket or namespace that a kernel does not need."""

from __future__ import annotations

import json
import socket
import sysconfig
from pathlib import Path

import pytest

from engine.model import Limits, Outcome

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[3]

# Each attempt prints its name and "allowed", or the name of the error.
ATTEMPTS = """
import ctypes, errno, json, os, socket
import torch

libc = ctypes.CDLL(None, use_errno=True)
done = False


def clone(number, flags):
    pid = libc.syscall(number, flags | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "")
    os.waitpid(pid, 0)


def attempt(name, action):
    try:
        action()
        print(name, "allowed")
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def silu(self):
    global done
    if not done:
        done = True
        attempts()
    return torch.zeros_like(self)
"""


def _attempts(lines: dict[str, str]) -> str:
    body = "\n".join(f"    attempt({name!r}, lambda: {action})" for name, action in lines.items())
    return f"{ATTEMPTS}\n\ndef attempts():\n{body}\n"


def _results(log: str) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in log.splitlines() if line.count(" ") == 1)


async def test_reading_outside_libraries_and_own_folder_is_refused(evaluate, tmp_path):
    store = tmp_path / "store.db"
    store.write_text("runs")
    judged = await evaluate(
        _attempts(
            {
                "shadow": 'open("/etc/shadow").read()',
                "store": f"open({str(store)!r}).read()",
                "folder": f"os.listdir({str(tmp_path)!r})",
                "temporary": 'os.listdir("/tmp")',
                "parent": 'open("/proc/1/environ").read()',
                "own": "open(__file__).read()",
                "library": "open(torch.__file__).read()",
                "processor": 'open("/proc/cpuinfo").read()',
                "self": 'open("/proc/self/maps").read()',
            }
        )
    )
    assert _results(judged.log) == {
        "shadow": "EACCES",
        "store": "EACCES",
        "folder": "EACCES",
        "temporary": "EACCES",
        "parent": "EACCES",
        "own": "allowed",
        "library": "allowed",
        "processor": "allowed",
        "self": "allowed",
    }


async def test_connections_by_path_and_foreign_sockets_are_refused(evaluate, tmp_path):
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        tmp_path.chmod(0o777)
        Path(path).chmod(0o777)
        judged = await evaluate(
            _attempts(
                {
                    "path": f"socket.socket(socket.AF_UNIX).connect({path!r})",
                    "datagram": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
                    "datagrams": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
                    "vsock": "socket.socket(40, socket.SOCK_STREAM)",
                    "netlink": "socket.socket(16, socket.SOCK_RAW)",
                    "internet": "socket.socket(socket.AF_INET)",
                    "pair": "socket.socketpair()",
                }
            )
        )
    assert _results(judged.log) == {
        "path": "EACCES",
        "datagram": "EPERM",
        "datagrams": "EPERM",
        "vsock": "EPERM",
        "netlink": "EPERM",
        "internet": "EPERM",
        "pair": "allowed",
    }


async def test_clone_into_new_namespaces_is_refused(evaluate):
    clone = "56 if os.uname().machine == 'x86_64' else 220"
    judged = await evaluate(
        _attempts(
            {
                "user": f"clone({clone}, 0x10000000)",
                "mounts": f"clone({clone}, 0x00020000)",
                "processes": f"clone({clone}, 0x20000000)",
                "clone3": "clone(435, 0)",
                "plain": f"clone({clone}, 0)",
            }
        )
    )
    assert _results(judged.log) == {
        "user": "EPERM",
        "mounts": "EPERM",
        "processes": "EPERM",
        "clone3": "ENOSYS",
        "plain": "allowed",
    }


async def test_candidate_reads_and_imports_sibling_files(evaluate, copy_kernel, tmp_path):
    (tmp_path / "helper.py").write_text("SCALE = 1\n")
    (tmp_path / "table.json").write_text(json.dumps([1]))
    table = str(tmp_path / "table.json")
    imports = f"import json\nfrom helper import SCALE\nassert json.load(open({table!r}))\nimport torch\n"
    source = copy_kernel.replace("import torch\n", imports, 1)
    judged = await evaluate(source, folder=tmp_path)
    assert judged.verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("folder", [ROOT, Path(sysconfig.get_paths()["stdlib"]).parent], ids=["checkout", "Python"])
async def test_file_beside_a_checkout_or_an_interpreter_is_not_flagged(evaluate, folder):
    """The folder of a kernel may be a home folder, with Python or this project in it."""
    judged = await evaluate(ROOT / "kgtui" / "samples" / "softmax.py", problem="aten::softmax", folder=folder)
    assert (judged.verdict.outcome, judged.verdict.flagged) == (Outcome.PASS, False)
    assert [finding.message for finding in judged.findings if finding.check == "behaviour"] == []


async def test_memory_of_all_processes_together_is_bounded(evaluate):
    source = """
import os, time
import torch

def silu(self):
    for _ in range(4):  # each below the limit of one process
        if os.fork() == 0:
            held = bytearray(os.urandom(1 << 20) * 200)
            while True:
                pass
    while True:
        pass
"""
    limits = Limits(case_s=60.0, total_memory_bytes=600 << 20)
    verdict = (await evaluate(source, limits=limits)).verdict
    assert verdict.outcome is Outcome.OUT_OF_MEMORY
    assert "more than the 0.6 GiB allowed" in verdict.sentence
