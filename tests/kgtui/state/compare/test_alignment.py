"""Texts side by side: which lines are one, which words of them changed, and where differences begin."""

from __future__ import annotations

from kgtui.state.compare.alignment import Alignment, Change, aligned, unified

BEFORE = ("import x", "def f(x, y):", "    a = x + 1", "    b = a * 2", "    return b")
AFTER = (
    "import x",
    "import z",
    "def f(x, y, 日本):",
    "    a = x + 2",
    "    if a:",
    "        b = a * 3",
    "    return b",
)


def drawn(alignment: Alignment) -> list[str]:
    """Number, sign and text of every cell."""
    return [" | ".join(f"{cell.number or ''}{cell.change}{cell.text}" for cell in row.cells) for row in alignment.rows]


def marked(alignment: Alignment, column: int) -> list[str]:
    """The words of one text that are marked as changed."""
    cells = (row.cells[column] for row in alignment.rows)
    return [cell.text[start:end] for cell in cells for start, end in cell.spans]


def test_changed_line_is_paired_and_new_unpaired() -> None:
    assert drawn(aligned((BEFORE, AFTER))) == [
        "1 import x | 1 import x",
        "  | 2+import z",
        "2~def f(x, y): | 3~def f(x, y, 日本):",
        "3~    a = x + 1 | 4~    a = x + 2",
        "  | 5+    if a:",
        "4~    b = a * 2 | 6~        b = a * 3",
        "5     return b | 7     return b",
    ]


def test_changed_words_inside_line_are_marked() -> None:
    alignment = aligned((BEFORE, AFTER))
    assert marked(alignment, 1) == [", 日本", "2", "        ", "3"]
    assert marked(alignment, 0) == ["1", "    ", "2"]


def test_removed_line_leaves_marked_gap() -> None:
    assert drawn(aligned((("a b", "c d", "e f"), ("a b", "e f")))) == ["1 a b | 1 a b", "2-c d | -", "3 e f | 2 e f"]


def test_four_texts_are_each_laid_beside_the_first() -> None:
    alignment = aligned((("a b", "c d"), ("a b", "c e"), ("c d",), ("a b", "new", "c d")))
    assert drawn(alignment) == ["1-a b | 1 a b | - | 1 a b", "  |   |   | 2+new", "2~c d | 2~c e | 1 c d | 3 c d"]


def test_reference_line_in_no_version_is_removed() -> None:
    assert [row.cells[0].change for row in aligned((("a b",), (), ("a b",))).rows] == [Change.REMOVED]


def test_differences_start_after_equal_lines() -> None:
    assert aligned((BEFORE, AFTER)).starts == (1,)
    assert aligned((("a", "b b", "c"), ("a", "b c", "c", "d"))).starts == (1, 3)


def test_the_same_texts_do_not_differ() -> None:
    assert aligned((BEFORE, BEFORE)).starts == ()


def test_texts_without_lines_have_no_rows() -> None:
    assert aligned(((), ())).rows == ()


def test_lines_sharing_few_words_are_not_paired() -> None:
    assert drawn(aligned((("x = 1",), ("return tl.load(p)",)))) == ["1-x = 1 | -", "  | 1+return tl.load(p)"]


def test_lines_differing_in_undrawable_characters_are_changed() -> None:
    row = aligned((("a\t= 1",), ("a       = 1",))).rows[0]
    assert [(cell.text, cell.change, cell.spans) for cell in row.cells] == [
        ("a       = 1", Change.CHANGED, ()),
        ("a       = 1", Change.CHANGED, ()),
    ]


def test_one_column_shows_removed_above_added() -> None:
    assert drawn(unified(aligned((BEFORE, AFTER)))) == [
        "1 import x",
        "2-def f(x, y):",
        "3-    a = x + 1",
        "4-    b = a * 2",
        "2+import z",
        "3+def f(x, y, 日本):",
        "4+    a = x + 2",
        "5+    if a:",
        "6+        b = a * 3",
        "7     return b",
    ]


def test_one_column_of_many_shows_only_chosen_version() -> None:
    alignment = aligned((("a b", "c d"), ("a b", "c e"), ("a b", "new", "c d")))
    assert drawn(unified(alignment, other=2)) == ["1 a b", "2+new", "3 c d"]
    assert unified(alignment, other=1).starts == (1,)


def test_long_changed_block_is_paired_in_order() -> None:
    before = [f"x{place} = load({place})" for place in range(100)]
    after = [f"y{place} = load({place})" for place in range(100)]
    alignment = aligned((before, after))
    assert len(alignment.rows) == 100
    assert {row.cells[1].change for row in alignment.rows} == {Change.CHANGED}
