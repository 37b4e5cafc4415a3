"""The effective value of each setting and its source: a flag, the environment, the settings file, or the default.

A pure function of the three.  The precedence is the same for every setting: command line, NO_COLOR, settings file,
environment, default.  NO_COLOR precedes the file because it is about this terminal.  A value of the file that is
unavailable here is reported, and the next source decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.devices import platform_named
from engine.devices.hardware.targets import asked_target
from engine.errors import KgtuiError
from kgtui.settings.schema import OPTIONS, Asked, Config, Notify, Theme, Value, toml
from kgtui.state.format.encodings import has_signs

NO_TARGET = "none"
INSTEAD = "; an available one is used"
"""What follows from a device in the file that is missing here."""
DEFAULT = "default"
LINUX_CONSOLE = "TERM=linux"
DETECTED = "detected"

_TRUE_COLOURS = ("truecolor", "24bit")


@dataclass(frozen=True, kw_only=True)
class Typed:
    """Options of the command line; None and False if absent."""

    ascii: bool = False
    device: str | None = None
    target: str | None = None
    problems: str | None = None


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A setting with its value and its source; `overridden` is the file's value that another source overrides."""

    key: str
    value: Value | None
    source: str
    overridden: Value | None = None


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """The settings of this start.  A theme of None leaves it to Textual's own variable or its default."""

    config: Config
    chosen: tuple[Chosen, ...]
    problems: tuple[str, ...]
    environment: Mapping[str, str]
    typed: Typed
    encoding: str | None = None

    def under(self, config: Config) -> Preferences:
        """The settings that another file would give."""
        return preferences_of(config, environment=self.environment, typed=self.typed, encoding=self.encoding)

    def of(self, key: str) -> Chosen:
        """The setting under a key of `kgtui.settings.schema.OPTIONS`."""
        return next(one for one in self.chosen if one.key == key)

    def text(self, key: str) -> str | None:
        """The value of a text setting."""
        value = self.of(key).value
        return None if value is None else str(value)

    @property
    def is_ascii(self) -> bool:
        """Whether to draw only with ASCII characters."""
        return bool(self.of("ascii").value)

    @property
    def notify(self) -> Notify:
        """Way to report the end of a long run."""
        return Notify(str(self.of("notify").value))

    @property
    def notify_after_s(self) -> float:
        """Duration from which a run counts as long."""
        return float(self.of("notify_after_s").value or 0.0)


def preferences_of(
    config: Config, *, environment: Mapping[str, str], typed: Typed | None = None, encoding: str | None = None
) -> Preferences:
    """Every setting, decided; `encoding` is that of the output."""
    typed = typed or Typed()
    asked, problems = _usable(config)
    sources = {
        "theme": (_without_colour(environment), _of_file(asked, "theme", config), *_themes_of(environment)),
        "ascii": (
            ("--ascii", typed.ascii or None),
            _of_file(asked, "ascii", config),
            (f"encoding {encoding}", None if has_signs(encoding) else True),
            (LINUX_CONSOLE, environment.get("TERM") == "linux" or None),
            (DEFAULT, False),
        ),
        "device": (("--device", typed.device), _of_file(asked, "device", config)),
        "target": (("--target", typed.target), _of_file(asked, "target", config)),
        "problems": (("--problems", typed.problems), _of_file(asked, "problems", config)),
        "editor": (
            _of_file(asked, "editor", config),
            ("VISUAL", environment.get("VISUAL") or None),
            ("EDITOR", environment.get("EDITOR") or None),
            (DEFAULT, "vi"),
        ),
    }
    chosen = []
    for option in OPTIONS:
        default = (_of_file(asked, option.key, config), (DEFAULT, option.default))
        without = DEFAULT if option.is_optional else DETECTED
        source, value = _first(sources.get(option.key, default), without=without)
        wished = asked.value(option.key)
        overridden = wished if wished is not None and wished != value else None
        chosen.append(Chosen(key=option.key, value=value, source=source, overridden=overridden))
    return Preferences(
        config=config,
        chosen=tuple(chosen),
        problems=(*config.problems, *problems),
        environment=environment,
        typed=typed,
        encoding=encoding,
    )


_Source = tuple[str, Value | None]


def _first(sources: tuple[_Source, ...], *, without: str) -> _Source:
    """The first source that has a value; if none has one, the source `without` and no value."""
    return next(((source, value) for source, value in sources if value is not None), (without, None))


def _of_file(asked: Asked, key: str, config: Config) -> _Source:
    return str(config.path), asked.value(key)


def _without_colour(environment: Mapping[str, str]) -> _Source:
    return "NO_COLOR", Theme.ANSI_DARK if "NO_COLOR" in environment else None


def _themes_of(environment: Mapping[str, str]) -> tuple[_Source, ...]:
    """Textual's own variable; then the terminal's own colours if it has only sixteen."""
    term = environment.get("TERM", "")
    has_shades = "256" in term or environment.get("COLORTERM") in _TRUE_COLOURS or "direct" in term
    return (
        ("TEXTUAL_THEME", environment.get("TEXTUAL_THEME") or None),
        (f"TERM={term}, 16 colours", None if has_shades or not term else Theme.ANSI_DARK),
        (DEFAULT, Theme.DARK),
    )


def detected_preferences() -> Preferences:
    """The detected settings, without a file, variable or flag."""
    return preferences_of(Config(path=Path("config.toml"), text=None), environment={})


def setting_line(one: Chosen, *, found: str = "") -> str:
    """A setting, its value, and its source."""
    value = (found or "of this machine") if one.source == DETECTED else "none" if one.value is None else toml(one.value)
    overridden = f", overrides {toml(one.overridden)} of the file" if one.overridden is not None else ""
    return f"{one.key:<15} {value:<14} {one.source}{overridden}".rstrip()


def _usable(config: Config) -> tuple[Asked, tuple[str, ...]]:
    """The file's settings without unknown devices and targets, and a sentence on each unknown one."""
    asked, problems = config.asked, []
    if asked.device is not None:
        try:
            found = platform_named(asked.device).detect()
            words = "" if found else f"there is no {asked.device} device on this machine{INSTEAD}"
        except KgtuiError as error:
            words = str(error)
        if words:
            problems.append(f"{config.path}, device: {words}")
            asked = replace(asked, device=None)
    if asked.target is not None and asked.target != NO_TARGET:
        try:
            asked_target(asked.target)
        except KgtuiError as error:
            problems.append(f"{config.path}, target: {error}")
            asked = replace(asked, target=None)
    return asked, tuple(problems)
