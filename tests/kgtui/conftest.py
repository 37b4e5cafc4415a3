"""What the tests of the screen share: the doubles, and an environment that draws the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import textual.pilot
from textual._compositor import Compositor
from textual._wait import wait_for_idle
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from kgtui.app.application import WorkbenchApp
from kgtui.app.services import Services
from kgtui.app.start import PreparedBatch, Settings, Start
from kgtui.settings.preferences import CommandLineSettings, preferences_of
from kgtui.settings.schema import parse_config
from tests.kgtui import fakes

_SCHEDULED = Path("/proc/self/schedstat")  # nanoseconds on a processor, and waiting for one, of the main thread
_IDLE_NS = 5_000_000  # a quarter of the time that Textual looks at
_MOST_WAITS = 50
_PARSED: dict[tuple[Any, ...], list[RuleSet]] = {}  # Any: the arguments of Textual's parser


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours, animations or editors from the shell that runs the tests."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TMUX", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot waits until the process has nothing to do; one that is kept from the processors has, and does nothing."""
    if not _SCHEDULED.exists():
        return

    async def wait(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
        for _ in range(_MOST_WAITS):
            before_ns = _kept_waiting_ns()
            await wait_for_idle(min_sleep, max_sleep)
            if _kept_waiting_ns() - before_ns < _IDLE_NS:
                return

    monkeypatch.setattr(textual.pilot, "wait_for_idle", wait)


@pytest.fixture(autouse=True)
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each style sheet is parsed once in a process of the tests, not by every application."""
    parse_rules = Stylesheet._parse_rules

    def parsed(sheet: Stylesheet, css: str, read_from: tuple[str, str], *given: Any, **named: Any) -> list[RuleSet]:
        key = (css, read_from, given, *named.items(), *sorted(sheet._variables.items()))
        if key not in _PARSED:
            _PARSED[key] = parse_rules(sheet, css, read_from, *given, **named)
        return _PARSED[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed)


def _kept_waiting_ns() -> int:
    return int(_SCHEDULED.read_text(encoding="ascii").split()[1])


@pytest.fixture
def unpainted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint nothing for the terminal that is not there, in tests that draw the screen themselves."""
    monkeypatch.setattr(Compositor, "render_update", lambda self, **_: self._dirty_regions.clear())


@dataclass
class Bench:
    """The application on its doubles, and the kernel file that it is opened on."""

    app: WorkbenchApp
    engine: Any
    recording: Any
    path: Path
    watchers: list[Any] = field(default_factory=list)

    @property
    def watcher(self) -> Any:
        """The watcher of the file that is open."""
        return self.watchers[-1]

    async def settled(self, pilot: Pilot[None]) -> None:
        """Wait until no run goes on and all that was said is drawn."""
        while self.app.runs.busy or any(worker.group in _PASSING and worker.is_running for worker in self.app.workers):
            await pilot.pause()
        await pilot.pause()

    async def until(self, pilot: Pilot[None], true: Callable[[], bool]) -> None:
        """Wait until something is so; the suite's time limit ends a wait that is in vain."""
        while not true():
            await pilot.pause()


BenchMaker = Callable[..., Bench]
_PASSING = {"compare", "history", "code", "differences", "past", "lists", "watchers", "editor"}


@pytest.fixture
def make_bench(tmp_path: Path) -> BenchMaker:
    """A maker of applications; `script` is what the engine says, `opened` whether a file is open at once.

    `config` is the text of the settings file; `batch` is generated as soon as the engine is there.
    """

    def make(
        script: Any = None,
        *,
        opened: bool = True,
        recording: Any = None,
        content: bytes | None = None,
        environment: dict[str, str] | None = None,
        problem: Any = None,
        ascii: bool = False,
        config: str = "",
        config_path: Path | None = None,
        batch: PreparedBatch | None = None,
        **settings: Any,
    ) -> Bench:
        path = tmp_path / "kernels" / "softmax.py"
        path.parent.mkdir(exist_ok=True)
        if opened:
            path.write_bytes(fakes.SOURCE if content is None else content)
        engine, store = fakes.FakeEngine(script=script or fakes.all_pass), recording or fakes.MemoryRecording()
        watchers: list[Any] = []

        def watch(*args: Any, **kwargs: Any) -> Any:
            watchers.append(fakes.FakeWatcher(*args, **kwargs))
            return watchers[-1]

        def open_store() -> Any:
            store.open_or_raise()
            return store

        around = {name: os.environ[name] for name in ("NO_COLOR",) if name in os.environ} | (environment or {})
        read = parse_config(config, path=config_path or tmp_path / "settings" / "config.toml")
        preferences = preferences_of(read, environment=around, command_line=CommandLineSettings(ascii=ascii))
        app = WorkbenchApp(
            services=Services(
                engine_factory=lambda: engine,
                store_opener=open_store,
                has_store=lambda: recording is not None,
                problems=fakes.Problems(lambda: (*fakes.catalogue(), *([problem] if problem else []))),
                watcher_factory=watch,
                read_artefact=fakes.read_artefact,
                scaffold=lambda problem: f"# kgtui: op={problem.name}\n",
                diagnose=fakes.diagnose,
            ),
            settings=Settings(
                folder=tmp_path, environment=around, preferences=preferences, data=tmp_path / "data", **settings
            ),
            start=Start(problem=problem or fakes.softmax_problem(), path=path) if opened else None,
            batch=batch,
            clock=lambda: 0.0,
            now=lambda: fakes.NOW,
        )
        return Bench(app=app, engine=engine, recording=store, path=path, watchers=watchers)

    return make
