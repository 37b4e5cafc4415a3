"""Lexers for every kind of text that the screen shows.

All of them lex one line at a time, so that a view can colour only the visible lines. Pygments has lexers for PTX, LLVM
and diffs; those for Triton's IR and for GPU machine code are here. Creating one compiles its patterns, which takes
longer than drawing a screen, so it is done in a thread where possible; concurrent callers wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

# Pygments has no type annotations; its objects are annotated where they are used.
from pygments.lexer import (
    ExtendedRegexLexer,
    Lexer,
    RegexLexer,
    RegexLexerMeta,
    bygroups,
    inherit,
    using,
)
from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.python import PythonLexer
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

from kgtui.highlighting.inks import Span, spans_of
from kgtui.highlighting.kinds import TextKind

LONGEST_COLOURED_LINE = 2_000

Rule: TypeAlias = tuple[str, Any]  # a pattern, and a token type or a callback of Pygments, which is not annotated


# Created once per process, under a lock: Pygments' lexer creation is not thread-safe.
_MADE: dict[TextKind, Lexer | None] = {}
_MAKING = threading.Lock()


def lexer_for(kind: TextKind) -> Lexer | None:
    """The lexer of a kind of text; None if there is nothing to colour."""
    if kind not in _MADE:
        with _MAKING:
            if kind not in _MADE:
                _MADE[kind] = _new_lexer(kind)
    return _MADE[kind]


def is_made(kind: TextKind) -> bool:
    """Whether the lexer of this kind is loaded, so that no caller waits for it."""
    return kind in _MADE


def make_lexers() -> None:
    """Create every missing lexer; called in a thread, so that the screen does not wait."""
    for kind in TextKind:
        lexer_for(kind)


def spans_of_line(line: str, kind: TextKind) -> tuple[Span, ...]:
    """The inks of one line by itself; an extremely long line stays plain."""
    lexer = lexer_for(kind)
    if lexer is None or len(line) > LONGEST_COLOURED_LINE:
        return ()
    return spans_of(lexer.get_tokens_unprocessed(line + "\n"))  # some lexers recognise a comment only with its line end


_NATIVE_NAME = r"\w*(?:cuda|cpp|CUDA|CPP)\w*"
_NATIVE_START = bygroups(Whitespace, Name, Whitespace, Operator, Whitespace, String.Affix, String.Double)


def _native(*, quote: str) -> list[Rule]:
    """CUDA C++ inside a string that three of these quotes end; Pygments recognises a comment only with its line end."""
    return [
        (rf"//[^{quote}\n]*", Comment.Single),
        (r"__\w+__\b", Keyword.Reserved),  # __global__ and similar words are CUDA's
        (rf"{quote}[^{quote}\n]+{quote}", String),
        (rf"(?:(?!__)[^{quote}/\n])+|{quote}|/|__", using(CppLexer)),
        (r"\n", Whitespace),
    ]


class PythonLineLexer(ExtendedRegexLexer, PythonLexer):  # type: ignore[misc]  # Pygments has no types
    """Pygments' Python, with docstrings as a state instead of one token over many lines, and CUDA C++ in strings.

    A triple-quoted string is CUDA or C++ if it is assigned to a name such as `cuda_source` or `CPP`. Everything else
    that spans lines is already a state in Pygments, so a line and the stack of states at its start determine its tokens
    and the stack at its end.
    """

    name = "Python by lines"
    aliases = ("python-lines",)
    tokens = {  # noqa: RUF012  # Pygments wants a plain class attribute
        "root": [
            (r'^([^\S\n]*)([rRuUbB]{,2})(""")', bygroups(Whitespace, String.Affix, String.Doc), "docstring-double"),
            (r"^([^\S\n]*)([rRuUbB]{,2})(''')", bygroups(Whitespace, String.Affix, String.Doc), "docstring-single"),
            (rf'^([^\S\n]*)({_NATIVE_NAME})(\s*)(=)(\s*)([rRfF]{{,2}})(""")', _NATIVE_START, "native-double"),
            (rf"^([^\S\n]*)({_NATIVE_NAME})(\s*)(=)(\s*)([rRfF]{{,2}})(''')", _NATIVE_START, "native-single"),
            inherit,
        ],
        "native-double": [(r'"""', String.Double, "#pop"), *_native(quote='"')],
        "native-single": [(r"'''", String.Single, "#pop"), *_native(quote="'")],
        "docstring-double": [(r'"""', String.Doc, "#pop"), (r'[^"\n]+|"|\n', String.Doc)],
        "docstring-single": [(r"'''", String.Doc, "#pop"), (r"[^'\n]+|'|\n", String.Doc)],
    }


