"""What can be typed: the commands, their options, and the help of each.

Reading the arguments imports nothing heavier than argparse and the baselines' names.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import math
from typing import NoReturn

from engine.errors import UsageError
from engine.judge.baselines import baseline_names
from engine.model import Policy

_HELP_WIDTH = 100
_LARGEST = 2**63 - 1  # the store keeps numbers of 64 bits
_SHOWN_CHARACTERS = 80
_ASCII_HELP = "ASCII signs only; other letters of names are spelled out, documents stay whole"
_EXIT_CODES = """\
exit codes: 0 passed, 1 the candidate failed, 2 usage, 3 engine error or unsupported here,
4 flagged (right but not credible, or caught cheating), 130 interrupted"""
_CLAIM_EXITS = """\
the page is the output, and progress goes to the error stream. A claim never changes the verdict,
but the exit code of a kernel that is right and credible: 0 the claim is supported or exceeded,
1 it is not supported, 3 it was not measured. The others are those of every command: 1 failed,
4 flagged."""


def build_parser() -> argparse.ArgumentParser:
    """Everything that can be typed."""
    parser = _Parser(
        prog="kgtui",
        usage="kgtui [COMMAND ...]",
        description="A terminal workbench for GPU kernels. Without a command it shows the list of operators.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"kgtui {_version()}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument("--ascii", action="store_true", help=_ASCII_HELP)
    parser.set_defaults(op=None, file=None, sample=False, device=None, target=None, mouse=True)
    _add_commands(parser)
    return parser


def command_parsers() -> tuple[argparse.ArgumentParser, ...]:
    """The parser of each command, in the order of the help."""
    return _add_commands(_Parser(prog="kgtui", usage="", description=""))


def _add_commands(parser: _Parser) -> tuple[_Parser, ...]:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", parser_class=_Parser)
    adders = (
        _add_open,
        _add_check,
        _add_bench,
        _add_inspect,
        _add_targets,
        _add_tune,
        _add_problems,
        _add_new,
        _add_sessions,
        _add_compare,
        _add_export_case,
        _add_doctor,
        _add_config,
        _add_paths,
        _add_manual,
    )
    return tuple(add(commands) for add in adders)


class _Parser(argparse.ArgumentParser):
    """One that leaves the exit and the words of an error to us, and looks the same in every terminal."""

    def __init__(self, *, prog: str, usage: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=_HELP_WIDTH),
        )
        self.color = False  # Python 3.14 would colour the help, and the manual is made from it

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """A word that is no command is a file, or a command mistyped; argparse would list them all.

        Other choices are listed as they are typed; argparse would show those of an enum as Python does.
        """
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            raise UsageError(_no_command(str(value), tuple(action.choices)))
        known = ", ".join(repr(str(choice)) for choice in action.choices)
        raise argparse.ArgumentError(action, f"invalid choice: {shortened(str(value))} (choose from {known})")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError; the exit is decided in one place."""
        raise UsageError(f"{message}; `{self.prog} --help` shows what can be typed")


def _no_command(word: str, commands: tuple[str, ...]) -> str:
    if word.endswith(".py"):
        return f"{word} is no command; `kgtui open {word}` opens it, `kgtui check {word}` judges it"
    if "::" in word:
        return f"{word} is no command; `kgtui open {word}` opens its kernel file"
    close = difflib.get_close_matches(word, commands, n=1)
    hint = f"did you mean `{close[0]}`?" if close else "`kgtui --help` lists the commands"
    return f"{word!r} is no command; {hint}"


_Commands = argparse._SubParsersAction  # the only name that argparse gives this type


def _add(commands: _Commands[_Parser], name: str, usage: str, text: str) -> _Parser:
    parser = commands.add_parser(name, prog=f"kgtui {name}", usage=f"kgtui {usage}", description=text, help=text)
    # Absent unless it is given here, or it would undo the one before the command.
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--ascii", action="store_true", default=argparse.SUPPRESS, help=_ASCII_HELP)
    return parser


def _add_open(commands: _Commands[_Parser]) -> _Parser:
    parser = _add(commands, "open", "open [OP] [FILE] [options]", "Open the workbench on a kernel file.")
    parser.add_argument("op", metavar="OP", nargs="?", help="the operator: aten::softmax, or softmax; or just FILE")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file (default: kernels/ENTRY.py)")
    parser.add_argument(
        "--sample", action="store_true", help="open kernels/softmax.py, made from the sample if not there"
    )
    _add_place(parser)
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal, to select text with it"
    )
    return parser


def _add_check(commands: _Commands[_Parser]) -> _Parser:
    parser = _add(commands, "check", "check [FILE] [--op OP] [options]", "Judge a kernel file once, without a screen.")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help="judge the sample that comes with kgtui")
    parser.add_argument("--cases", choices=("smoke", "full"), help="how many cases (default: full)")
    _add_place(parser)
    _add_telling(parser)
    return parser


