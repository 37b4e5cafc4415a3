"""Kernels that a worker executed, compared with those of the file."""

from __future__ import annotations

import pytest

from engine.run.proving.kernels import LoweredKernel, are_others

MODULE = 'module { tt.return loc(#loc1) }\n#loc1 = loc("/tmp/5/candidate/k.py":3:1)\n'


def kernel(ttir: str = MODULE, arguments: tuple[str, ...] = ("x", "n")) -> LoweredKernel:
    return LoweredKernel(name="k", ttir=ttir, arguments=arguments)


@pytest.mark.parametrize(
    ("executed", "differs"),
    [
        (kernel(), False),
        (kernel(MODULE.replace("/tmp/5/candidate/", "")), False),
        (kernel(MODULE.replace("k.py", "other.py")), True),
        (kernel(MODULE.replace("tt.return", "tt.load")), True),
        (kernel(arguments=("x", "y")), True),
    ],
    ids=["same", "another folder", "another file", "another operation", "other arguments"],
)
def test_kernels_differ_in_all_but_folders(executed: LoweredKernel, *, differs: bool) -> None:
    assert are_others((kernel(), executed), (kernel(), kernel())) is differs
