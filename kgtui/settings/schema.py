"""The user's settings file: its options, their values, and errors in it.

Reading never fails: invalid entries are reported in `problems`, and the rest applies.  Nothing is ignored silently, and
nothing here writes or imports the screen.  Key bindings are checked by `kgtui.settings.keymap`.
"""

from __future__ import annotations

import enum
import reprlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeAlias

from engine.sandbox.user_files import MissingFileError, UserFileError, read_user_file

KEYS_TABLE = "keys"
MOST_BYTES = 1 << 20
"""Size limit of a settings file; one with every setting and key has about 10 kB."""

Value: TypeAlias = str | bool | float


class Theme(enum.StrEnum):
    """Colour theme of the screen; the ANSI themes use the terminal's sixteen colours."""

    DARK = "dark"
    LIGHT = "light"
    ANSI_DARK = "ansi-dark"
    ANSI_LIGHT = "ansi-light"


class Notify(enum.StrEnum):
    """Way to report the end of a long run when the terminal has no focus."""

    OFF = "off"
    BELL = "bell"
    OSC9 = "osc9"
    OSC777 = "osc777"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One setting of the file: its meaning, its default, and its valid values.

    Without a default the value is detected on this machine; an optional setting then has no value.
    """

    key: str
    help: str
    default: Value | None
    kind: type[str] | type[bool] | type[float]
    example: Value
    choices: tuple[str, ...] = ()
    is_optional: bool = False


OPTIONS = (
    Option(key="theme", help="colours: dark, light, or the terminal's own in ansi-dark and ansi-light", default=None,
           kind=str, example="dark", choices=tuple(Theme)),
    Option(key="ascii", help="draw with ASCII signs only", default=None, kind=bool, example=True),
    Option(key="device", help="where candidates run: cpu or cuda; when left out, a GPU if there is one", default=None,
           kind=str, example="cpu"),
    Option(key="target", help="target of the launches: sm_90, gfx942, none; when left out, this GPU or sm_90",
           default=None, kind=str, example="sm_90"),
    Option(key="folder", help="folder of kernel files, relative to the working folder",
           default="kernels", kind=str, example="kernels"),
    Option(key="problems", help="a folder of your own problem files, relative to the working folder",
           default=None, kind=str, example="problems", is_optional=True),
    Option(key="suites", help="foreign suites that are always known: folders or files, separated as in PATH",
           default=None, kind=str, example="/data/KernelBench", is_optional=True),
    Option(key="editor", help="the editor that E opens; when left out, VISUAL, then EDITOR", default=None, kind=str,
           example="nvim"),
    Option(key="notify",
           help="notification at the end of a long run, if the terminal has no focus: off, bell, osc9, osc777",
           default="off", kind=str, example="bell", choices=tuple(Notify)),
    Option(key="notify_after_s", help="least duration of a long run, in seconds", default=10.0,
           kind=float, example=10.0),
)  # fmt: skip
OPTION_BY_KEY = {option.key: option for option in OPTIONS}

_DEEPEST_TABLE = 8
_KIND_NAMES: Mapping[type, str] = {str: "a text in quotes", bool: "true or false", float: "a number"}


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    """Content of the settings file; None for settings that it does not set.  `keys` are bindings by their ids."""

    theme: Theme | None = None
    ascii: bool | None = None
    device: str | None = None
    target: str | None = None
    folder: str | None = None
    problems: str | None = None
    suites: str | None = None
    editor: str | None = None
    notify: Notify | None = None
    notify_after_s: float | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def value(self, key: str) -> Value | None:
        """Value of the file under a key of `OPTIONS`."""
        found: Value | None = getattr(self, OPTION_BY_KEY[key].key)
        return found


@dataclass(frozen=True, kw_only=True)
class Config:
    """A settings file that was read; `text` is None if it does not exist or cannot be read."""

    path: Path
    text: str | None
    settings: FileSettings = FileSettings()
    problems: tuple[str, ...] = ()


def read_config(path: Path) -> Config:
    """Read the file at `path`, which may not exist."""
    try:
        text = read_user_file(path, max_bytes=MOST_BYTES).decode()
    except MissingFileError:
        return Config(path=path, text=None)
    except UserFileError as error:
        return Config(path=path, text=None, problems=(f"{path} cannot be read: {error}; check it",))
    except UnicodeDecodeError as error:
        words = f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        return Config(path=path, text=None, problems=(words,))
    return parse_config(text, path=path)


def parse_config(text: str, *, path: Path) -> Config:
    """Parse the text of a settings file; errors name `path` and the key."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except ValueError as error:  # a TOMLDecodeError, or a number with more digits than Python reads
        return Config(path=path, text=text, problems=(f"{path} is not TOML: {error}; correct that line",))
    except RecursionError:
        words = f"{path} is nested too deeply; a setting is a text, a number, true or false"
        return Config(path=path, text=text, problems=(words,))
    found: dict[str, Value] = {}
    problems: list[str] = []
    keys: dict[str, tuple[str, ...]] = {}
    for key, value in document.items():
        if key == KEYS_TABLE:
            keys, trouble = _bindings(value, path)
            problems += trouble
        elif (option := OPTION_BY_KEY.get(key)) is None:
            problems.append(_unknown(key, path))
        elif wrong := _wrong(option, value):
            problems.append(f"{path}, {key}: {wrong}")
        else:
            found[key] = _typed(option, value)
    return Config(path=path, text=text, settings=_file_settings(found, keys), problems=tuple(problems))


