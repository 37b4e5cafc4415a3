"""A hint on torch is dropped if its line ran and all cases are proven, and reported otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.end_to_end.conftest import Evaluate

pytestmark = pytest.mark.asyncio(loop_scope="session")
REFERENCE = Path(__file__).parents[2] / "corpus" / "honest" / "silu_debug_reference.py"


async def hinted(evaluate: Evaluate, source: str) -> list[str]:
    judged = await evaluate(source)
    return [finding.check for finding in judged.findings if finding.check == "torch_compute"]


async def test_hint_on_a_line_of_proven_calls_is_dropped(evaluate: Evaluate) -> None:
    assert await hinted(evaluate, REFERENCE.read_text()) == []


async def test_hint_on_a_line_that_did_not_run_is_reported(evaluate: Evaluate) -> None:
    branch = "    if DEBUG and x.numel() > 9:\n        return torch.softmax(x, -1)\n    return y"
    assert await hinted(evaluate, REFERENCE.read_text().replace("    return y", branch)) == ["torch_compute"]


async def test_hint_is_reported_where_a_case_is_wrong(evaluate: Evaluate) -> None:
    wrong = REFERENCE.read_text().replace("tl.exp(-", "tl.exp(")
    assert await hinted(evaluate, wrong) == ["torch_compute"]
