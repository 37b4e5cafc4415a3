"""External coding agents as data: JSON files here, or in the user's folder `agents` beside the settings file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import msgspec

from engine.errors import UsageError
from sessions.candidates.generation_rows import TokenUsage

FOLDER = Path(__file__).with_name("known")
TASK_PLACE = "{task}"

_PATTERNS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "cost_usd")
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
_SUFFIXES = frozenset("kKmM")
_MOST = 10**12
"""A larger number in the output of an agent is no count."""


class AgentDescription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an agent is started and what it reports.

    `{task}` in `command` becomes the sentence that names the task's file.  It sees PATH, HOME, LANG and `variables` of
    the environment.  The others are patterns with one group: a number in its output such as 1234, 2.3k or 1.1M.  The
    last match counts, with `sums_reports` the sum of all matches: an agent that reports each of its messages.
    `input_excludes_cache` is true where `input_tokens` are only those that the provider's cache had no part in.
    """

    command: tuple[str, ...]
    variables: tuple[str, ...] = ()
    input_tokens: str = ""
    cached_tokens: str = ""
    cache_write_tokens: str = ""
    output_tokens: str = ""
    cost_usd: str = ""
    sums_reports: bool = False
    input_excludes_cache: bool = False

    def __post_init__(self) -> None:
        if not self.command:
            raise ValueError("command is empty")
        for name in _PATTERNS:
            pattern = getattr(self, name)
            try:
                is_valid = not pattern or re.compile(pattern).groups == 1
            except re.error as error:
                raise ValueError(f"{name} is not a regular expression: {error}") from error
            if not is_valid:
                raise ValueError(f"{name} must have one group, the number: {pattern!r}")

    def usage(self, output: str) -> TokenUsage | None:
        """The tokens that it reports; None unless input and output are there, or where they contradict each other."""
        inputs, outputs = self._count(self.input_tokens, output), self._count(self.output_tokens, output)
        if inputs is None or outputs is None:
            return None
        cached = self._count(self.cached_tokens, output) or 0
        written = self._count(self.cache_write_tokens, output) or 0
        try:
            return TokenUsage(
                input_tokens=inputs + (cached + written if self.input_excludes_cache else 0),
                output_tokens=outputs,
                cached_tokens=cached,
                cache_write_tokens=written,
            )
        except ValueError:
            return None

    def cost_microusd(self, output: str) -> int | None:
        """The money that it reports, rounded up; None where it reports none."""
        usd = self._number(self.cost_usd, output)
        return None if usd is None else math.ceil(usd * 1_000_000)

    def _count(self, pattern: str, output: str) -> int | None:
        number = self._number(pattern, output)
        return None if number is None else round(number)

    def _number(self, pattern: str, output: str) -> Decimal | None:
        numbers = [_parsed(text) for text in re.findall(pattern, output)] if pattern else []
        counted = numbers if self.sums_reports else numbers[-1:]
        known = [number for number in counted if number is not None]
        return sum(known, Decimal()) if known and len(known) == len(counted) else None


def read_agent(name: str, folders: Sequence[Path]) -> AgentDescription:
    """The description of the agent called `name`, from the first folder that has one.

    Raises:
        UsageError: there is none, or it is invalid.
    """
    for folder in folders:
        path = folder / f"{name}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=AgentDescription)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{path} describes no agent: {error}") from error
    known = sorted({path.stem for folder in folders for path in folder.glob("*.json")})
    raise UsageError(f"unknown agent {name[:40]!r}; known agents: {', '.join(known)}")


def _parsed(text: str) -> Decimal | None:
    """A number with thousands separators or one of the suffixes k and M; None where it is none, or too large."""
    digits, suffix = (text[:-1], text[-1].lower()) if text[-1:] in _SUFFIXES else (text, "")
    try:
        number = Decimal(digits.replace(",", "")) * _FACTORS[suffix]
        return number if 0 <= number <= _MOST else None
    except ArithmeticError:  # of decimal: no number, NaN, an exponent that is too large
        return None
