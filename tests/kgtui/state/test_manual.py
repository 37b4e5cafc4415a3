"""A page of the manual as lines: wrapped paragraphs, tables, code, links."""

from __future__ import annotations

import pytest

from kgtui import manual
from kgtui.state.format.lines import Span, Tone, plain_text
from kgtui.state.manual import page_rows

PAGE = """# Notes: what to keep

A **bold** word, `code` and
a [link](notes.md).

- one item that is longer than a line
- two

| key | meaning |
|---|---|
| `q` | quit the program at once |

    kgtui run

```text
--flag
```
"""


def shown(text, width):
    return [plain_text((row.line,)).rstrip() for row in page_rows(text, width=width)]


def test_a_page_is_broken_for_its_width():
    assert shown(PAGE, 24) == [
        "Notes: what to keep",
        "",
        "A bold word, code and a",
        "link.",
        "",
        "- one item that is",
        "  longer than a line",
        "- two",
        "",
        "key  meaning",
        "q    quit the program",
        "     at once",
        "",
        "    kgtui run",
        "",
        "    --flag",
    ]


def test_table_has_empty_cells_and_code_with_bars():
    table = "| a | b | c |\n|---|---|---|\n| | | `x|y` |\n| 1 | | 3 |\n"
    assert shown(table, 80) == ["a  b  c", "      x|y", "1     3"]


def test_code_and_bold_have_tones_of_their_own():
    (row,) = page_rows("A **bold** word, `code`.", width=80)
    assert row.line == (
        Span("A "),
        Span("bold", Tone.STRONG),
        Span(" word, "),
        Span("code", Tone.LINK),
        Span("."),
    )


@pytest.mark.parametrize("topic", manual.topics())
@pytest.mark.parametrize("width", [44, 100])
def test_every_page_fits_except_code(topic, width):
    wide = [one for one in shown(manual.page(topic), width) if len(one) > width and not one.startswith("    ")]
    assert wide == []


@pytest.mark.parametrize("topic", manual.topics())
def test_no_mark_of_markdown_is_left(topic):
    text = "\n".join(one for one in shown(manual.page(topic), 100) if not one.startswith("    "))
    assert [sign for sign in ("`", "**", "](", "|") if sign in text] == []
