"""What a GPU would refuse to launch does not pass on a CPU."""

from __future__ import annotations

import pytest

from engine.model import Outcome
from tests.engine.end_to_end.conftest import COPY_KERNEL

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_misspelt_launch_option_is_a_runtime_error(evaluate):
    source = COPY_KERNEL.replace("B=1024)", "B=1024, nul_warps=8)")
    judged = await evaluate(source, target="sm_90")
    line = next(number for number, text in enumerate(source.splitlines(), start=1) if "nul_warps" in text)
    assert (judged.verdict.outcome, judged.verdict.location.line) == (Outcome.RUNTIME_ERROR, line)
    assert "nul_warps is neither a parameter of silu_kernel nor a launch option for sm_90" in judged.verdict.sentence
