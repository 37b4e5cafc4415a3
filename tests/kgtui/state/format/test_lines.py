"""Lines that are wrapped behind an indent: nothing is lost, and every part keeps what it means."""

from __future__ import annotations

from kgtui.state.format.lines import Span, Tone, hung, line, muted, plain_text, strong

TIME = line(muted("device    "), strong("14.3 µs"), muted("  [14.23 to 14.44]  CUPTI timestamps, all streams"))


def test_text_is_wrapped_behind_the_indent() -> None:
    assert plain_text(hung(TIME, width=40, indent=10)) == (
        "device    14.3 µs  [14.23 to 14.44]\n          CUPTI timestamps, all streams"
    )


def test_fitting_text_is_unchanged() -> None:
    assert hung(TIME, width=100, indent=10) == (TIME,)


def test_every_part_keeps_its_tone() -> None:
    assert hung(line(strong("one two"), Span(" three four", Tone.BAD)), width=12, indent=2) == (
        (strong("one two"),),
        (Span("  "), Span("three four", Tone.BAD)),
    )


def test_overlong_word_is_broken() -> None:
    assert plain_text(hung(line("x" * 25), width=10, indent=2)) == f"{'x' * 10}\n  {'x' * 8}\n  {'x' * 7}"


def test_a_pane_narrower_than_the_indent_loses_nothing() -> None:
    assert plain_text(hung(line("one two four"), width=3, indent=4)) == "one two\n    four"
