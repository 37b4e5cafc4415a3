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
from kgtui.settings.schema import OPTIONS, Config, FileSettings, Notify, Theme, Value, toml
from kgtui.state.format.encodings import has_signs

NO_TARGET = "none"
INSTEAD = "; an available one is used"
"""What follows from a device in the file that is missing here."""
DEFAULT = "default"
LINUX_CONSOLE = "TERM=linux"
DETECTED = "detected"

_TRUE_COLOURS = ("truecolor", "24bit")


@dataclass(frozen=True, kw_only=True)
class CommandLineSettings:
    """Options of the command line; None and False if absent."""

    ascii: bool = False
    device: str | None = None
    target: str | None = None
    problems: str | None = None


@dataclass(frozen=True, kw_only=True)
class EffectiveSetting:
    """A setting with its value and its source; `overridden` is the file's value that another source overrides."""

    key: str
    value: Value | None
    source: str
    overridden: Value | None = None


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """The settings of this start.  A theme of None leaves it to Textual's own variable or its default."""

    config: Config
    settings: tuple[EffectiveSetting, ...]
    problems: tuple[str, ...]
    environment: Mapping[str, str]
    command_line: CommandLineSettings
    encoding: str | None = None

    def under(self, config: Config) -> Preferences:
        """The settings that another file would give."""
        return preferences_of(
            config, environment=self.environment, command_line=self.command_line, encoding=self.encoding
        )

    def of(self, key: str) -> EffectiveSetting:
        """The setting under a key of `kgtui.settings.schema.OPTIONS`."""
        return next(one for one in self.settings if one.key == key)

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
    config: Config,
    *,
    environment: Mapping[str, str],
    command_line: CommandLineSettings | None = None,
    encoding: str | None = None,
) -> Preferences:
    """Every setting, decided; `encoding` is that of the output."""
    command_line = command_line or CommandLineSettings()
    in_file, problems = _usable(config)
    sources = {
        "theme": (_without_colour(environment), _of_file(in_file, "theme", config), *_themes_of(environment)),
        "ascii": (
            ("--ascii", command_line.ascii or None),
            _of_file(in_file, "ascii", config),
            (f"encoding {encoding}", None if has_signs(encoding) else True),
            (LINUX_CONSOLE, environment.get("TERM") == "linux" or None),
            (DEFAULT, False),
        ),
        "device": (("--device", command_line.device), _of_file(in_file, "device", config)),
        "target": (("--target", command_line.target), _of_file(in_file, "target", config)),
        "problems": (("--problems", command_line.problems), _of_file(in_file, "problems", config)),
        "editor": (
            _of_file(in_file, "editor", config),
            ("VISUAL", environment.get("VISUAL") or None),
            ("EDITOR", environment.get("EDITOR") or None),
            (DEFAULT, "vi"),
        ),
    }
    settings = []
    for option in OPTIONS:
        default = (_of_file(in_file, option.key, config), (DEFAULT, option.default))
        without = DEFAULT if option.is_optional else DETECTED
        source, value = _first(sources.get(option.key, default), without=without)
        value_in_file = in_file.value(option.key)
        overridden = value_in_file if value_in_file is not None and value_in_file != value else None
        settings.append(EffectiveSetting(key=option.key, value=value, source=source, overridden=overridden))
    return Preferences(
        config=config,
        settings=tuple(settings),
        problems=(*config.problems, *problems),
        environment=environment,
        command_line=command_line,
        encoding=encoding,
    )


_Source = tuple[str, Value | None]


def _first(sources: tuple[_Source, ...], *, without: str) -> _Source:
    """The first source that has a value; if none has one, the source `without` and no value."""
    return next(((source, value) for source, value in sources if value is not None), (without, None))


def _of_file(in_file: FileSettings, key: str, config: Config) -> _Source:
    return str(config.path), in_file.value(key)


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


def setting_line(one: EffectiveSetting, *, found: str = "") -> str:
    """A setting, its value, and its source; `found` is the value of a detected one."""
    value = found if one.source == DETECTED else "none" if one.value is None else toml(one.value)
    overridden = f", overrides {toml(one.overridden)} of the file" if one.overridden is not None else ""
    return f"{one.key:<15} {value:<14} {one.source}{overridden}".rstrip()


def _usable(config: Config) -> tuple[FileSettings, tuple[str, ...]]:
    """The file's settings without unknown devices and targets, and a sentence on each unknown one."""
    in_file, problems = config.settings, []
    if in_file.device is not None:
        try:
            found = platform_named(in_file.device).detect()
            words = "" if found else f"there is no {in_file.device} device on this machine{INSTEAD}"
        except KgtuiError as error:
            words = str(error)
        if words:
            problems.append(f"{config.path}, device: {words}")
            in_file = replace(in_file, device=None)
    if in_file.target is not None and in_file.target != NO_TARGET:
        try:
            asked_target(in_file.target)
        except KgtuiError as error:
            problems.append(f"{config.path}, target: {error}")
            in_file = replace(in_file, target=None)
    return in_file, tuple(problems)
