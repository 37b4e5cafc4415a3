"""`kgtui config`: a file only when it is asked for, and who decided each setting."""

from __future__ import annotations

import pytest

from kgtui.settings.schema import template


@pytest.fixture
def config(home):
    """The settings file, in a folder that is there."""
    home.mkdir()
    return home / "config.toml"


def test_init_makes_commented_file_and_never_overwrites(typed, home):
    ended = typed("config", "init")
    path = home / "config.toml"
    assert (ended.exit_code, ended.err) == (0, "")
    assert path.read_text() == template()
    path.write_text("ascii = true\n")
    again = typed("config", "init")
    assert again.exit_code == 2
    assert again.err == f"kgtui: {path} exists and is not overwritten; edit it, or move it away first\n"
    assert path.read_text() == "ascii = true\n"


def test_init_in_unusable_folder_names_variable_of_folder(typed, home):
    home.write_text("a file")
    ended = typed("config", "init")
    assert ended.exit_code == 2
    refusal = f"{home}/config.toml was not created: {home} is not a folder; set KGTUI_HOME to another folder"
    assert ended.err == f"kgtui: {refusal}\n"


def test_show_lists_every_setting_and_writes_nothing(typed, home):
    ended = typed("config")
    assert ended.exit_code == 0
    lines = ended.out.splitlines()
    assert lines[0] == f"file  {home}/config.toml  (none; kgtui config init creates one)"
    assert [line.split()[0] for line in lines[1:]] == [
        "theme",
        "ascii",
        "device",
        "target",
        "folder",
        "problems",
        "suites",
        "editor",
        "notify",
        "notify_after_s",
    ]
    assert 'folder          "kernels"      default' in lines
    assert not home.exists()


def test_show_lists_file_settings_and_keys(typed, config):
    config.write_text('ascii = true\n[keys]\n"workbench.run" = "f11"\n')
    lines = typed("config", "show").out.splitlines()
    assert f"ascii           true           {config}" in lines
    assert lines[-1] == f"workbench.run   f11            {config}"


def test_show_with_error_lists_effective_settings(typed, config):
    config.write_text("asci = true\nfolder = 'mine'\n[keys]\n'workbench.run' = 'f'\n")
    ended = typed("config", "show")
    assert ended.exit_code == 2
    assert ended.err.splitlines() == [
        f"kgtui: {config}, asci: unknown setting; did you mean ascii?",
        f"kgtui: {config}, keys.workbench.run: f would be both workbench.run and workbench.failed; change one of them",
    ]
    assert f'folder          "mine"         {config}' in ended.out.splitlines()


def test_unreadable_file_is_not_reported_as_missing(typed, config):
    config.mkdir()
    ended = typed("config", "show")
    assert (ended.exit_code, ended.out.splitlines()[0]) == (2, f"file  {config}  (it cannot be read)")
    assert ended.err == f"kgtui: {config} cannot be read: it is a folder; check it\n"


def test_command_reports_bad_setting_and_continues(typed, config, folder):
    config.write_text("asci = true\nfolder = 'mine'\n")
    ended = typed("new", "softmax")
    assert ended.exit_code == 0
    assert ended.err == (
        f"kgtui: {config}, asci: unknown setting; did you mean ascii? (`kgtui config show` lists the values in use)\n"
    )
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")] == ["mine/softmax.py"]


MINE = '# mine\ntheme = "dark"  # at night\n\n[keys]\n"workbench.run" = ["f11"]\n'


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "dark"),
        ("folder", "kernels"),
        ("ascii", "false"),
        ("notify_after_s", "10"),
        ("device", "cpu"),
        ("target", "sm_90"),
        ("keys.workbench.run", "f11"),
    ],
)
def test_a_setting_is_printed_for_a_script(typed, config, no_gpu, name, value):
    config.write_text(MINE)
    ended = typed("config", "get", name)
    assert (ended.exit_code, ended.out, ended.err) == (0, f"{value}\n", "")


@pytest.mark.parametrize(
    ("arguments", "before", "after"),
    [
        (("theme", "light"), '"dark"', '"light"'),
        (("keys.workbench.run", "f11", "Q"), '["f11"]', '["f11", "Q"]'),
        (("ascii", "true"), "# at night\n", "# at night\nascii = true\n"),
        (("notify_after_s", "2.5"), "# at night\n", "# at night\nnotify_after_s = 2.5\n"),
    ],
)
def test_setting_is_changed_and_rest_of_file_kept(typed, config, arguments, before, after):
    config.write_text(MINE)
    assert typed("config", "set", *arguments).exit_code == 0
    assert config.read_text() == MINE.replace(before, after)


def test_the_first_setting_makes_the_file(typed, home):
    ended = typed("config", "set", "theme", "light")
    assert (ended.exit_code, ended.out) == (0, f'{home}/config.toml: theme = "light"\n')
    assert (home / "config.toml").read_text() == 'theme = "light"\n'


@pytest.mark.parametrize(
    ("name", "gone"), [("theme", 'theme = "dark"  # at night\n'), ("keys.workbench.run", '"workbench.run" = ["f11"]\n')]
)
def test_a_setting_is_removed(typed, config, name, gone):
    config.write_text(MINE)
    assert typed("config", "unset", name).out == f"{config}: {name} removed\n"
    assert config.read_text() == MINE.replace(gone, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("get", "them"), "no such setting: 'them'; did you mean theme?"),
        (("get", "keys.workbench.rum"), "no such setting: 'keys.workbench.rum'; did you mean keys.workbench.run?"),
        (("set", "theme", "pink"), "theme: expected one of dark, light, ansi-dark, ansi-light, got 'pink'"),
        (("set", "ascii", "yes"), "ascii is true or false, got 'yes'"),
        (("set", "notify_after_s", "soon"), "notify_after_s is a number, got 'soon'"),
        (("set", "theme", "a", "b"), "theme has one value, got 2; put a value with spaces in quotes"),
        (("set", "keys.workbench.run", "f"), "keys.workbench.run: f would be both workbench.run and workbench.failed"),
        (("unset", "folder"), "{config} does not set folder; `kgtui config show` lists what it sets"),
        (("set", "theme"), "the following arguments are required: VALUE; `kgtui config set --help` shows the"),
    ],
)
def test_invalid_setting_leaves_file_unchanged(typed, config, arguments, said):
    config.write_text(MINE)
    ended = typed("config", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith(f"kgtui: {said.format(config=config)}")
    assert config.read_text() == MINE


def test_refused_setting_changes_nothing(typed, config, no_gpu):
    ended = typed("config", "set", "device", "cuda")
    assert (ended.exit_code, config.exists()) == (2, False)
    assert ended.err == "kgtui: device: there is no cuda device on this machine; nothing was changed\n"
