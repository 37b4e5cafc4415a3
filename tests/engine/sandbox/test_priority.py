"""A process becomes nicer from whatever niceness it inherited, and a refusal changes nothing."""

from __future__ import annotations

import os

import pytest

from engine.sandbox.priority import NICEST, raise_niceness


@pytest.mark.parametrize(("inherited", "then"), [(-5, 0), (0, 5), (10, 15), (19, 19)])
def test_niceness_is_raised_from_the_inherited_one(monkeypatch: pytest.MonkeyPatch, inherited: int, then: int) -> None:
    reported: list[tuple[int, int, int]] = []
    monkeypatch.setattr(os, "getpriority", lambda which, who: inherited)
    monkeypatch.setattr(os, "setpriority", lambda *arguments: reported.append(arguments))
    raise_niceness(5)
    assert reported == [(os.PRIO_PROCESS, 0, then)]


def test_niceness_that_is_refused_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "setpriority", refuse)
    raise_niceness(NICEST)
