"""Each kind of text gets the colours that help to read it, one line at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from pygments.token import Token

from kgtui.highlighting.incremental import IncrementalLexer
from kgtui.highlighting.inks import Ink
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.lexers import (
    LONGEST_COLOURED_LINE,
    PythonLineLexer,
    is_made,
    lexer_for,
    make_lexers,
    spans_of_line,
)

TTGIR = '    %x_5 = tt.load %x_4, %mask : tensor<1024x!tt.ptr<f32>, #blocked> loc(callsite(#loc1 at "k.py":3:1))'
SASS = "        /*0170*/              @!P0 LDG.E.128 R6, desc[UR6][R18.64+0x400] ;    /* 0x0000000612067981 */"
AMDGCN = ".LBB0_2: global_load_dwordx4 v[4:7], v1, s[2:3] offset:16 ; wait"
PTX = "\t@%p1 ld.global.b32 \t%r1, [ %rd1 + 16 ];"
LLIR = "  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !7 ; note"


def words(line: str, kind: TextKind) -> list[tuple[str, Ink]]:
    return [(line[span.start : span.end], span.ink) for span in spans_of_line(line, kind)]


def test_triton_ir() -> None:
    assert words(TTGIR, TextKind.TTGIR) == [
        ("%x_5", Ink.VARIABLE),
        ("tt.load", Ink.BUILTIN),
        ("%x_4", Ink.VARIABLE),
        ("%mask", Ink.VARIABLE),
        ("tensor", Ink.TYPE),
        ("1024x", Ink.NUMBER),
        ("!tt.ptr", Ink.TYPE),
        ("f32", Ink.TYPE),
        ("#blocked", Ink.ATTRIBUTE),
        ('loc(callsite(#loc1 at "k.py":3:1))', Ink.COMMENT),
    ]
    assert words(TTGIR, TextKind.TTIR) == words(TTGIR, TextKind.TTGIR)


def test_sass() -> None:
    assert words(SASS, TextKind.SASS) == [
        ("/*0170*/", Ink.COMMENT),
        ("@!P0", Ink.DECORATOR),
        ("LDG.E.128", Ink.KEYWORD),
        ("R6", Ink.VARIABLE),
        ("UR6", Ink.VARIABLE),
        ("R18.64", Ink.VARIABLE),
        ("+0x400", Ink.NUMBER),
        ("/* 0x0000000612067981 */", Ink.COMMENT),
    ]
    assert words("`(.L_x_0)", TextKind.SASS) == [("`(.L_x_0)", Ink.LABEL)]


def test_amdgcn() -> None:
    assert words(AMDGCN, TextKind.AMDGCN) == [
        (".LBB0_2:", Ink.LABEL),
        ("global_load_dwordx4", Ink.KEYWORD),
        ("v[4:7]", Ink.VARIABLE),
        ("v1", Ink.VARIABLE),
        ("s[2:3]", Ink.VARIABLE),
        ("offset", Ink.ATTRIBUTE),
        ("16", Ink.NUMBER),
        ("; wait", Ink.COMMENT),
    ]


def test_ptx_and_llvm_use_pygments() -> None:
    assert ("ld", Ink.KEYWORD) in words(PTX, TextKind.PTX)
    assert words("// note", TextKind.PTX) == [("// note", Ink.COMMENT)]
    assert {("%5", Ink.VARIABLE), ("i32", Ink.TYPE), ("; note", Ink.COMMENT)} <= set(words(LLIR, TextKind.LLIR))


def test_logs() -> None:
    assert words("Traceback (most recent call last):", TextKind.LOG)[0][1] is Ink.ERROR
    assert words('  File "k.py", line 12, in f', TextKind.LOG) == [('"k.py"', Ink.STRING), ("12", Ink.NUMBER)]
    assert words("ValueError: bad [shape]", TextKind.LOG) == [("ValueError", Ink.ERROR)]
    assert words("UserWarning: slow", TextKind.LOG) == [("UserWarning", Ink.WARNING)]


@pytest.mark.parametrize(("line", "ink"), [("+new", Ink.ADDED), ("-old", Ink.REMOVED), ("@@ -1 +1 @@", Ink.HEADING)])
def test_diffs(line: str, ink: Ink) -> None:
    assert words(line, TextKind.DIFF) == [(line, ink)]


def test_plain_text_and_enormous_lines_have_no_colours() -> None:
    assert words("ValueError 12", TextKind.PLAIN) == []
    assert words("; " + "x" * LONGEST_COLOURED_LINE, TextKind.AMDGCN) == []


@pytest.mark.parametrize("kind", [kind for kind in TextKind if kind is not TextKind.PLAIN])
@pytest.mark.parametrize("line", [TTGIR, SASS, AMDGCN, PTX, LLIR, "", "\"unclosed 'é→ [/bold] \x00"])
def test_no_lexer_loses_a_character(kind: TextKind, line: str) -> None:
    lexer = lexer_for(kind)
    assert lexer is not None
    assert "".join(text for _, _, text in lexer.get_tokens_unprocessed(line + "\n")) == line + "\n"


@pytest.mark.parametrize(("kind", "line"), [(TextKind.TTGIR, TTGIR), (TextKind.SASS, SASS), (TextKind.AMDGCN, AMDGCN)])
def test_real_lines_have_no_unknown_token(kind: TextKind, line: str) -> None:
    lexer = lexer_for(kind)
    assert lexer is not None
    assert Token.Error not in {token for _, token, _ in lexer.get_tokens_unprocessed(line)}


@pytest.fixture
def none_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the start of the process."""
    monkeypatch.setattr("kgtui.highlighting.lexers._MADE", {})
    for name in ("_tokens", "_all_tokens"):
        if name in vars(PythonLineLexer):
            monkeypatch.delattr(PythonLineLexer, name)


