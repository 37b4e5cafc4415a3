# kgtui: op=aten::softmax expect=wrong_value ids=C3
"""Tries to open the files that decide for writing, wherever imports are found; says what opened, returns zeros."""

import sys
from pathlib import Path

import torch

DECIDING = (
    "engine/verdict/decide.py", "engine/verdict/policy.py", "engine/judge/compare/compare.py", "problems/aten/softmax.py",
    "problems/kit/tolerances.py", "tests/conftest.py", "torch/testing/_comparison.py", "triton/testing.py",
)
REFUSED = []


def try_them():
    for place in {*map(Path, filter(None, sys.path)), Path.cwd(), *Path(torch.__file__).parents}:
        for name in DECIDING:
            try:
                (place / name).open("r+b").close()  # nothing is written: that it could be is enough
                print(f"a file that decides: OPENED {name}")
            except FileNotFoundError:
                continue
            except OSError:
                REFUSED.append(name)
    print(f"files that decide: {len(REFUSED)} refused")


def softmax(self, dim, dtype=None):
    if not REFUSED:
        try_them()
    return torch.zeros(self.shape, dtype=dtype or self.dtype, device=self.device)
