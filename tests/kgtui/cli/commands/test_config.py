"""`kgtui config`: a file only when it is asked for, and who decided each setting."""

from __future__ import annotations

import pytest

from kgtui.settings.schema import template


@pytest.fixture
def config(home):
    """The settings file, in a folder that is there."""
    home.mkdir()
    return home / "config.toml"


def test_init_makes_a_commented_file_and_never_overwrites_one(typed, home):
    ended = typed("config", "init")
    path = home / "config.toml"
    assert (ended.exit_code, ended.err) == (0, "")
    assert path.read_text() == template()
    path.write_text("ascii = true\n")
    again = typed("config", "init")
    assert again.exit_code == 2
    assert again.err == f"kgtui: {path} is there already and is not overwritten; edit it, or move it away first\n"
    assert path.read_text() == "ascii = true\n"


def test_show_tells_every_setting_and_makes_nothing(typed, home):
    ended = typed("config")
    assert ended.exit_code == 0
    lines = ended.out.splitlines()
    assert lines[0] == f"file  {home}/config.toml  (none; kgtui config init makes one)"
    assert [line.split()[0] for line in lines[1:]] == [
        "theme",
        "ascii",
        "device",
        "target",
        "folder",
        "editor",
        "notify",
        "notify_after_s",
    ]
    assert 'folder          "kernels"      usual' in lines
    assert not home.exists()


def test_show_tells_what_the_file_decided_and_the_keys(typed, config):
    config.write_text('ascii = true\n[keys]\n"workbench.run" = "f9"\n')
    lines = typed("config", "show").out.splitlines()
    assert f"ascii           true           {config}" in lines
    assert lines[-1] == f"workbench.run   f9             {config}"


def test_show_ends_with_an_error_and_still_tells_what_holds(typed, config):
    config.write_text("asci = true\nfolder = 'mine'\n[keys]\n'workbench.run' = 'f'\n")
    ended = typed("config", "show")
    assert ended.exit_code == 2
    assert ended.err.splitlines() == [
        f"kgtui: {config}, asci: there is no such setting; did you mean ascii?",
        f"kgtui: {config}, keys.workbench.run: f would be both workbench.run and workbench.failed; "
        "give one of them another key",
    ]
    assert f'folder          "mine"         {config}' in ended.out.splitlines()


def test_a_file_that_cannot_be_read_is_not_said_to_be_none(typed, config):
    config.mkdir()
    ended = typed("config", "show")
    assert (ended.exit_code, ended.out.splitlines()[0]) == (2, f"file  {config}  (it cannot be read)")
    assert ended.err == f"kgtui: {config} cannot be read: it is a folder; check it\n"


def test_a_command_says_what_is_wrong_and_goes_on(typed, config, folder):
    config.write_text("asci = true\nfolder = 'mine'\n")
    ended = typed("new", "softmax")
    assert ended.exit_code == 0
    assert ended.err == (
        f"kgtui: {config}, asci: there is no such setting; did you mean ascii? (`kgtui config show` tells what holds)\n"
    )
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")] == ["mine/softmax.py"]
