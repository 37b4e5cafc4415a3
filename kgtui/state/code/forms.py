"""The compiled code of a run: its forms, and the mapping from source lines to code lines."""

from __future__ import annotations

import re

from engine.model import Artefact, CompiledKernel, Outcome
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong

FORMS = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass")

_MLIR_FILE = re.compile(r'^(#loc\d*) = loc\("[^"]*":(\d+):\d+\)')
_MLIR_NAME = re.compile(r'^(#loc\d*) = loc\("[^"]*"\((#loc\d*)\)\)')
_MLIR_CALL = re.compile(r"^(#loc\d*) = loc\(callsite\(\S+ at (#loc\d*)\)\)")
_MLIR_USE = re.compile(r"loc\((#loc\d*)\)\s*$")
_LLVM_PLACE = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)(?:.*?inlinedAt: (!\d+))?")
_LLVM_USE = re.compile(r"!dbg (!\d+)")
# The first file that the assembly names is the kernel's own; the others belong to functions inlined into it.
_OWN_PLACE = re.compile(r"^\s*\.loc\s+1\s+([1-9]\d*)\s")
_CALL_PLACE = re.compile(r"^\s*\.loc\s.*\binlined_at\s+1\s+(\d+)\s|^\s*\.loc\s.*@\[ [^\[]*?:(\d+):\d+(?: \])+\s*$")
_SASS_PLACE = re.compile(r'//## File "[^"]*", line (\d+)(?: inlined at "[^"]*", line (\d+))?')


def artefact_of(kernel: CompiledKernel, form: str) -> Artefact | None:
    """The kernel's code in this form, if it was stored."""
    return next((artefact for artefact in kernel.artefacts if artefact.kind == form), None)


def forms_of(kernel: CompiledKernel) -> tuple[str, ...]:
    """The available forms, nearest to the source first."""
    kinds = {artefact.kind for artefact in kernel.artefacts}
    return tuple(form for form in FORMS if form in kinds)


def nearest_form(kernel: CompiledKernel, wanted: str) -> str | None:
    """The wanted form, or the lowest-level one if this kernel does not have it."""
    forms = forms_of(kernel)
    return wanted if wanted in forms else forms[-1] if forms else None


def next_form(kernel: CompiledKernel, form: str) -> str:
    """The form after this one, cyclically."""
    forms = forms_of(kernel)
    if not forms:
        return form
    return forms[(forms.index(form) + 1) % len(forms)] if form in forms else forms[0]


def forms_line(kernel: CompiledKernel | None, form: str | None, *, foreign: bool = False) -> Line:
    """The available forms, the shown one marked; the reason if there is none.  `foreign` is another target."""
    if kernel is None:
        return ()
    name, forms = f"{kernel.target}: {kernel.launch.kernel}", forms_of(kernel)
    tone = Tone.WARN if foreign else Tone.MUTED
    if not forms and kernel.outcome is not Outcome.PASS:
        return line("it did not build, so it has no code", Span(f"  {name}", tone))
    if not forms:
        return line("no code was stored: see the findings", muted(f"  {name}"))
    parts: list[Span] = [Span("x", Tone.LINK), Span(" ")]
    for one in forms:
        parts += [strong(f"[{one}]") if one == form else muted(f" {one} "), Span(" ")]
    return line(*parts, Span(f" {name}", tone), muted("; esc shows the target of the run" if foreign else ""))


def source_lines(text: str, *, form: str) -> tuple[int | None, ...]:
    """For each line of the code its source line, if the compiler noted it.
    Code of an inlined function belongs to the line of the call.
    """
    lines = text.splitlines()
    if form in ("ttir", "ttgir"):
        return _by_reference(lines, _mlir_places(lines), _MLIR_USE)
    if form == "llir":
        return _by_reference(lines, _llvm_places(lines), _LLVM_USE)
    if form in ("ptx", "amdgcn", "sass"):
        return _by_last_mention(lines, (_SASS_PLACE,) if form == "sass" else (_CALL_PLACE, _OWN_PLACE))
    return (None,) * len(lines)


def lines_from(origins: tuple[int | None, ...], source_line: int) -> tuple[int, ...]:
    """The numbers (from 1) of the code lines that belong to this source line."""
    return tuple(place for place, origin in enumerate(origins, start=1) if origin == source_line)


def _by_reference(lines: list[str], places: dict[str, int], use: re.Pattern[str]) -> tuple[int | None, ...]:
    uses = (use.search(text) for text in lines)
    return tuple(places.get(found.group(1)) if found else None for found in uses)


def _by_last_mention(lines: list[str], mentions: tuple[re.Pattern[str], ...]) -> tuple[int | None, ...]:
    origins: list[int | None] = []
    current = None
    for text in lines:
        found = next((match for mention in mentions if (match := mention.search(text))), None)
        if found:
            # Of several groups the last that matched is the outermost call.
            current = int([group for group in found.groups() if group][-1])
        origins.append(current)
    return tuple(origins)


def _mlir_places(lines: list[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    behind: dict[str, str] = {}
    for text in lines:
        if found := _MLIR_FILE.match(text):
            places[found.group(1)] = int(found.group(2))
        elif found := _MLIR_NAME.match(text) or _MLIR_CALL.match(text):
            behind[found.group(1)] = found.group(2)
    return _resolved(places, behind)


def _llvm_places(lines: list[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    behind: dict[str, str] = {}
    for text in lines:
        if found := _LLVM_PLACE.match(text):
            places[found.group(1)] = int(found.group(2))
            if found.group(3):
                behind[found.group(1)] = found.group(3)
    return _resolved(places, behind)


def _resolved(places: dict[str, int], behind: dict[str, str]) -> dict[str, int]:
    """Follow each reference to its location; a circle ends at its start."""
    resolved = {}
    for name in {*places, *behind}:
        last, seen = name, {name}
        while behind.get(last) and behind[last] not in seen:
            last = behind[last]
            seen.add(last)
        if last in places:
            resolved[name] = places[last]
    return resolved