@pytest.mark.usefixtures("none_made")
def test_concurrent_threads_get_one_complete_lexer() -> None:
    start = Barrier(4)

    def asked() -> object:
        start.wait()
        return lexer_for(TextKind.PYTHON)

    with ThreadPoolExecutor(4) as threads:
        lexers = [future.result() for future in [threads.submit(asked) for _ in range(4)]]
    assert lexers == [lexers[0]] * 4
    assert words("@jit", TextKind.PYTHON) == [("@jit", Ink.DECORATOR)]


@pytest.mark.usefixtures("none_made")
def test_lexer_is_made_at_first_line_or_before() -> None:
    lexer = IncrementalLexer()
    lexer.replace(["import triton"])
    assert not is_made(TextKind.PYTHON)
    lexer.advance(1)
    assert [kind for kind in TextKind if is_made(kind)] == [TextKind.PYTHON]
    make_lexers()
    assert all(map(is_made, TextKind))


@pytest.mark.parametrize("start", ['cuda_source = r"""', "CPP_SRC = '''"])
def test_cuda_in_string_is_coloured_until_string_ends(start: str) -> None:
    lines = [start, "__global__ void k(float* x) { // note", start[-3:], "return 1"]
    lexer = IncrementalLexer()
    lexer.replace(lines)
    lexer.advance(10**9)
    inks = [[(line[span.start : span.end], span.ink) for span in lexer.spans(row)] for row, line in enumerate(lines)]
    assert ("__global__", Ink.KEYWORD) in inks[1]
    assert ("// note", Ink.COMMENT) in inks[1]
    assert inks[3][0] == ("return", Ink.KEYWORD)


def test_a_string_of_another_name_stays_a_string() -> None:
    lexer = IncrementalLexer()
    lexer.replace(['text = """', "void k()", '"""'])
    lexer.advance(10**9)
    assert [span.ink for span in lexer.spans(1)] == [Ink.STRING]
