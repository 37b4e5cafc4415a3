"""Arguments that several commands share: the kernel file, cases, device, policy, output format, and numbers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

from kgtui.cli.command_parser import CommandParser, shortened

_LARGEST = 2**63 - 1  # the store keeps numbers of 64 bits


def add_kernel_file(parser: CommandParser, *, sample: str, file: str = "the kernel file") -> None:
    """FILE, `--op` and `--sample`; `sample` and `file` are their help."""
    parser.add_argument("file", metavar="FILE", nargs="?", help=file)
    parser.add_argument("--op", metavar="OP", help="the operator (default: the file's `# kgtui: op=...` line)")
    parser.add_argument("--sample", action="store_true", help=sample)
    add_problems(parser)


def add_problems(parser: CommandParser) -> None:
    """`--problems`."""
    parser.add_argument("--problems", metavar="DIR", help="a folder of your own problem files (default: the setting)")
    add_suite(parser)


def add_suite(parser: CommandParser) -> None:
    """`--suite`, `--cap`, `--size` and `--precision`."""
    parser.add_argument(
        "--suite", metavar="PATH", help="a checkout, file or export of a foreign suite (`kgtui manual suites`)"
    )
    parser.add_argument("--cap", metavar="N", type=positive_integer, help="with a suite: no size constant above N")
    parser.add_argument(
        "--size",
        metavar="NAME=N",
        action="append",
        default=[],
        help="with a suite: set a size constant, N or N,N,...",
    )
    parser.add_argument(
        "--precision", choices=("fp32", "fp16", "bf16"), default="fp32",
        help="with a suite: dtype of floating inputs and weights (default: fp32)",
    )  # fmt: skip


def add_cases(parser: CommandParser, *, text: str) -> None:
    """`--cases smoke` or `full`."""
    parser.add_argument("--cases", choices=("smoke", "full"), help=text)


def add_device(parser: CommandParser) -> None:
    """`--device` and `--target`."""
    parser.add_argument("--device", metavar="DEVICE", help="cpu or cuda (default: a GPU where there is one)")
    parser.add_argument(
        "--target", metavar="TARGET", help="what to compile for: sm_90, gfx942, none (default: this GPU, else sm_90)"
    )


def add_policy(parser: CommandParser) -> None:
    """`--policy`."""
    from engine.model import Policy  # only for commands that run something

    parser.add_argument(
        "--policy",
        choices=tuple(Policy),
        default=Policy.DEFAULT,
        help="the effect of findings on the verdict; strict follows the rules of strict benchmarks (default: default)",
    )


def add_seed(parser: CommandParser) -> None:
    """`--seed`."""
    parser.add_argument(
        "--seed",
        metavar="N",
        type=natural_number,
        help="seed of the inputs, as reported by a run (default: random)",
    )


def add_output_format(parser: CommandParser) -> argparse._MutuallyExclusiveGroup:
    """`--plain`, `--json` or `--markdown` for a run; the group, for one more format."""
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--plain", action="store_true", help="no colour, even in a terminal")
    formats.add_argument("--json", action="store_true", help="one JSON document, progress on the error stream")
    formats.add_argument(
        "--markdown", "--md", action="store_true", help="one Markdown page, progress on the error stream"
    )
    return formats


def add_json(parser: CommandParser) -> None:
    """`--json` for a command that starts no run."""
    parser.add_argument("--json", action="store_true", help="one JSON document")


def add_profile(parser: CommandParser) -> None:
    """`--profile`."""
    parser.add_argument("--profile", action="store_true", help="show the time of the run by kind of work")


def add_storage(parser: CommandParser) -> None:
    """`--no-store`."""
    parser.add_argument("--no-store", action="store_true", help="do not save the run")


def add_batch(parser: CommandParser) -> None:
    """`--candidates` and what belongs to it."""
    batch = parser.add_argument_group("many candidates")
    batch.add_argument("--candidates", metavar="PATH", help="a folder of kernel files, or a .jsonl file of answers")
    batch.add_argument("--resume", action="store_true", help="continue the batch with these arguments")
    batch.add_argument("--jobs", metavar="N", type=positive_integer, default=1, help="candidates at once (default: 1)")
    batch.add_argument("--no-timing", action="store_true", help="verify only, on a GPU too")
    batch.add_argument(
        "--output", metavar="FILE", action="append", default=[],
        help="write the results to FILE.jsonl, .csv, .md or .html; repeatable",
    )  # fmt: skip


def add_former(parser: CommandParser, hint: Callable[[argparse.Namespace, Sequence[str]], str]) -> None:
    """Accept arguments of an earlier version, only to raise a usage error with `hint`, which states the new form."""

    parser.former_hint = hint
    # Without a default argparse would name it among the required arguments.
    parser.add_argument("former", nargs="*", default=[], help=argparse.SUPPRESS)


def positive_integer(text: str) -> int:
    """Parse the number of a run."""
    # Length first: Python refuses to parse thousands of digits.
    is_short = len(text) <= len(str(_LARGEST))
    if not text.isdecimal() or (is_short and int(text) == 0):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {shortened(text)}")
    if not is_short or int(text) > _LARGEST:
        raise argparse.ArgumentTypeError(f"expected a number up to {_LARGEST}, got {shortened(text)}")
    return int(text)


def natural_number(text: str) -> int:
    """Parse a seed; 0 is allowed."""
    return 0 if text == "0" else positive_integer(text)


def seconds(text: str) -> float:
    """Parse a duration above 0, in seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {shortened(text)}")
    return value
