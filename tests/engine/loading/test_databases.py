"""The message for a refused SQLite database names its path; sqlite3's own errors name none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forking import Forking

Message = Callable[[str], str]
REMEDY = "a kernel may write below HOME, TMPDIR and XDG_CACHE_HOME only; set its cache folder there)"
PROGRAM = """
import os, sys
from pathlib import Path
from engine.loading.failures import failure
from engine.loading.loader import load
os.environ.update(HOME={home!r}, TMPDIR={home!r}, XDG_CACHE_HOME={home!r})
path = Path({path!r})
try:
    load(path, None, "entry")
except BaseException as error:
    sys.__stdout__.write(failure("i", error, str(path)).message)
"""


@pytest.fixture
def message(tmp_path: Path, fresh_process: Forking) -> Message:
    """What is reported of a candidate with these lines, whose HOME is `home` in its working directory."""

    def message(lines: str) -> str:
        home, path = tmp_path / "home", tmp_path / "kernel.py"
        home.mkdir()
        (tmp_path / "a file").write_text("")
        path.write_text(f"import pathlib, sqlite3\n{lines}\ndef entry(): ...\n")
        done = fresh_process.run(PROGRAM.format(home=str(home), path=str(path)), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return message


@pytest.mark.parametrize(
    ("opened", "path"),
    [
        ("'/no/such/cache.db'", "/no/such/cache.db"),
        ("b'/no/such/cache.db'", "/no/such/cache.db"),
        ("pathlib.Path('/no/such/cache.db')", "/no/such/cache.db"),
        ("'file:/no/such/cache.db?mode=rwc', uri=True", "/no/such/cache.db"),
        ("'file:///no/such/cache.db', uri=True", "/no/such/cache.db"),
    ],
)
def test_refused_database_is_named(message: Message, opened: str, path: str) -> None:
    assert message(f"sqlite3.connect({opened})") == (
        f"OperationalError: unable to open database file ({path!r} is refused: {REMEDY}"
    )


def test_relative_path_of_database_is_made_absolute(message: Message, tmp_path: Path) -> None:
    assert f"('{tmp_path}/no/cache.db' is refused: {REMEDY}" in message("sqlite3.connect('no/cache.db')")


def test_database_outside_is_named_among_permitted_ones(message: Message) -> None:
    opened = ("'/no/such/cache.db'", "':memory:'", "'home/mine.db'", "''")
    lines = "\n".join(
        f"try:\n    sqlite3.connect({one})\nexcept Exception as error:\n    first = error" for one in opened
    )
    lines = lines.replace("first = error", "first = first if 'first' in globals() else error")
    assert "('/no/such/cache.db' is refused: " in message(f"{lines}\nraise first")


def test_database_in_missing_folder_of_home_says_so(message: Message, tmp_path: Path) -> None:
    assert message("sqlite3.connect('home/library/cache.db')") == (
        "OperationalError: unable to open database file "
        f"('{tmp_path}/home/library/cache.db': its folder does not exist; create it first)"
    )


def test_read_only_database_is_named_when_written(message: Message) -> None:
    opened = "sqlite3.connect('file:/no/such?mode=ro&vfs=memdb', uri=True)"
    assert f"('/no/such' is refused: {REMEDY}" in message(f"{opened}.execute('create table t (a)')")


@pytest.mark.parametrize("opened", ["3", "Odd()", "'\\0'"])
def test_impossible_name_keeps_its_own_error(message: Message, opened: str) -> None:
    odd = "class Odd:\n    def __fspath__(self):\n        raise KeyError('odd')"
    assert "is refused" not in message(f"{odd}\nsqlite3.connect({opened})")
