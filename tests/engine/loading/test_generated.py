"""Text of files that a candidate writes itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.loading import generated

TEXT = "def kernel(x):\n    return x\n"


def kernel_in(path: Path, text: str = TEXT) -> Callable[..., object]:
    """The function of a file with this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("made", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., object] = module.kernel
    return function


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("home/cache/made.py", TEXT),
        ("home/made.py", TEXT),
        ("home/candidate/made.py", ""),
        ("home/modules/made.py", ""),
        ("elsewhere/made.py", ""),
    ],
)
def test_only_files_written_to_the_home_have_text(
    place: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert generated.source_of(kernel_in(tmp_path / place)) == text


def test_text_beyond_the_limit_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    longest = TEXT + "#" * (generated.MOST_CHARACTERS - len(TEXT) - 1) + "\n"
    assert generated.source_of(kernel_in(tmp_path / "longest.py", longest)) == longest
    assert generated.source_of(kernel_in(tmp_path / "longer.py", f"{longest}#")) == ""
