"""Stores in memory with the runs that a page needs to have been judged, by the names the catalogue knows them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from engine.model import Outcome
from engine.model.benchmark import Interval
from kgtui.ports.protocols import BestRun
from tests.kgtui.fakes import (
    SOURCE,
    MemoryRecording,
    all_pass,
    recent_file,
    some_fail,
    stops_half_way,
    suspicious,
)
from tests.kgtui.fakes.stored_runs import FOURTH, SECOND, THIRD, Kept, Runs, hinted
from tests.kgtui.fakes.timed_runs import all_timed
from tests.kgtui.pages.streams import twenty_percent_faster

_STRANGE = "日本語 [red]x[b] 🚀.py"


def empty(folder: Path, device: str) -> Kept:
    """A real store that has seen nothing."""
    return Kept()


def four(folder: Path, device: str) -> Kept:
    """Four texts: right, right, wrong, and one that a model wrote, with a note."""
    runs = Runs(folder, device=device)
    runs.add(all_pass)
    runs.add(all_pass, SECOND)
    runs.add(some_fail, THIRD)
    runs.answered(FOURTH)
    runs.add(hinted, FOURTH)
    runs.store.set_note(4, "with [os] 形状 🚀")
    return runs.recording


def two_timed(folder: Path, device: str) -> Kept:
    """Two texts that were timed, the second faster."""
    runs = Runs(folder, device=device)
    runs.add(all_timed, SECOND)
    runs.add(twenty_percent_faster, FOURTH)
    return runs.recording


def full(folder: Path, device: str) -> Kept:
    """Runs of every kind of ending in two sessions, under tags and strange names, with a note that has no end."""
    runs = Runs(folder, device=device)
    runs.add(all_pass)
    runs.add(some_fail, SECOND, filename="softmax_v2.py")
    runs.add(suspicious, THIRD, filename="softmax_v2.py")
    runs.answered(FOURTH)
    runs.add(hinted, FOURTH, filename=_STRANGE)
    later = runs.store.begin_session("an evening [bold]", environment={"device": "NVIDIA H100", "torch": "2.13.0"})
    runs.add(stops_half_way, b"# cut short\n" + SOURCE, session=later)
    runs.store.end_session(later)
    runs.store.set_tag(4, "日本語")
    runs.store.set_note(4, "[bold]形状[/] 🚀 " + "and what else there is to say of it " * 4)
    runs.store.set_tag(2, "keep")
    return runs.recording


def known(folder: Path, device: str) -> Kept:
    """The text that is open was judged before."""
    runs = Runs(folder, device=device)
    runs.add(all_pass)
    return runs.recording


def cut_short(folder: Path, device: str) -> Kept:
    """The only run ended without a verdict, with the program that asked for it."""
    runs = Runs(folder, device=device)
    runs.add(stops_half_way, SECOND)
    runs.store.end_session(runs.session)
    return runs.recording


def recent(folder: Path, device: str) -> MemoryRecording:
    """Two files were judged of late."""
    kernels = folder / "kernels"
    files = (
        recent_file(kernels / "softmax_v3.py"),
        recent_file(kernels / _STRANGE, problem="vllm::rms_norm", outcome=Outcome.WRONG_VALUE),
    )
    kernels.mkdir(exist_ok=True)
    for file in files:
        file.path.write_bytes(SOURCE)
    return MemoryRecording(recent=files)


def with_a_best(folder: Path, device: str) -> MemoryRecording:
    """An earlier run of the file was faster."""
    best = BestRun(number=38, baseline="eager", speedup=Interval(value=1.36, low=1.33, high=1.39))
    return MemoryRecording(fastest=best)


def broken(folder: Path, device: str) -> MemoryRecording:
    """A store that refuses whatever it is asked."""
    return MemoryRecording(refuses="the store cannot be written: no space left on the device")


Store = Callable[[Path, str], Kept | MemoryRecording]
STORES: Mapping[str, Store] = MappingProxyType(
    {store.__name__: store for store in (empty, four, two_timed, full, known, cut_short, recent, with_a_best, broken)}
)
