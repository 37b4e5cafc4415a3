"""Reading the samples: each is a tiny checkout in the format of its suite, with the faults that real ones have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from problems.suites.scanning import format_of
from problems.suites.task import SuiteContents

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def samples() -> Path:
    """The folder of the samples, one folder for each suite."""
    return SAMPLES


@pytest.fixture
def contents_of() -> Callable[[Path], SuiteContents]:
    """What is read from a path by the format that recognises it."""
    return lambda path: format_of(path).read(path)
