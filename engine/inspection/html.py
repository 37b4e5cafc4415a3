"""An inspection as one HTML file that needs nothing else: no script, no font, no picture, no other host.

Every word is escaped, since a candidate had a hand in many of them, and the file forbids browsers to load anything.
It follows the reader's light or dark preference, and prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from engine.inspection.evidence import Inspection
from engine.inspection.page import Entry, Page, Section, page_of
from engine.reports.text import printable

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2024; --second: #5b636b; --rule: #d8dde2; --shade: #f4f6f8;
        --good: #116b34; --doubt: #8a5200; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e9ec; --second: #9aa4ae; --rule: #333a41; --shade: #1d2226;
          --good: #63d08c; --doubt: #f0b04f; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
       font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); font-size: 1.05rem; }
code, .subject { font: .9em/1.5 ui-monospace, monospace; }
.subject { margin: .25rem 0 0; color: var(--second); }
.verdict { margin-top: 1.25rem; padding: .9rem 1.1rem; border-left: .35rem solid currentColor;
           background: var(--shade); }
.verdict p { margin: 0; color: var(--ink); font-size: 1.1rem; font-weight: 600; }
.verdict p + p { margin-top: .4rem; font-size: 1rem; font-weight: 400; }
.good { color: var(--good); } .doubt { color: var(--doubt); } .bad { color: var(--bad); }
.muted { color: var(--second); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
thead th, .details { color: var(--second); }
thead th { font-weight: 400; }
tbody th { font-weight: 600; min-width: 8rem; overflow-wrap: break-word; }
.state { font-weight: 600; white-space: nowrap; }
.details { margin: 0; padding: 0; list-style: none; font-size: .93em; }
pre { margin: .25rem 0 0; padding: .35rem .6rem; background: var(--shade); white-space: pre-wrap; }
@media (max-width: 36rem) {
  .entries tr, .entries th, .entries td { display: block; border: 0; padding: 0; }
  .entries tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --second: #444; --rule: #bbb; --shade: #fff;
          --good: #064d22; --doubt: #6b3f00; --bad: #8c1410; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; } tr { break-inside: avoid; } .scroll { overflow: visible; }
}"""


def as_html(inspection: Inspection) -> str:
    """The page as one file."""
    return "".join(f"{line}\n" for line in _document(page_of(inspection)))


def _document(page: Page) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(page.title)}</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield "</head>"
    yield "<body>"
    yield "<header>"
    yield f"<h1>{_text(page.title)}</h1>"
    yield f'<p class="subject">{_text(page.subject)}</p>'
    yield f'<div class="verdict {page.mark}">'
    yield f"<p>{_text(page.headline)}</p>"
    if page.claim is not None:
        yield f'<p><span class="{page.claim.mark}">{_text(page.claim.text)}</span></p>'
    yield "</div>"
    yield "</header>"
    yield "<main>"
    for section in page.sections:
        yield from _section(section)
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _section(section: Section) -> Iterator[str]:
    yield "<section>"
    yield f"<h2>{_text(section.title)}</h2>"
    if section.note:
        yield f"<p>{_text(section.note)}</p>"
    if section.rows:
        header, *rows = section.rows
        yield '<div class="scroll"><table>'
        columns = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in header)
        yield f"<thead><tr>{columns}</tr></thead>"
        yield "<tbody>"
        for first, *cells in rows:
            others = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
            yield f'<tr><th scope="row">{_text(first)}</th>{others}</tr>'
        yield "</tbody>"
        yield "</table></div>"
    if section.entries:
        has_states = any(entry.state for entry in section.entries)
        yield '<div class="scroll"><table class="entries">'
        yield "<tbody>"
        yield from (_entry(entry, has_states=has_states) for entry in section.entries)
        yield "</tbody>"
        yield "</table></div>"
    yield "</section>"


def _entry(entry: Entry, *, has_states: bool) -> str:
    state = f'<td class="state {entry.mark}">{_text(entry.state)}</td>' if has_states else ""
    details = "".join(f"<li>{_text(detail)}</li>" for detail in entry.details)
    listed = f'<ul class="details">{details}</ul>' if details else ""
    code = f"<pre><code>{_text(entry.code)}</code></pre>" if entry.code else ""
    return f'<tr><th scope="row">{_text(entry.name)}</th>{state}<td>{_text(entry.text)}{listed}{code}</td></tr>'


def _text(text: str) -> str:
    """Text of any kind as text: no tag, no end of an attribute, no control character."""
    return escape(printable(text))
