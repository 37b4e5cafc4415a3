"""Mutated modules that the reader accepts end in a binary or in a refusal, and no compiler dies of them.

`python -m tests.benchmarks.bench_binaries --hostile 500` has many more of them compiled, each by a process as a run
has it.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from engine.errors import UnsupportedError
from engine.machine.errors import MachineError
from engine.machine.reader import read_module
from tests.engine.machine.reader.test_fuzz import mutated
from tests.engine.replay.tapes import DOUBLE
from tests.forking import forking

_SEED, _MUTANTS = 20_261_123, 6
_COMPILE = """
import json, os, resource, sys, tempfile
from pathlib import Path
from engine.compiler.ttir import compile_ttir
from engine.errors import UnsupportedError
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(dir=".")
ends = []
for ttir in json.loads(Path(sys.argv[1]).read_text()):
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        options = CompileOptions(num_warps=4, num_stages=3)
        try:
            compile_ttir(BinaryRequest(kernel="double", ttir=ttir, options=options, target="sm_90"), Path("."))
        except UnsupportedError:
            os._exit(1)
        os._exit(0)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(ends))
"""


def accepted(ttir: str) -> bool:
    """Whether the reader hands a module on."""
    try:
        read_module(ttir)
    except (MachineError, UnsupportedError):
        return False
    return True


@pytest.mark.slow
def test_mutants_of_a_module_end_no_compiler(tmp_path: Path) -> None:
    draw = random.Random(_SEED)
    mutants: list[str] = []
    while len(mutants) < _MUTANTS:
        if (mutant := mutated(DOUBLE, draw)) != DOUBLE and accepted(mutant):
            mutants.append(mutant)
    (tmp_path / "mutants.json").write_text(json.dumps(mutants))
    with forking("engine.compiler.ttir", folder=tmp_path) as server:
        done = server.run(_COMPILE, "mutants.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ends = Counter(json.loads(done.stdout))
    assert set(ends) <= {0, 1}
    assert ends.total() == _MUTANTS
