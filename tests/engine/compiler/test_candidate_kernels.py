"""Launches are matched with the kernels that a compiler process has made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIND = """
import sys
from engine.compiler.candidate_kernels import CandidateKernels
from engine.errors import UnsupportedError
from engine.loading import loader
from engine.model import Launch
from pathlib import Path
kernels = CandidateKernels()
loader.load(Path(sys.argv[1]), None, "entry")
def find(kernel, line, closure="", text=""):
    return kernels.of_launch(Launch(
        kernel=kernel, line=line, closure=closure, generated_source=text, signature={}, constants={},
        divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,),
    )).fn(None)
def refused(*launch):
    try:
        find(*launch)
    except UnsupportedError as error:
        return str(error)
"""
TWO = """import triton
def one():
    pass

    @triton.jit
    def k(x):
        return 1
    return k
def two():
    @triton.jit
    def k(x):
        return 2
    return k
def three(number):
    @triton.jit
    def made(x):
        return number
    return made
entry = one(), two(), three(3), three(4)
def entry(): ...
"""
GENERATED = "import triton\\n@triton.jit\\ndef k(x):\\n    return 5\\n"


def run(folder: Path, script: str) -> list[str]:
    """What the script prints, a process of its own, since kernels are remembered for good."""
    (folder / "kernel.py").write_text(TWO)
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-c", FIND + script, str(folder / "kernel.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_launched_kernel_of_two_same_named_is_found(tmp_path: Path) -> None:
    # The interpreter records the line of the `def`; Python counts a decorated function from its decorator.
    script = """
print([find("k", line) for line in (6, 11)])
print([find("made", 15, f"number={number}") for number in (3, 4)])
print(refused("made", 15, "number=5"))
"""
    refusal = "made is defined only when the entry runs, so it cannot be compiled separately"
    assert run(tmp_path, script) == ["[1, 2]", "[3, 4]", refusal]


def test_constant_kernel_of_two_same_named_is_found(tmp_path: Path) -> None:
    script = """
print([kernels.constant(identity).fn(None) for identity in ("k:5", "k:10", "made:15(number=4)")])
try:
    kernels.constant("k:7")
except UnsupportedError as error:
    print(error)
"""
    assert run(tmp_path, script) == ["[1, 2, 4]", "the function k:7 is made only when the entry runs"]


def test_kernel_of_generated_file_comes_from_its_text(tmp_path: Path) -> None:
    script = f"""
text = "{GENERATED}"
print([find("k", 2, "", text) for _ in range(2)], len(kernels._kernels))
print(find("k", 6))
print(refused("k", 2, "", "import missing_module"))
"""
    refusal = (
        "a file written by the candidate cannot be imported separately: "
        "ModuleNotFoundError: No module named 'missing_module'"
    )
    assert run(tmp_path, script) == ["[5, 5] 5", "1", refusal]
