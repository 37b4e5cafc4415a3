"""What only looks as if a kernel stood behind it is seen through."""

from __future__ import annotations

import ast

import pytest

from engine.static.checks import read_statically


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport torch\ndef add(a, b):\n    return a + b\n",
        "from collections.abc import Callable\ndef add(a, b):\n    return a + b\n",
        "import torch\n@torch.jit.script\ndef add(a, b):\n    return a + b\n",
    ],
)
def test_missing_kernel_is_found_behind_library_calls(source: str) -> None:
    assert "no_kernel" in [finding.check for finding in read_statically(ast.parse(source))]
