"""Tunables of the open file, the values chosen for them, and the grid that they make.

A list of values is typed text; `engine.tuning.tunables` makes variants of it and changes the source.  Nothing here
runs, times or writes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from engine.errors import UsageError
from engine.tuning.trials import AS_IT_IS
from engine.tuning.tunables import Tunable, Variant, configurations, tunables_of, variants
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong

TUNABLE_COLUMNS = (
    Column(label="tunable", width=17),
    Column(label="now", width=11),
    Column(label="values to try", width=28, least=14),
    Column(label="where", width=30, least=14, rank=1),
)
LIST = "autotune list"
UNTIMED = "nothing is timed here"
_USUAL_VALUES = {"num_warps": "1, 2, 4, 8, 16", "num_stages": "1, 2, 3, 4"}
_NOTHING_FOUND = (
    "no tunable parameters found.  Each of these would be one:",
    "  an integer constant of the module:       BLOCK = 1024",
    "  an integer argument of a launch:         kernel[grid](x, BLOCK=1024)",
    "  num_warps and num_stages of a launch, also if left out",
    "  a triton.autotune list with more than one configuration",
)


@dataclass(frozen=True, kw_only=True)
class Tunables:
    """Tunables of one version of a file.
    `chosen` are the values to try of each varied tunable.  `grid` is the unchanged file and every variant; it is empty
    if nothing was chosen and there is no list, or if `complaint` has an error.
    """

    source: bytes
    tunables: tuple[Tunable, ...] = ()
    entries: int = 0
    chosen: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    grid: tuple[Variant, ...] = ()
    complaint: str = ""

    @property
    def has_any(self) -> bool:
        """Whether there are tunables."""
        return bool(self.tunables or self.entries)

    @property
    def now(self) -> dict[str, str]:
        """Current values in the file, for each tunable that has one."""
        return {tunable.name: tunable.value for tunable in self.tunables if tunable.value is not None}


def tunables_in(source: bytes, *, chosen: Mapping[str, tuple[int, ...]]) -> Tunables:
    """Tunables of this source; values `chosen` before are kept for tunables that still exist."""
    try:
        tunables = tunables_of(source)
    except SyntaxError as error:
        words = f"no tunable parameters: line {error.lineno}: {error.msg}; correct the file and save it"
        return Tunables(source=source, complaint=words)
    except (ValueError, UsageError) as error:
        return Tunables(source=source, complaint=f"no tunable parameters: {error}; correct the file and save it")
    kept = {tunable.name: chosen[tunable.name] for tunable in tunables if tunable.name in chosen}
    try:
        listed = configurations(source)
        made = variants(source, kept) if kept else listed
    except UsageError as error:
        return Tunables(source=source, tunables=tunables, chosen=MappingProxyType(kept), complaint=str(error))
    others = tuple(variant for variant in made if variant.source != source)
    return Tunables(
        source=source,
        tunables=tunables,
        entries=len(listed),
        chosen=MappingProxyType(kept),
        grid=(Variant(name=AS_IT_IS, source=source), *others) if others else (),
        complaint="these are the values in the file; choose others" if made and not others else "",
    )


def parse_values(text: str) -> tuple[int, ...]:
    """The integers of a text such as "64, 128"; () for an empty one, which stops varying the tunable.

    Raises:
        UsageError: a word is not an integer.
    """
    values: dict[int, None] = {}
    for word in text.replace(",", " ").split():
        try:
            values[int(word)] = None
        except ValueError as error:
            raise UsageError(f"not an integer: {word!r}; expected values such as 64, 128, 256") from error
    return tuple(values)


def written(values: tuple[int, ...]) -> str:
    """The values as text for the input."""
    return ", ".join(map(str, values))


def usual_values(tunable: Tunable) -> str:
    """Common values to try; the current value if there are none."""
    if tunable.name in _USUAL_VALUES:
        return _USUAL_VALUES[tunable.name]
    try:
        now = int(tunable.value or "", base=0)
    except ValueError:
        return ""
    is_power_of_two = now > 1 and now & (now - 1) == 0
    return written((now // 2, now, now * 2)) if is_power_of_two else str(now)


def tunable_rows(tunables: Tunables, *, glyphs: Glyphs) -> tuple[Row, ...]:
    """A row for every tunable, its name its key, and one for the autotune list."""
    rows = [
        Row(
            key=tunable.name,
            cells=(
                strong(tunable.name),
                Span(tunable.value) if tunable.value is not None else muted("not given"),
                Span(written(tunables.chosen[tunable.name])) if tunable.name in tunables.chosen else muted(glyphs.dash),
                muted(_where(tunable)),
            ),
        )
        for tunable in tunables.tunables
    ]
    if tunables.entries:
        tried = muted("not tried: values are chosen") if tunables.chosen else Span("each of them alone")
        cells = (strong(LIST), Span(f"{tunables.entries} entries"), tried, muted(""))
        rows.append(Row(key=LIST, cells=cells))
    return tuple(rows)


def grid_line(tunables: Tunables, *, timed: bool) -> Line:
    """The variants that r would try, or the next step."""
    if tunables.complaint:
        return line(Span(tunables.complaint, Tone.WARN))
    if not tunables.grid:
        return line("enter on a tunable chooses its values", muted("; r then tries every combination, each a run"))
    count = len(tunables.grid) - 1
    counted = strong(f"{count} {'variant' if count == 1 else 'variants'}")
    return line(counted, ": r runs the baseline, then each", *([] if timed else [muted(f"; {UNTIMED}")]))


def nothing_found(tunables: Tunables) -> tuple[Line, ...]:
    """Message with the searched patterns, if the file has no tunables or cannot be parsed."""
    if tunables.complaint:
        return (line(Span(tunables.complaint, Tone.WARN)),)
    return tuple(line(muted(text)) for text in _NOTHING_FOUND)


def _where(tunable: Tunable) -> str:
    places = len(tunable.places)
    if tunable.value is None:
        return f"added in line {tunable.line}" if places == 1 else f"added to {places} launches"
    return f"line {tunable.line}" if places == 1 else f"line {tunable.line} and {places - 1} more"
