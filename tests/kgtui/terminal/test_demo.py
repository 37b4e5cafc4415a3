"""`kgtui demo` on a terminal opens the workbench, and leaves it as any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.slow
def test_demo_opens_the_models_screen_and_leaves(run_on_terminal: Callable[..., Any]) -> None:
    program = run_on_terminal("-m", "kgtui", "demo", columns=120, rows=36)
    program.until_text("Models")
    program.press("\x11")  # ctrl+q
    assert program.exit_status() == 0
    assert program.keeps_settings
