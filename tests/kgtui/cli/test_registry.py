"""Commands are found by scanning a package: one file is one command, listed without importing it."""

from __future__ import annotations

import io
import sys

import pytest

from engine.errors import EngineError, UsageError
from kgtui.cli.command_line import command_parsers, parse, program_parser
from kgtui.cli.registry import Group, commands

HELLO = '''\
"""`kgtui hello`: greets."""

from kgtui.cli.registry import Group

SUMMARY = "Print a greeting."
GROUP = Group.REFERENCE


def add_arguments(parser):
    parser.add_argument("name")


def run(options, console):
    console.say(f"hello {options.name}")
    return 0
'''
PACKAGE = '''\
"""`kgtui greet`."""

from kgtui.cli.registry import Group

SUMMARY = "Greet."
GROUP = Group.HISTORY
DEFAULT = "hello"
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a command of one file, and one with a subcommand; its name."""
    name = f"commands_of_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / name
    (folder / "greet").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "say_hello.py").write_text(HELLO)
    (folder / "greet" / "__init__.py").write_text(PACKAGE)
    (folder / "greet" / "hello.py").write_text(HELLO.replace("GROUP = Group.REFERENCE\n", ""))
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for module in [one for one in sys.modules if one.startswith(name)]:
        del sys.modules[module]


def test_an_added_file_is_listed_and_not_imported(package):
    assert [(one.name, one.group, one.summary) for one in commands(package)] == [
        ("greet", Group.HISTORY, "Greet."),
        ("say-hello", Group.REFERENCE, "Print a greeting."),
    ]
    assert f"{package}.say_hello" not in sys.modules
    assert "Reference:\n  say-hello  Print a greeting.\n" in program_parser(package).format_help()


@pytest.mark.parametrize("words", [["say-hello", "you"], ["greet", "hello", "you"]])
def test_an_added_command_runs(package, console, words):
    typed = parse(words, package=package)
    assert typed.run(typed.options, console) == 0
    assert console.out.getvalue() == "hello you\n"


def test_the_help_of_an_added_command_is_generated(package):
    assert [parser.prog for parser in command_parsers(package)] == [
        "kgtui greet",
        "kgtui greet hello",
        "kgtui say-hello",
    ]


@pytest.mark.parametrize(
    ("line", "other", "message"),
    [
        ('SUMMARY = "Print a greeting."', "", "say_hello.py does not define SUMMARY"),
        ("GROUP = Group.REFERENCE", "", "say_hello.py does not define GROUP"),
        ("def run(", "def go(", "say_hello.py does not define run"),
        ("def add_arguments(", "def add(", "say_hello.py does not define add_arguments"),
        ("Group.REFERENCE", '"other"', "GROUP should be one of Group.KERNELS, Group.MODELS, Group.HISTORY, Group.R"),
        ('"Print a greeting."', "1", "SUMMARY and DEFAULT should be texts in quotes"),
    ],
)
def test_a_file_that_lacks_a_name_is_refused(package, tmp_path, line, other, message):
    path = tmp_path / package / "say_hello.py"
    path.write_text(HELLO.replace(line, other))
    with pytest.raises(EngineError) as refused:
        commands(package)
    assert message in str(refused.value)


def test_every_command_of_kgtui_is_listed_by_group():
    names = {group: [one.name for one in commands() if one.group is group] for group in Group}
    assert names[Group.KERNELS] == ["bench", "check", "inspect", "new", "open", "targets", "tune"]
    assert names[Group.HISTORY] == ["compare", "export-case", "export-proof", "replay", "sessions"]


WRONG = {
    "chek": "no such command or file: 'chek'; did you mean `kgtui check`?",
    "frobnicate": "no such command or file: 'frobnicate'; `kgtui --help` lists the commands",
    "aten::silu": "no such command: 'aten::silu'; `kgtui open --op aten::silu` opens the kernel file of an operator",
    "--check": "unrecognized arguments: --check; `kgtui --help` shows the arguments",
    "check a.py b.py": "unrecognized arguments: b.py; `kgtui check --help` shows the arguments",
    "problems shwo softmax": "no such subcommand of `kgtui problems`: 'shwo'; did you mean `kgtui problems show`?",
    "problems softmax": "no such subcommand of `kgtui problems`: 'softmax'; use one of audit, check, list, show; "
    "`kgtui problems show OP` shows an operator",
    "config shew": "no such subcommand of `kgtui config`: 'shew'; did you mean `kgtui config show`?",
    "check --cases z": (
        "argument --cases: invalid choice: 'z' (choose from 'smoke', 'full'); `kgtui check --help` shows the arguments"
    ),
}


@pytest.mark.parametrize(("line", "message"), WRONG.items(), ids=WRONG)
def test_a_wrong_command_line_names_the_next_step(line, message):
    with pytest.raises(UsageError) as refused:
        parse(line.split())
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", "open"),
        ("k.py", "open"),
        ("--debug ./k", "open"),
        ("k.py --op silu", "open"),
        ("problems", "problems list"),
        ("problems --json", "problems list"),
        ("problems --ascii show softmax", "problems show"),
        ("sessions show 3", "sessions show"),
        ("sessions --runs", "sessions list"),
        ("config", "config show"),
    ],
)
def test_command_line_selects_one_command(line, command):
    assert parse(line.split()).options.command == command


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("parser", [program_parser(), *command_parsers()], ids=lambda parser: parser.prog)
def test_help_fits_a_narrow_terminal(parser, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    terminal, file = Terminal(), io.StringIO()
    parser.print_help(file)
    parser.print_help(terminal)
    assert [line for line in terminal.getvalue().splitlines() if len(line) > 60] == []
    assert terminal.getvalue().split() == file.getvalue().split()


@pytest.mark.parametrize("parser", [program_parser(), *command_parsers()], ids=lambda parser: parser.prog)
def test_help_lines_have_at_most_100_characters(parser):
    assert [line for line in parser.format_help().splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("words", [["--help"], ["sessions", "--help"], ["sessions", "show", "-h"], ["--version"]])
def test_help_and_version_end_with_0(words, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(words)
    assert ended.value.code == 0
    assert capsys.readouterr().out
