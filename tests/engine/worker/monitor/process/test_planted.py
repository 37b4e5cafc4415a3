"""A module that was put in the place of another is told; new ones and those that are gone are not."""

from __future__ import annotations

import sys
import types

import pytest

from engine.worker.monitor.process import planted


def test_a_replaced_module_is_reported_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = planted.modules()
    monkeypatch.setitem(sys.modules, "statistics_of_mine", types.ModuleType("statistics_of_mine"))
    monkeypatch.delitem(sys.modules, "json.scanner")
    assert planted.changes(before) == ()
    monkeypatch.setitem(sys.modules, "json", types.ModuleType("json"))
    (change,) = planted.changes(before)
    assert (change.kind, change.name, change.detail) == ("function", "sys.modules[json]", "another module")


def test_launchers_regenerated_by_triton_are_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__triton_launcher", types.ModuleType("__triton_launcher"))
    before = planted.modules()
    monkeypatch.setitem(sys.modules, "__triton_launcher", types.ModuleType("__triton_launcher"))
    assert planted.changes(before) == ()