def _add_bench(commands: _Commands[_Parser]) -> _Parser:
    usage = "bench [FILE] [--op OP] [options]"
    baselines = baseline_names()
    parser = _add(commands, "bench", usage, "Judge a kernel file, then time it beside the baselines.")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file; stands before the options")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help="time the sample that comes with kgtui")
    parser.add_argument(
        "--cases",
        metavar="CASE",
        nargs="+",
        action="extend",
        help="what is timed: bench, full, smoke, or names of cases (default: bench)",
    )
    parser.add_argument("--l2", choices=("cold", "warm"), help="the second-level cache before a call (default: cold)")
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        nargs="+",
        action="extend",
        choices=baselines,
        help=f"what it is compared with: {', '.join(baselines)} (default: eager)",
    )
    parser.add_argument("--seconds", metavar="S", type=_seconds, help="how long one case may take (default: 1.1)")
    _add_place(parser)
    _add_telling(parser)
    return parser


def _add_targets(commands: _Commands[_Parser]) -> _Parser:
    usage = "targets [FILE] [--op OP] [options]"
    parser = _add(commands, "targets", usage, "Judge a kernel file, then compile its launches for many targets.")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file; stands before the options")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help="take the sample that comes with kgtui")
    parser.add_argument("--cases", choices=("smoke", "full"), help="whose launches (default: full)")
    parser.add_argument(
        "--to",
        metavar="TARGET",
        nargs="+",
        action="extend",
        help="instead of sm_80, sm_90, sm_100, sm_120, gfx90a, gfx942, gfx950 and gfx1100",
    )
    _add_place(parser)
    _add_telling(parser)
    return parser


def _add_tune(commands: _Commands[_Parser]) -> _Parser:
    usage = "tune [FILE] [--op OP] [--set NAME=V,V ...] [options]"
    text = "Judge a kernel file with other values of its constants and launch options."
    parser = _add(commands, "tune", usage, text)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file; stands before the options")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help="try the sample that comes with kgtui")
    parser.add_argument(
        "--set",
        metavar="NAME=V,V",
        nargs="+",
        action="extend",
        help="the values to try, in every combination (default: each entry of the file's autotune list)",
    )
    parser.add_argument("--cases", choices=("smoke", "full"), help="how many cases are verified (default: full)")
    _add_place(parser)
    _add_policy(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, progress on the error stream")
    parser.add_argument("--no-store", action="store_true", help="keep nothing of these runs")
    parser.set_defaults(plain=True, markdown=False, profile=False)
    return parser


def _add_inspect(commands: _Commands[_Parser]) -> _Parser:
    usage = "inspect [FILE] [--op OP] [options]"
    parser = _add(commands, "inspect", usage, "Judge a kernel file in every way there is here, and say so on one page.")
    parser.epilog = _CLAIM_EXITS
    parser.add_argument("file", metavar="FILE", nargs="?", help="the kernel file")
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help="inspect the sample that comes with kgtui")
    parser.add_argument(
        "--claim", metavar="CLAIM", help='how fast it is said to be: 2.3x, or against another baseline "2.3x compile"'
    )
    _add_place(parser)
    shape = _add_policy_and_shape(parser)
    shape.add_argument("--html", action="store_true", help="one HTML file, progress on the error stream")
    parser.add_argument("--no-store", action="store_true", help="keep nothing of this run")
    return parser


def _add_telling(parser: _Parser) -> None:
    _add_policy_and_shape(parser)
    parser.add_argument("--profile", action="store_true", help="show where the time of the run went")
    parser.add_argument("--no-store", action="store_true", help="keep nothing of this run")


def _add_policy_and_shape(parser: _Parser) -> argparse._MutuallyExclusiveGroup:
    """What decides, and in which form it is told; the group of the forms."""
    _add_policy(parser)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--plain", action="store_true", help="no colour, even in a terminal")
    shape.add_argument("--json", action="store_true", help="one JSON document, progress on the error stream")
    shape.add_argument(
        "--markdown", "--md", action="store_true", help="one Markdown page, progress on the error stream"
    )
    return shape


def _add_policy(parser: _Parser) -> None:
    parser.add_argument(
        "--policy",
        choices=tuple(Policy),
        default=Policy.DEFAULT,
        help="what decides over findings: strict goes by the rules of strict benchmarks (default: default)",
    )


def _add_place(parser: _Parser) -> None:
    parser.add_argument("--device", metavar="DEVICE", help="cpu or cuda (default: a GPU where there is one)")
    parser.add_argument(
        "--target", metavar="TARGET", help="what to compile for: sm_90, gfx942, none (default: this GPU, else sm_90)"
    )


