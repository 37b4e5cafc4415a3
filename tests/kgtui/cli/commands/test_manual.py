"""`kgtui manual` lists the topics and prints a page."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys

import pytest

from kgtui import manual
from kgtui.cli import main

PAGE = """# Notes: what to keep

A **bold** word.

<!-- begin keys -->

| key | action |
|---|---|
| `q` | quit |

<!-- end keys -->
"""


@pytest.fixture
def two_pages(tmp_path, monkeypatch):
    """A manual of two pages."""
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "notes.md").write_text(PAGE)
    (folder / "a-b.md").write_text("# Letters: a and b\n\nText.\n")
    monkeypatch.setattr(manual, "FOLDER", folder)


def test_without_a_topic_each_page_is_a_line(typed, two_pages):
    ended = typed("manual")
    assert (ended.exit_code, ended.out) == (
        0,
        "a-b    Letters: a and b\nnotes  Notes: what to keep\n\n`kgtui manual TOPIC` prints a page.\n",
    )


def test_long_title_in_terminal_continues_under_its_start(console, terminal, two_pages):
    (manual.FOLDER / "a-b.md").write_text("# Letters: a and b, but not any of the others\n")
    there = dataclasses.replace(console, out=terminal(), environment={**console.environment, "COLUMNS": "40"})
    assert main.run(["manual"], there) == 0
    assert there.out.getvalue().splitlines()[:3] == [
        "a-b    Letters: a and b, but not any of",
        "       the others",
        "notes  Notes: what to keep",
    ]


def test_page_in_pipe_is_markdown_without_markers(typed, two_pages):
    ended = typed("manual", "notes")
    assert (ended.exit_code, ended.out) == (
        0,
        "# Notes: what to keep\n\nA **bold** word.\n\n| key | action |\n|---|---|\n| `q` | quit |\n",
    )


def test_unknown_topic_is_usage_error_listing_topics(typed, two_pages):
    ended = typed("manual", "timings")
    assert (ended.exit_code, ended.out, ended.err) == (
        2,
        "",
        "kgtui: no manual page 'timings'; topics: a-b, notes\n",
    )


def shown(console, terminal, **environment):
    """What a terminal shows of the page `notes`."""
    there = dataclasses.replace(console, out=terminal(), environment={**console.environment, **environment})
    assert main.run(["manual", "notes"], there) == 0
    return there.out.getvalue()


def test_a_page_in_a_terminal_is_formatted(console, terminal, two_pages):
    text = shown(console, terminal, TERM="xterm-256color", COLUMNS="60")
    assert "\x1b[1mbold\x1b[0m" in text
    assert "**bold**" not in text
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in text.splitlines()) == 60


def test_no_color_keeps_the_format_without_colours(console, terminal, two_pages):
    text = shown(console, terminal, TERM="xterm-256color", NO_COLOR="1")
    assert "**bold**" not in text
    assert re.findall(r"\x1b\[(?:[\d;]*;)?[349]\d", text) == []


def test_a_dumb_terminal_gets_the_markdown(console, terminal, two_pages):
    assert shown(console, terminal, TERM="dumb").startswith("# Notes: what to keep\n\nA **bold** word.\n")


def test_every_page_of_the_manual_is_printed(typed):
    for topic in manual.topics():
        ended = typed("manual", topic)
        assert (ended.exit_code, ended.err) == (0, ""), topic
        assert "<!--" not in ended.out, topic


def test_torch_and_textual_are_not_imported():
    code = (
        "import sys; from kgtui.cli.main import main; main(['manual', 'keys']);"
        "sys.exit(', '.join({'torch', 'triton', 'textual'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == "\n"