def _new_lexer(kind: TextKind) -> Lexer | None:
    from pygments.lexers import DiffLexer, LlvmLexer, PtxLexer

    makers: dict[TextKind, Callable[[], Lexer]] = {
        TextKind.PYTHON: PythonLineLexer,
        TextKind.TTIR: lambda: _by_rules(_TRITON_IR),
        TextKind.TTGIR: lambda: _by_rules(_TRITON_IR),
        TextKind.LLIR: LlvmLexer,
        TextKind.PTX: PtxLexer,
        TextKind.AMDGCN: lambda: _by_rules(_AMDGCN),
        TextKind.SASS: lambda: _by_rules(_SASS),
        TextKind.LOG: lambda: _by_rules(_LOG),
        TextKind.DIFF: DiffLexer,
    }
    return makers[kind]() if kind in makers else None


def _by_rules(rules: tuple[Rule, ...]) -> Lexer:
    """A lexer with one state: at each place the first rule that matches."""
    return RegexLexerMeta("RuleLexer", (RegexLexer,), {"name": "rules", "tokens": {"root": list(rules)}})()


# Triton's own IR before and after layouts are chosen: TTIR and TTGIR.
_TRITON_IR: tuple[Rule, ...] = (
    (r"\s+", Whitespace),
    (r"//.*", Comment.Single),
    (r"loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", Comment.Special),
    (r"^#loc\d*\b.*", Comment.Special),
    (r'"(?:[^"\\\n]|\\.)*"', String),
    (r"%[\w$.\-]+(?:[:#]\d+)?", Name.Variable),
    (r"\^\w+", Name.Label),
    (r"@[\w$.]+", Name.Function),
    (r"![\w$.]+", Keyword.Type),
    (r"#[\w$.]+", Name.Attribute),
    (r"(?:\d+x)+(?=[!a-z])", Number.Integer),
    (r"(?:[su]?i\d+|b?f\d+\w*|tf32|index|tensor|memref|vector|dense|tuple)\b", Keyword.Type),
    (r"(?:true|false|unit)\b", Keyword.Constant),
    (r"(?:module|attributes|public|private|iter_args|to|step|else|do|func|return)\b", Keyword),
    (r"[a-zA-Z_][\w$]*(?:\.[\w$\-]+)+", Name.Builtin),
    (r"-?0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", Number),
    (r"\w+", Name),
    (r"[^\w\s]", Punctuation),
)

# NVIDIA's machine code as nvdisasm and cuobjdump print it.
_SASS: tuple[Rule, ...] = (
    (r"\s+", Whitespace),
    (r"/\*.*?(?:\*/|$)", Comment.Special),
    (r"//.*", Comment.Single),
    (r'"[^"\n]*"', String),
    (r"^\.?[\w$.]+:", Name.Label),
    (r"`?\(?\.L\w+\)?", Name.Label),
    (r"\.[a-z_][\w.]*", Keyword.Pseudo),
    (r"@!?U?P(?:\d+|T)\b", Name.Decorator),
    (r"(?:U?R(?:\d+|Z)|U?P(?:\d+|T)|B\d+|SR_\w+)\b(?:\.\w+)*", Name.Variable),
    (r"c\[0x[0-9a-f]+\]", Name.Constant),
    (r"[A-Z][A-Z0-9_]*\b(?:\.[\w]+)*", Keyword),
    (r"[-+]?0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b", Number),
    (r"\w+", Name),
    (r"[^\w\s]", Punctuation),
)

# AMD's assembly as LLVM prints it.
_AMDGCN: tuple[Rule, ...] = (
    (r"\s+", Whitespace),
    (r"(?:;|//).*", Comment.Single),
    (r"/\*.*?(?:\*/|$)", Comment.Special),
    (r'"(?:[^"\\\n]|\\.)*"', String),
    (r"^[\w$.]+:", Name.Label),
    (r"\.L\w+", Name.Label),
    (r"\.[\w.]+", Keyword.Pseudo),
    (r"(?:[sva]|ttmp)(?:\d+|\[\d+(?::\d+)?\])(?!\w)", Name.Variable),
    (r"(?:vcc|exec|flat_scratch)(?:_lo|_hi)?\b|(?:scc|m0|null)\b", Name.Variable),
    (r"\w+(?=:\S)", Name.Attribute),
    (r"[a-z]\w*_\w+", Keyword),
    (r"-?0x[0-9a-f]+|-?\d+(?:\.\d+)?\b", Number),
    (r"\w+", Name),
    (r"[^\w\s]", Punctuation),
)

# What programs print: errors, warnings, and places in files.
_LOG: tuple[Rule, ...] = (
    (r"\s+", Whitespace),
    (r"^Traceback \(most recent call last\):", Generic.Traceback),
    (r'(File )(".*?")(, line )(\d+)', bygroups(Text, String, Text, Number.Integer)),
    (r"[\w./\-]+\.py:\d+(?::\d+)?", String),
    (r"(?:[\w.]*(?:Error|Exception)|(?i:errors?|failed|fatal))\b", Generic.Error),
    (r"(?:\w*Warning|(?i:warnings?|warn))\b", Generic.Strong),
    (r"(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b", Number),
    (r"\w+", Text),
    (r"[^\w\s]", Text),
)