def _add_problems(commands: _Commands[_Parser]) -> _Parser:
    usage = "problems [list | show OP] [--json]"
    parser = _add(commands, "problems", usage, "List the operators, or show one with its cases.")
    parser.add_argument(
        "action", metavar="list | show", nargs="?", choices=("list", "show"), default="list", help="default: list"
    )
    parser.add_argument("op", metavar="OP", nargs="?", help="the operator to show")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    return parser


def _add_new(commands: _Commands[_Parser]) -> _Parser:
    parser = _add(commands, "new", "new OP [FILE]", "Make a kernel file for an operator; never overwrites one.")
    parser.add_argument("op", metavar="OP", help="the operator")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the file to make (default: kernels/ENTRY.py)")
    return parser


def _add_sessions(commands: _Commands[_Parser]) -> _Parser:
    usage = (
        "sessions [list | show RUN | export [SESSION]] [options]\n"
        "       kgtui sessions tag RUN [WORD] | note RUN [TEXT] | restore RUN [FILE]\n"
        "       kgtui sessions delete RUN --yes | compact"
    )
    parser = _add(commands, "sessions", usage, "Ask the session store: what was judged, and what came of it.")
    actions = ("list", "show", "export", "tag", "note", "restore", "delete", "compact")
    parser.add_argument("action", metavar="ACTION", nargs="?", choices=actions, help="one of these (default: list)")
    parser.add_argument("number", metavar="NUMBER", nargs="?", type=_count, help="of a run; of a session to export")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the tag or note, none takes it away; the file to make")
    parser.add_argument("--run", metavar="RUN", type=_count, help="export this run instead of a session")
    parser.add_argument("--runs", action="store_true", help="list runs instead of sessions")
    parser.add_argument("--find", metavar="FILTER", help="list the runs that match, such as 'op:softmax is:failed'")
    parser.add_argument("--session", metavar="SESSION", type=_count, help="delete this session with all its runs")
    parser.add_argument("--yes", action="store_true", help="deleting is meant")
    parser.add_argument("--limit", metavar="COUNT", type=_count, help="how many to list (default: 20)")
    parser.add_argument("--format", choices=("json", "jsonl", "markdown", "csv"), help="of an export (default: json)")
    parser.add_argument("--output", metavar="FILE", help="write the export to a new file")
    return parser


def _add_compare(commands: _Commands[_Parser]) -> _Parser:
    usage = "compare RUN RUN [RUN [RUN]] [--json | --markdown]"
    parser = _add(commands, "compare", usage, "Put runs of one operator side by side; the first is the reference.")
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", type=_count, help="numbers of two to four runs that were kept"
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one JSON document")
    shape.add_argument("--markdown", "--md", action="store_true", help="one Markdown page")
    return parser


def _add_export_case(commands: _Commands[_Parser]) -> _Parser:
    usage, text = "export-case RUN [CASE] [FILE]", "Write a failed case of a kept run as a script without kgtui."
    parser = _add(commands, "export-case", usage, text)
    parser.add_argument("run", metavar="RUN", type=_count, help="the run; `kgtui sessions list --runs` lists them")
    parser.add_argument("case", metavar="CASE", nargs="?", help="the case by its name (default: the first that failed)")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the file to make (default: named for kernel and case)")
    return parser


def _count(text: str) -> int:
    # The length first: Python refuses to read a number of thousands of digits.
    is_short = len(text) <= len(str(_LARGEST))
    if not text.isdecimal() or (is_short and int(text) == 0):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {shortened(text)}")
    if not is_short or int(text) > _LARGEST:
        raise argparse.ArgumentTypeError(f"expected a number up to {_LARGEST}, got {shortened(text)}")
    return int(text)


def shortened(text: str) -> str:
    """What was typed, in quotes and not longer than a line."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {shortened(text)}")
    return value


def _add_doctor(commands: _Commands[_Parser]) -> _Parser:
    parser = _add(commands, "doctor", "doctor [--json]", "Say what this machine has, and how candidates are confined.")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    return parser


def _add_config(commands: _Commands[_Parser]) -> _Parser:
    usage = "config [init | show]"
    parser = _add(commands, "config", usage, "Make a commented settings file, or show what holds and who decided it.")
    parser.add_argument(
        "action", metavar="init | show", nargs="?", choices=("init", "show"), default="show", help="default: show"
    )
    return parser


def _add_paths(commands: _Commands[_Parser]) -> _Parser:
    return _add(commands, "paths", "paths", "Print where things are kept.")


def _add_manual(commands: _Commands[_Parser]) -> _Parser:
    parser = _add(commands, "manual", "manual [TOPIC]", "List the pages of the manual, or print one.")
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="the page to print (default: list the topics)")
    return parser


def _version() -> str:
    try:
        return importlib.metadata.version("kgtui")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed: run from its source tree)"
