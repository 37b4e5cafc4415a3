"""The benchmark of memory starts, saves and prints its table: it broke unseen when modules moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine.engine
from tests.benchmarks import growth


@pytest.mark.slow
def test_growth_prints_memory_after_each_save(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(growth.__file__).parents[2])
    monkeypatch.setattr(growth, "REST_S", 0.0)
    growth.print_growth(2, engine="double", objects=False)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "2"]
    assert all(float(row[1]) > 10 for row in rows)


def test_double_of_growth_forgets_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.engine, "Engine", engine.engine.Engine)  # the double takes its place until the end
    growth._use_double()
    make: Any = engine.engine.Engine
    double = make()
    double.evaluated.append(("candidate", "plan"))
    assert double.evaluated == []
