"""Whether the machine code of this process is what was loaded from its files.

Rewriting the first bytes of a clock function, or mapping other code over it, leaves a private copy of the page, which
Linux counts as anonymous even when the old bytes are restored.  The code itself is never read: it has gigabytes, and
its bytes show nothing without the file.  A rewritten table of pointers is not detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Begins with a line end, which is fast to search for: each run reads thousands of lines.
_MAPPING = re.compile(r"\n[0-9a-f]+-[0-9a-f]+ ..(.). \S+ \S+ \d+ *(.*)")
_KIB = re.compile(r"^(Size|Anonymous): +(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CodePages:
    """The mapped code of one file: its size, and how much of it is no longer the file's."""

    mapped_kib: int
    copied_kib: int


def code_pages(smaps: Path = Path("/proc/self/smaps")) -> Mapping[str, CodePages] | None:
    """The code in this process by file; None if the system does not list it."""
    try:
        text = "\n" + smaps.read_text(errors="replace")
    except OSError:
        return None
    pages: dict[str, CodePages] = {}
    headers = list(_MAPPING.finditer(text))
    for header, following in zip(headers, [*headers[1:], None], strict=True):
        if header[1] == "x" and header[2].startswith(("/", "[vdso]")):
            kib = dict(_KIB.findall(text, header.end(), following.start() if following else len(text)))
            known = pages.get(header[2], CodePages(mapped_kib=0, copied_kib=0))
            pages[header[2]] = CodePages(
                mapped_kib=known.mapped_kib + int(kib.get("Size", 0)),
                copied_kib=known.copied_kib + int(kib.get("Anonymous", 0)),
            )
    return pages


def rewritten(before: Mapping[str, CodePages], after: Mapping[str, CodePages]) -> Iterator[tuple[str, str]]:
    """The files whose code has changed, each with the evidence; a file that is no longer mapped was closed."""
    for file, now in after.items():
        then = before.get(file, CodePages(mapped_kib=now.mapped_kib, copied_kib=0))
        if now.copied_kib > then.copied_kib:
            yield file, f"{now.copied_kib - then.copied_kib} KiB of it were written to"
        elif now.mapped_kib < then.mapped_kib:
            yield file, f"{then.mapped_kib - now.mapped_kib} KiB of it were replaced"
