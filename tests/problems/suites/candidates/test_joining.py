"""Several source files joined to one text that computes the same, or refused with the reason."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from problems.suites.candidates.joining import joined
from problems.suites.files import SuiteFileError

KERNELS = "import math\n\nSCALE = 3\n\n\ndef scaled(x):\n    return math.floor(x) * SCALE\n"


def run(folder: Path, main: str, **files: str) -> Any:  # Any: whatever `run` returns
    """The result of `run` of the joined text of `main.py` and these files."""
    sources = {"main.py": main} | {f"{name.replace('__', '/')}.py": text for name, text in files.items()}
    file = folder / "joined.py"
    file.write_text(joined(sources, entry="main.py", shown="one.json"))
    return runpy.run_path(str(file))["run"]()


@pytest.mark.parametrize(
    "main",
    [
        "from .kernels import scaled\n\ndef run():\n    return scaled(2.5)\n",
        "from kernels import scaled as by\n\ndef run():\n    return by(2.5)\n",
        "from .kernels import (\n    SCALE,\n    scaled,\n)\n\ndef run():\n    return scaled(2.5) + 0 * SCALE\n",
        "from .kernels import *\n\ndef run():\n    return scaled(2.5)\n",
        "from . import kernels\n\ndef run():\n    return kernels.scaled(2.5)\n",
        "import math, kernels as k\n\ndef run():\n    return k.scaled(math.e)\n",
        "def run():\n    from .kernels import scaled\n    return scaled(2.5)\n",
        "try:\n    from .kernels import scaled\nexcept ImportError:\n    from kernels import scaled\n\n"
        "def run():\n    return scaled(2.5)\n",
    ],
    ids=["relative", "renamed", "lines", "star", "module", "with another", "inside", "two ways"],
)
def test_import_of_own_file_computes_the_same(tmp_path: Path, main: str) -> None:
    assert run(tmp_path, main, kernels=KERNELS) == 6


def test_files_in_folders_and_chains_joined_once(tmp_path: Path) -> None:
    main = (
        "from __future__ import annotations\nfrom src.a import f\nfrom src.b import SIZE\n\n"
        "def run() -> X:\n    return f() + SIZE\n"
    )
    a, b = "import torch\nfrom .b import SIZE\n\ndef f():\n    return SIZE\n", "import torch\nSIZE = 4\n"

    assert run(tmp_path, main, src__a=a, src__b=b, unused="def f():\n    pass\n") == 8


def test_lines_of_each_file_keep_their_distance() -> None:
    text = joined({"a.py": "from .b import (\n    f,\n)\nx = 1\n", "b.py": "f = 2\n"}, entry="a.py", shown="one")

    assert text == "# b.py\nf = 2\n\n\n# a.py\npass\n\n\nx = 1\n"


@pytest.mark.parametrize(
    ("main", "other", "reason"),
    [
        ("from .k import g\n_f = 1\n", "_f = 2\ng = 3\n", "k.py and main.py define '_f' differently"),
        (
            "from .k import g\nimport math as m\n",
            "import time as m\ng = 1\n",
            "k.py and main.py define 'm' differently",
        ),
        ("from .k import g\nx = max(1, 2)\n", "g = 1\ndef max(*a): ...\n", "k.py defines 'max', a builtin in main.py"),
        ("from . import k\nx = vars(k)\n", "g = 1\n", "main.py:2 uses 'k', a module of its files, as a value"),
        ("from . import k\ndef f(k):\n    return k.g\n", "g = 1\n", "main.py:2 uses 'k', a module of its files"),
        ("from . import k, other\n", "g = 1\n", "main.py:1 imports 'other', which is not one of its files"),
        ("from .k import g\n", "from .main import h\n", "its files import each other: "),
        ("from .k import g\n", "def g(:\n", "one.json, k.py:1: syntax error"),
    ],
    ids=["name", "import", "builtin", "value", "parameter", "unknown", "circle", "syntax"],
)
def test_files_that_cannot_be_joined_refused(main: str, other: str, reason: str) -> None:
    with pytest.raises(SuiteFileError) as refused:
        joined({"main.py": main, "k.py": other}, entry="main.py", shown="one.json")

    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "main",
    [
        "import math\n\ndef run():\n    return math.floor(2.5)\n",
        "from math import floor\n\ndef run():\n    return floor(2.5)\n",
    ],
    ids=["module", "name"],
)
def test_file_named_like_library_does_not_shadow(tmp_path: Path, main: str) -> None:
    assert run(tmp_path, main, math="def floor(x):\n    return 1\n") == 2
