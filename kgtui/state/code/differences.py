"""Differences in the compiled code of a kernel, apart from different numbering.

Every line has a text to show, without source locations, and a key without numbers assigned by compilers: SSA values,
virtual and allocated registers, labels, addresses.  Lines with equal keys are equal.  So a line that differs only in
its registers is not reported, and an added instruction does not change all lines below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

CONTEXT = 3

# The lookbehind avoids quadratic time for long runs of blanks.
_PLACE = re.compile(r'(?<!\s)\s*loc\((?:#loc\d*|"[^"]*"(?:\(#loc\d*\))?|callsite\([^()]*\)|unknown)\)')
_Rewrite = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


@dataclass(frozen=True, kw_only=True)
class _Form:
    """Rules to read one form of code: patterns of comment lines, end of code, hidden text, and ignored differences."""

    dropped: re.Pattern[str]
    last: re.Pattern[str] | None = None
    shown: tuple[_Rewrite, ...] = ()
    noise: tuple[_Rewrite, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CodeLine:
    """A line as shown, and its key for comparison."""

    text: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Differences:
    """A unified difference, with the numbers of removed and added lines."""

    lines: tuple[str, ...]
    removed: int
    added: int

    @property
    def same(self) -> bool:
        """Whether the two codes are equal."""
        return not self.removed and not self.added


def _as_width(match: re.Match[str]) -> str:
    return f"{match[1]}[{int(match[3]) - int(match[2]) + 1}]"


_MLIR = _Form(
    dropped=re.compile(r"^#loc"),
    shown=((_PLACE, ""),),
    noise=((re.compile(r"%([A-Za-z]\w*?)?_?\d+\b"), r"%\1"),),
)
_FORMS: Mapping[str, _Form] = {
    "ttir": _MLIR,
    "ttgir": _MLIR,
    "llir": _Form(
        dropped=re.compile(r"^\s*(?:!|#dbg_)|^; ModuleID"),
        shown=((re.compile(r",? !dbg !\d+"), ""),),
        noise=(
            (re.compile(r"%\d+"), "%"),
            (re.compile(r"[#!]\d+"), "#"),
            (re.compile(r"^\d+:"), ":"),
            (re.compile(r"(%\.?[A-Za-z_]\w*?)\d+\b"), r"\1"),
        ),
    ),
    "ptx": _Form(
        dropped=re.compile(r"^\s*(?:\.loc|\.file|//|\$L__(?:tmp|func_|info_))"),
        last=re.compile(r"^\s*\.section\s+\.debug"),
        shown=((re.compile(r"(?<!\s)\s*//.*"), ""),),
        noise=(
            (re.compile(r"%([a-z]+)\d+\b"), r"%\1"),
            (re.compile(r"%([a-z]+)<\d+>"), r"%\1"),
            (re.compile(r"\$L__BB\d+_\d+"), "$L"),
        ),
    ),
    "amdgcn": _Form(
        dropped=re.compile(r"^\s*(?:\.loc|\.file|\.cfi|;|\.L(?:tmp|func|info))"),
        last=re.compile(r"^\s*\.section\s+\.debug"),
        shown=((re.compile(r"(?<!\s)\s*;.*"), ""),),
        noise=(
            (re.compile(r"\b([sva])\[(\d+):(\d+)\]"), _as_width),
            (re.compile(r"\b([sva])\d+\b"), r"\1"),
            (re.compile(r"\.LBB\d+_\d+"), ".L"),
        ),
    ),
    "sass": _Form(
        dropped=re.compile(r"^\s*//"),
        shown=((re.compile(r"/\*[0-9a-f]{4,}\*/\s*"), ""), (re.compile(r"(?<!\s)\s+;$"), ";")),
        noise=((re.compile(r"\b(U?[RPB]|SB)\d+\b"), r"\1"), (re.compile(r"\.L_x_\d+"), ".L")),
    ),
}
_UNKNOWN = _Form(dropped=re.compile(r"(?!)"))


def code_lines(text: str, *, form: str) -> list[CodeLine]:
    """The lines of code in `text`, a form of `kgtui.state.code.forms`; blank ones are left out."""
    rules = _FORMS.get(form, _UNKNOWN)
    lines: Iterator[str] = iter(text.splitlines())
    if (last := rules.last) is not None:
        lines = takewhile(lambda line: last.match(line) is None, lines)
    kept = (_rewritten(line, rules.shown).rstrip() for line in lines if rules.dropped.match(line) is None)
    return [CodeLine(text=line, key=" ".join(_rewritten(line, rules.noise).split())) for line in kept if line]


def differences(before: str, after: str, *, form: str) -> Differences:
    """Difference from the code `before` to the code `after`, both of this form."""
    old, new = code_lines(before, form=form), code_lines(after, form=form)
    lines: list[str] = []
    removed = added = 0
    for group in _groups(_changes(old, new)):
        first, last = group[0], group[-1]
        lines.append(f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@")
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                lines += [f"  {line.text}" for line in new[new_start:new_end]]
                continue
            lines += [f"- {line.text}" for line in old[old_start:old_end]]
            lines += [f"+ {line.text}" for line in new[new_start:new_end]]
            removed += old_end - old_start
            added += new_end - new_start
    return Differences(lines=tuple(lines), removed=removed, added=added)


_Change = tuple[str, int, int, int, int]


def _rewritten(line: str, rewrites: Sequence[_Rewrite]) -> str:
    for pattern, by in rewrites:
        line = pattern.sub(by, line)
    return line


def _changes(old: list[CodeLine], new: list[CodeLine]) -> list[_Change]:
    """The changed stretches of lines, and the equal ones between.
    The common beginning and end are removed first, since the cost of comparing grows more than linearly.
    """
    before, after = [line.key for line in old], [line.key for line in new]
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    middle_before, middle_after = before[head : len(before) - tail], after[head : len(after) - tail]
    changes: list[_Change] = [("equal", 0, head, 0, head)] if head else []
    for tag, a, b, c, d in SequenceMatcher(None, middle_before, middle_after).get_opcodes():
        changes.append((tag, a + head, b + head, c + head, d + head))
    if tail:
        changes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return changes


def _common(before: list[str], after: list[str]) -> int:
    """Number of equal lines at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _groups(changes: list[_Change]) -> Iterator[list[_Change]]:
    """The changes with a few equal lines around them; close changes are in one group."""
    group: list[_Change] = []
    for place, (tag, a, b, c, d) in enumerate(changes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        is_last = place == len(changes) - 1
        if group and (is_last or b - a > 2 * CONTEXT):
            keep = min(CONTEXT, b - a)
            yield [*group, (tag, a, a + keep, c, c + keep)]
            group = []
        if not is_last:
            skip = max(0, b - a - CONTEXT) if not group else 0
            group.append((tag, a + skip, b, c + skip, d))
    if any(tag != "equal" for tag, *_ in group):
        yield group
