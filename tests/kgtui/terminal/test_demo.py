"""`kgtui demo` on a terminal: the recorded batch from its first answer to its costs, then the end of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.slow
def test_demo_shows_whole_batch_and_leaves(run_on_terminal: Callable[..., Any]) -> None:
    program = run_on_terminal("-m", "kgtui", "demo")
    program.until_text("esc stop generating")
    program.until_text("batch 1 finished: 10 answers, 4 passed, 2 flagged, 1 without code")
    for matrix_row in ("wrong value 0/2 $0.002963", "flagged 0/2 $0.002360", "proven 1/1 $0.001646"):
        program.until_text(matrix_row)
    program.press("3")
    program.until_text("67% [")
    program.press("5")
    program.until_text("per faster")
    program.press("\x11")  # ctrl+q
    assert program.exit_status() == 0
    assert program.keeps_settings
