"""One call of a candidate in a process of its own, on the arguments that a worker would give it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine import protocol
from engine.protocol import tensors
from tests.forking import Forking

CANDIDATE = """
import torch

def f(x):
    return f"{x.dtype} {x.view(torch.uint8).tolist()}"
"""
PROGRAM = """
from pathlib import Path
import torch
from engine import protocol
from engine.worker.one_call import call_once

command = protocol.decode_command(Path("request").read_bytes())
print(call_once(command, torch.device("cpu")))
"""


def request(folder: Path, argument: torch.Tensor, *, fp4: tuple[int, ...]) -> protocol.Sanitize:
    """The call of a candidate on one argument; those at the positions `fp4` are fp4 values."""
    (folder / "candidate.py").write_text(CANDIDATE)
    specs, storages = tensors.lay_out((argument,))
    placed, size = tensors.place([storage.numel() for storage in storages])
    arena = protocol.ArenaSpec(path=str(folder / "arena"), bytes=size, storages=placed)
    file = tensors.ArenaFile(arena)
    file.write(storages, guard=0)
    file.close()
    load = protocol.Load(id="l", path=str(folder / "candidate.py"), folder=None, entry="f", fp4=fp4)
    call = protocol.Call(id="c", case="one", arguments=specs, arena=arena, outputs="", max_output_bytes=1, poison=0)
    return protocol.Sanitize(id="s", sanitizer="", tools=(), load=load, call=call, writable=(), most_bytes=1)


@pytest.mark.parametrize(("fp4", "dtype"), [((), "uint8"), ((0,), "float4_e2m1fn_x2")], ids=["bytes", "fp4"])
def test_entry_gets_its_arguments_as_in_a_worker(
    tmp_path: Path, fresh_process: Forking, fp4: tuple[int, ...], dtype: str
) -> None:
    command = request(tmp_path, torch.tensor([1, 2, 3], dtype=torch.uint8), fp4=fp4)
    (tmp_path / "request").write_bytes(protocol.encode(command))
    done = fresh_process.run(PROGRAM, cwd=tmp_path)
    assert (done.stderr, done.stdout) == ("", f"torch.{dtype} [1, 2, 3]\n")
