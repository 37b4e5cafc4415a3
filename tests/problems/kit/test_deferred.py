"""The stand-in imports its module on the first use, and not before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from problems.kit.deferred import DeferredModule


@pytest.fixture
def unloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that this process can import and has not."""
    name = f"unloaded_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def test_making_and_showing_the_stand_in_imports_nothing(unloaded: str) -> None:
    assert unloaded in repr(DeferredModule(unloaded))
    assert unloaded not in sys.modules


def test_questions_of_tools_import_nothing(unloaded: str) -> None:
    stand_in = DeferredModule(unloaded)
    assert not hasattr(stand_in, "__wrapped__")
    assert not hasattr(stand_in, "__path__")
    assert unloaded not in sys.modules


def test_the_first_attribute_imports_the_module(unloaded: str) -> None:
    assert DeferredModule(unloaded).answer == 42
    assert unloaded in sys.modules


def test_missing_attribute_is_reported_by_module_itself() -> None:
    with pytest.raises(AttributeError, match="module 'math' has no attribute 'sine'"):
        _ = DeferredModule("math").sine
