"""Fixtures that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kgtui.screens.history.past_runs import Past


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """A store with nothing but a session."""
    return Past(tmp_path)


@pytest.fixture
def some(past: Past) -> Past:
    """Four runs: right, wrong, suspicious, and one of another operator under a strange name."""
    past.add("softmax.py")
    past.add("softmax_v2.py", script="some_fail", source=b"# the second\n")
    past.add("softmax_v2.py", script="suspicious", source=b"# the third\n")
    past.add("日本語 [red]x[b] 🚀.py", problem=1, source=b"# the fourth\n")
    return past


@pytest.fixture
def looking_back(make_bench: Any) -> Callable[..., Any]:
    """An application without a file, on this past."""

    def make(past: Past, **settings: Any) -> Any:
        return make_bench(opened=settings.pop("opened", False), recording=past.recording, **settings)

    return make
