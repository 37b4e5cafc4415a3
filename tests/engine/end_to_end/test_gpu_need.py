"""Host code that asks for a GPU is unsupported on a CPU: neither failed nor flagged."""

from __future__ import annotations

import pytest
import torch

from engine.model import Outcome
from kgtui.cli.console import Exit
from kgtui.cli.runs.exit_codes import exit_of
from tests.engine.end_to_end.conftest import COPY_KERNEL

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU"),
]


@pytest.mark.parametrize(
    "line",
    [
        "    assert self.is_cuda, 'expected a GPU tensor'",
        "    if not self.is_cuda: return torch.nn.functional.silu(self)",
        "    torch.cuda.device(self.device).__enter__()",
        "assert torch.cuda.is_available()",
    ],
)
async def test_kernel_requiring_gpu_is_unsupported(evaluate, line):
    first, _, rest = COPY_KERNEL.partition("def silu(self):\n")
    source = (
        f"{first}def silu(self):\n{line}\n{rest}" if line.startswith(" ") else f"{first}{line}\ndef silu(self):\n{rest}"
    )
    judged = await evaluate(source)
    number = source.splitlines().index(line) + 1
    assert (judged.verdict.outcome, exit_of(judged.verdict)) == (Outcome.UNSUPPORTED, Exit.ENGINE)
    assert judged.verdict.location.line == number
    assert "needs a GPU, and this machine has none" in judged.verdict.sentence
