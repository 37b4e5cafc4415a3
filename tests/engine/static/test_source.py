"""Reading a candidate without running it: what is refused, where, and with what advice."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest

from engine.model import Candidate, Location
from engine.static.source import (
    MAX_SOURCE_BYTES,
    Source,
    SourceError,
    directives,
    imported_files,
    read_source,
    sibling_imports,
)

ENTRY = b"def softmax(x):\n    return x\n"


def read(content: bytes, *, filename: str = "kernel.py") -> Source:
    return read_source(Candidate(source=content, problem="aten::softmax", filename=filename), "softmax")


def refusal(content: bytes, *, filename: str = "kernel.py") -> SourceError:
    with pytest.raises(SourceError) as refused:
        read(content, filename=filename)
    return refused.value


@pytest.mark.parametrize(
    ("content", "message", "line", "column"),
    [
        (b"def softmax(x)\n    return x\n", "syntax error: expected ':'", 1, 15),
        (b"x = 1\n\ny = = 2\n", "syntax error: invalid syntax", 3, 5),
        (
            b"def softmax(x):\nreturn x\n",
            "syntax error: expected an indented block after function definition on line 1",
            2,
            1,
        ),
        (b"x = (1,\n", "syntax error: '(' was never closed", 1, 5),
        ("é = 'é' $\n".encode(), "syntax error: invalid syntax", 1, 9),
        (b"\xef\xbb\xbfx = = 1\n", "syntax error: invalid syntax", 1, 5),
        (b"x = 1\r\ny = = 2\r\n", "syntax error: invalid syntax", 2, 5),
    ],
)
def test_a_syntax_error_has_its_line_and_column(content: bytes, message: str, line: int, column: int) -> None:
    error = refusal(content)
    assert (str(error), error.location) == (message, Location(line=line, column=column))


@pytest.mark.parametrize(
    "content",
    [ENTRY, b"\xef\xbb\xbf" + ENTRY, ENTRY.replace(b"\n", b"\r\n"), ENTRY.replace(b"\n", b"\r"), ENTRY.rstrip()],
    ids=["plain", "byte order mark", "crlf", "cr", "no last newline"],
)
def test_a_file_of_every_editor_is_read(content: bytes) -> None:
    source = read(content)
    assert [type(node) for node in source.tree.body] == [ast.FunctionDef]
    assert not source.text.startswith("\ufeff")


def test_a_binary_file_is_reported_so() -> None:
    error = refusal(b"\x7fELF\0\0\0", filename="a.out")
    assert str(error) == "a.out is a binary file; a candidate is one Python file in UTF-8"
    assert error.location is None


def test_file_in_utf_16_is_reported_with_command() -> None:
    error = refusal(ENTRY.decode().encode("utf-16"), filename="k.py")
    assert str(error) == "k.py is in UTF-16; convert it: iconv -f utf-16 -t utf-8 k.py > NEW"


def test_another_encoding_is_reported_with_its_first_line() -> None:
    error = refusal("x = 1\n# naïve\n".encode("latin-1"))
    assert (str(error), error.location) == ("kernel.py is not UTF-8; save it in that encoding", Location(line=2))


@pytest.mark.parametrize("coding", ["utf-7", "latin-1", "rot13"])
def test_a_file_that_declares_another_encoding_is_refused(coding: str) -> None:
    # Python would run it in that encoding, and the static checks would have read another text.
    assert "UTF-8" in str(refusal(f"# -*- coding: {coding} -*-\n".encode() + ENTRY))


def test_file_at_limit_is_read_beyond_is_refused() -> None:
    padding = b"#" * (MAX_SOURCE_BYTES - len(ENTRY))
    assert len(read(ENTRY + padding).text) == MAX_SOURCE_BYTES
    error = refusal(ENTRY + padding + b"#")
    assert str(error) == "kernel.py has 4194305 bytes; a candidate is one Python file of at most 4 MiB"


@pytest.mark.parametrize(
    "expression", ["(" * 1000 + ")" * 1000, "-" * 100_000 + "1", "[" * 150 + "x" + "]" * 150 + ".a" * 100_000]
)
def test_nesting_beyond_parser_limit_is_refused(expression: str) -> None:
    error = refusal(ENTRY + f"y = {expression}\n".encode())
    assert str(error).startswith(("syntax error: too many nested", "kernel.py cannot be parsed: "))


def test_parsing_emits_no_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(b"def softmax(x):\n    return '\\d'\n")
    assert [str(warning.message) for warning in caught] == []


def test_missing_entry_error_states_the_definition() -> None:
    assert str(refusal(b"x = 1\n")) == (
        "kernel.py does not define 'softmax', the function that is called; add `def softmax(...)`"
    )


def test_a_missing_entry_names_the_nearest_function() -> None:
    assert str(refusal(b"def sofmax(x):\n    return x\n")) == (
        "kernel.py does not define 'softmax', the function that is called; rename 'sofmax'?"
    )


def test_an_empty_file_has_no_entry() -> None:
    assert "does not define 'softmax'" in str(refusal(b""))


def test_nested_function_is_not_an_entry() -> None:
    assert "does not define 'softmax'" in str(refusal(b"def make():\n    def softmax(x):\n        return x\n"))


@pytest.mark.parametrize(
    "text",
    [
        "softmax = make()",
        "other = softmax = make()",
        "softmax: object = print",
        "softmax, other = print, print",
        "[softmax] = [print]",
        "class softmax:\n    pass",
        "from beside import softmax",
        "from beside import run as softmax",
        "import beside as softmax",
        "from beside import *",
        "if True:\n    def softmax(x): ...",
        "try:\n    from fast import softmax\nexcept ImportError:\n    softmax = None",
        "for name in ('softmax',):\n    globals()[name] = print",
        "with open('x') as softmax:\n    pass",
    ],
)
def test_entry_may_be_defined_in_every_module_form(text: str) -> None:
    assert read(text.encode()).text == text


def test_directives_are_the_pairs_of_the_first_lines() -> None:
    text = "# kgtui: op=aten::softmax expect=pass\n#kgtui: cases=full op=aten::mm\nimport x  # kgtui: no=1\n"
    assert directives(text) == {"op": "aten::mm", "expect": "pass", "cases": "full"}


@pytest.mark.parametrize(
    "text", ["", "# kgtui:\n", "# kgtui: word other\n", "# other: op=x\n", "\n" * 20 + "# kgtui: a=b"]
)
def test_malformed_or_late_directive_is_ignored(text: str) -> None:
    assert directives(text) == {}


def test_siblings_are_files_imported_by_name(tmp_path: Path) -> None:
    for name in ("helpers", "tiles", "later", "unused", "package"):
        (tmp_path / f"{name}.py").write_text("")
    tree = ast.parse(
        "import torch, tiles.deep\nfrom helpers import f\nfrom . import unused\ndef g():\n    import later\n"
    )
    assert sibling_imports(tree, tmp_path) == tuple(tmp_path / f"{name}.py" for name in ("helpers", "later", "tiles"))


def test_removed_folder_has_no_siblings(tmp_path: Path) -> None:
    assert sibling_imports(ast.parse("import helpers"), tmp_path / "gone") == ()


@pytest.mark.parametrize(
    "text",
    [
        "import helpers",
        "import os, helpers",
        "import os; import helpers",
        "import os, \\\n    helpers as h",
        "from helpers import (\n    tile,\n)",
        "from helpers.parts import x",
        "def f():\n    if x: import helpers",
        "from\thelpers import x",
        "import ｈelpers",
        "import os, \\\r\n    helpers",
    ],
)
def test_sibling_files_are_found_by_every_import_form(text: str, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").touch()
    assert imported_files(text.encode(), tmp_path) == (tmp_path / "helpers.py",)


@pytest.mark.parametrize("text", ["from helpers import", "import other", "helpers = 1", "# import helpers", ""])
def test_unimported_or_unparsable_file_is_not_sibling(text: str, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").touch()
    assert imported_files(text.encode(), tmp_path) == ()


def test_deleted_folder_has_no_files(tmp_path: Path) -> None:
    assert imported_files(b"import helpers", tmp_path / "gone") == ()