def _unknown(key: str, path: Path) -> str:
    known = [*OPTION_BY_KEY, KEYS_TABLE]
    import difflib  # only for a wrong name

    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return f"{path}, {key}: unknown setting; {hint}"


def _wrong(option: Option, value: object) -> str:
    """Error of a value, or ""."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = is_number if option.kind is float else isinstance(value, option.kind)
    if not fits:
        return f"expected {_KIND_NAMES[option.kind]}, got {_shown(value)}; write {option.key} = {toml(option.example)}"
    if option.choices and value not in option.choices:
        return f"expected one of {', '.join(option.choices)}, got {_shown(value)}"
    if isinstance(value, str) and not (value.strip() and value.isprintable()):
        return f"expected a text of one line, got {_shown(value)}; leave the line out for the default"
    if is_number and isinstance(value, int | float) and not 0 <= value <= sys.float_info.max:
        return f"expected a number from 0 on, got {_shown(value)}"
    return ""


def _typed(option: Option, value: object) -> Value:
    if isinstance(value, bool | str):
        return value
    assert isinstance(value, int | float), f"{option.key} was checked before"
    return float(value)


def _file_settings(found: Mapping[str, Value], keys: Mapping[str, tuple[str, ...]]) -> FileSettings:
    """The record; every value has the type that its option demands."""
    closed: dict[str, type[Theme] | type[Notify]] = {"theme": Theme, "notify": Notify}
    values = {key: closed[key](str(value)) if key in closed else value for key, value in found.items()}
    unknown = set(values) - {one.name for one in fields(FileSettings)}
    assert not unknown, f"{unknown} are options without a field"
    return FileSettings(**values, keys=keys)  # type: ignore[arg-type]  # one check for all kinds, in _wrong


def _bindings(value: object, path: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The valid part of the table of keys, and errors of the rest."""
    if not isinstance(value, dict):
        return {}, [
            f"{path}, {KEYS_TABLE}: expected a table, got {_shown(value)}; write [{KEYS_TABLE}] above the bindings"
        ]
    found: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for name, keys in _flat(value):
        listed = [keys] if isinstance(keys, str) else keys
        if isinstance(listed, list) and listed and all(isinstance(key, str) and key for key in listed):
            found[name] = tuple(listed)
        else:
            words = f'expected a key or a list of keys, got {_shown(keys)}; write "{name}" = ["f11"]'
            problems.append(f"{path}, {KEYS_TABLE}.{name}: {words}")
    return found, problems


def _shown(value: object) -> str:
    """The repr of a value, shortened if it is long or deep."""
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = shown.maxlong = 80
    try:
        return shown.repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "a number that is too large"


def _flat(table: Mapping[str, object], before: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The entries with their whole ids: TOML reads an id without quotes as nested tables."""
    for name, value in table.items():
        if isinstance(value, dict) and depth < _DEEPEST_TABLE:
            yield from _flat(value, f"{before}{name}.", depth + 1)
        else:
            yield f"{before}{name}", value


def template() -> str:
    """A file with every setting, each as a comment."""
    lines = ["# Settings of kgtui. Remove the # to set a value; `kgtui config show` lists the values in use.", ""]
    for option in OPTIONS:
        lines += [f"# {option.help}", f"# {option.key} = {toml(option.example)}", ""]
    lines += [
        "# Keys by binding: F2 and `kgtui manual keys` show the names. Each line replaces all keys of its binding.",
        f"# [{KEYS_TABLE}]",
        '# "workbench.run" = ["f11", "r"]',
    ]
    return "\n".join(lines) + "\n"


def option_table_markdown() -> str:
    """The table of settings in the manual."""
    rows = [f"| `{option.key}` | {_default_words(option)} | {option.help} |" for option in OPTIONS]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _default_words(option: Option) -> str:
    if option.default is not None:
        return f"`{toml(option.default)}`"
    return "none" if option.is_optional else "detected"


def toml(value: Value | tuple[str, ...]) -> str:
    """A value in TOML syntax."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))  # 10, but all digits of 1234567.5
