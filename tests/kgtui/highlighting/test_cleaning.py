"""Nothing that a program prints can steer the terminal, or be read as other than it is."""

from __future__ import annotations

import pytest

from kgtui.highlighting.cleaning import VISIBLE, cleaned, harmless, harmless_lines, lines_of, made_visible


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain [bold]text[/bold] é→", "plain [bold]text[/bold] é→"),
        ("\x1b[1;31mred\x1b[0m text", "red text"),
        ("\x1b[2J\x1b[H\x1b[?25lgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bcharset \x1b7saved", "charset saved"),
        ("\x9b31mred", "red"),
        ("a\tb", "a       b"),
        (" 10%\r 50%\r100%\r", "100%"),
        ("bell\x07 null\x00 del\x7f", f"bell{VISIBLE} null{VISIBLE} del{VISIBLE}"),
        ("left\u202eright", f"left{VISIBLE}right"),
        ("next\u2028line", f"next{VISIBLE}line"),
        ("\x1b", VISIBLE),
    ],
)
def test_line_is_cleaned_as_expected(line: str, shown: str) -> None:
    assert cleaned(line, longest=100) == shown


def test_long_line_is_truncated_and_marked() -> None:
    assert (cleaned("x" * 10, longest=10), cleaned("x" * 11, longest=10)) == ("x" * 10, "x" * 9 + "…")


@pytest.mark.parametrize(("text", "lines"), [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\nb\n", ["a", "", "b"])])
def test_text_is_split_into_lines(text: str, lines: list[str]) -> None:
    assert lines_of(text) == lines


def test_text_that_is_not_cut() -> None:
    assert harmless("x" * 100_000 + "\x1b[2J") == "x" * 100_000


def test_several_lines_keep_ends_and_tabs() -> None:
    assert harmless_lines("a\tb\x1b[2J\n\u202ec\n") == f"a\tb\n{VISIBLE}c\n"


def test_visible_form_has_as_many_characters() -> None:
    assert made_visible("a\tb\x1b[2J\u202e") == f"a\tb{VISIBLE}[2J{VISIBLE}"
