"""Probes are found by scanning, refused when something is missing, and never fail silently."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from engine import probes, protocol
from engine.errors import ChildDiedError, DeadlineError, EngineError, KilledError
from engine.model import Finding, Severity
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import Observation, Probe, is_on_demand, name_of, observations_of
from engine.probes import probes as all_probes
from engine.probes.lab.case_session import Lab
from engine.processes.candidate_session import LoadError
from tests.candidates import candidates, stated

PROBES = {probe.__name__.rpartition(".")[2]: probe for probe in all_probes()}
GOOD = "CATCHES = ()\nLAYER = None\nasync def probe(lab):\n    yield None\n"
LAB = cast(Lab, None)  # cast: these probes ask nothing of it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for engine/probes."""
    monkeypatch.setattr(probes, "__path__", [str(tmp_path)])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith("engine.probes."):
            del sys.modules[name]


def test_probes_are_ordered_by_name_except_withholding_ones() -> None:
    withholding = ["only_moves", "ghost_replay", "large_cases"]
    assert list(PROBES) == [*sorted(PROBES.keys() - withholding), *withholding]


@pytest.mark.parametrize("name", PROBES)
def test_probe_states_reason_and_cheats(name: str) -> None:
    probe = PROBES[name]
    assert probe.__doc__
    assert probe.CATCHES or is_on_demand(probe)
    paths = {path.name: path for kind in ("cheats", "cheats_gpu") for path in candidates(kind)}
    assert {cheat for cheat in probe.CATCHES if name not in stated(paths[cheat]).findings} == set()


def test_a_file_that_defines_all_is_a_probe(folder: Path) -> None:
    (folder / "own_probe.py").write_text(GOOD)
    assert [probe.__name__ for probe in all_probes()] == ["engine.probes.own_probe"]


def test_probes_run_by_turn_then_name(folder: Path) -> None:
    (folder / "a_withholding_probe.py").write_text(GOOD + "TURN = 1\n")
    (folder / "own_probe.py").write_text(GOOD)
    assert [name_of(probe) for probe in all_probes()] == ["own_probe", "a_withholding_probe"]


@pytest.mark.parametrize("missing", ["CATCHES", "LAYER", "probe"])
def test_file_without_required_name_is_refused(folder: Path, missing: str) -> None:
    (folder / f"lacks_{missing}.py").write_text(GOOD.replace(missing, "other"))
    with pytest.raises(EngineError, match=rf"engine/probes/lacks_{missing}\.py does not define {missing}"):
        all_probes()


def test_a_probe_that_cannot_be_iterated_is_refused(folder: Path) -> None:
    (folder / "plain_probe.py").write_text("CATCHES = ()\nLAYER = None\ndef probe(lab):\n    return []\n")
    with pytest.raises(EngineError, match=r"engine/probes/plain_probe\.py: probe must be an async function"):
        all_probes()


def stands(probe: object) -> Probe:
    """A module with this probe."""
    module = SimpleNamespace(__name__="engine.probes.own", CATCHES=(), LAYER=Layer.INPUTS, probe=probe)
    return cast(Probe, module)  # cast: stands for a module


def unchecked(why: str, coverage: Coverage = Coverage.ENGINE_FAILED) -> LayerReport:
    return LayerReport(layer=Layer.INPUTS, by="own", coverage=coverage, why=why)


@pytest.mark.parametrize(
    ("error", "coverage"),
    [
        (EngineError("the judge could not make inputs"), Coverage.ENGINE_FAILED),
        (OSError("File too large"), Coverage.ENGINE_FAILED),
        (KilledError("by signal 9"), Coverage.ENGINE_FAILED),
        (ChildDiedError("the worker exited"), Coverage.NOT_CHECKED),
        (DeadlineError("no reply"), Coverage.NOT_CHECKED),
        (LoadError(protocol.Failed(id="1", kind=protocol.FailureKind.RAISED, message="no")), Coverage.NOT_CHECKED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.value,
)
async def test_only_worker_errors_count_against_the_candidate(error: Exception, coverage: Coverage) -> None:
    async def probe(lab: Lab) -> AsyncIterator[Observation]:
        raise error
        yield  # makes it a generator

    (report,) = [one async for one in observations_of(stands(probe), LAB)]
    assert report == unchecked(f"{type(error).__name__}: {error}", coverage)


async def test_raising_probe_keeps_findings_and_is_reported() -> None:
    seen = Finding(check="own", severity=Severity.SUSPECT, message="seen")

    async def probe(lab: Lab) -> AsyncIterator[Observation]:
        yield seen
        raise ZeroDivisionError("no elements")

    observed = [one async for one in observations_of(stands(probe), LAB)]
    assert observed == [seen, unchecked("ZeroDivisionError: no elements")]


async def test_probe_raising_after_report_is_not_checked() -> None:
    report = LayerReport(layer=Layer.INPUTS, by="own", coverage=Coverage.CHECKED)

    async def probe(lab: Lab) -> AsyncIterator[Observation]:
        yield report
        raise ZeroDivisionError("no elements")

    observed = [one async for one in observations_of(stands(probe), LAB)]
    assert observed == [report, unchecked("ZeroDivisionError: no elements")]


async def test_probe_without_report_has_checked_nothing() -> None:
    async def probe(lab: Lab) -> AsyncIterator[Observation]:
        yield Finding(check="own", severity=Severity.NOTE, message="seen")

    *_, report = [one async for one in observations_of(stands(probe), LAB)]
    assert report == unchecked("the probe ended without a report")
