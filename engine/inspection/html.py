"""An inspection as one self-contained HTML file: no script, no font, no picture, no other host.

The template is `page.html.j2`.  Every value in it is escaped, since many come from a candidate, and the file forbids
browsers to load anything.  It follows the reader's light or dark preference, and can be printed.
"""

from __future__ import annotations

from pathlib import Path

from engine.inspection.evidence import Inspection
from engine.inspection.page import page_of
from engine.reports.printable import printable

_TEMPLATE = Path(__file__).with_name("page.html.j2")


def as_html(inspection: Inspection) -> str:
    """The page as one file."""
    import jinja2  # only where a page is made

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_without_control_characters,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(page=page_of(inspection))


def _without_control_characters(value: object) -> object:
    """A value of the template without control characters, before autoescape."""
    return printable(value) if isinstance(value, str) else value
