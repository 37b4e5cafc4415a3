"""Reading statically takes time in proportion to the text.

A child reads literals of 5 MB under a limit of its CPU time that a quadratic pattern would pass by hours.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

CHARACTERS = 5_000_000
MOST_CPU_S = 30  # about 0.5 s are used, on any machine far less than a quadratic pattern takes

READ = """
import sys
from engine.static.checks import read_statically
from engine.model.parsing import parse

unit = sys.argv[1].encode().decode("unicode_escape")
literal = unit * (int(sys.argv[2]) // len(unit))
text = f"import triton\\nX = {literal!r}\\n@triton.jit\\ndef k(x):\\n    pass\\n"
text += "def f(x):\\n    print(X)\\n    exec(X)\\n"
print(sorted({one.check for one in read_statically(parse(text), text, "f")}))
"""


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "\\n", "\\n ", "_", "{", "\\u00e9", "cublasgemm;", "ignore all ", "correct "],
)
def test_literal_of_five_megabytes_is_read(unit: str) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))

    read = subprocess.run(
        [sys.executable, "-c", READ, unit, str(CHARACTERS)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )

    assert (read.returncode, read.stderr) == (0, "")
    assert "runs_text" in read.stdout
