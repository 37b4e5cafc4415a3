"""Reading a candidate: from bytes to a syntax tree, without running any of it.

The first result after a save: a syntax error with its line and column, or a missing entry, in milliseconds and before
any child process is used.
"""

from __future__ import annotations

import ast
import codecs
import difflib
import io
import re
import tokenize
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CandidateError
from engine.model import Candidate, Location
from engine.model.parsing import parse

MAX_SOURCE_BYTES = 4 << 20
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_IMPORT, _WORD = re.compile(r"\b(?:from|import)\b(.*)"), re.compile(r"\w+")
_JOINED = re.compile(r"\\(?:\r\n?|\n)")  # line continuations
_QUICK_BYTES, _QUICK_LINE_BYTES = 1 << 16, 2_000
_MOST_NAME_CHARACTERS = 255  # of a file name
_DIRECTIVE = re.compile(r"^#\s*kgtui:\s*(.*)$")
_DIRECTIVES = ("op", "cases", "target")


class SourceError(CandidateError):
    """The text is not a candidate; `location` is the place."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


@dataclass(frozen=True, kw_only=True)
class Source:
    """A candidate's text that parses and defines its entry."""

    text: str
    tree: ast.Module


def read_source(candidate: Candidate, entry: str) -> Source:
    """Decode and parse the candidate and find the function `entry` at its top level.

    Raises:
        SourceError: not text, not Python, or without the entry; the message has the place and the next step.
    """
    text = decode(candidate.source, candidate.filename)
    try:
        tree = parse(text, filename=candidate.filename)
    except SyntaxError as error:
        raise SourceError(f"syntax error: {error.msg}", _location(error)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{candidate.filename} cannot be parsed: {error}") from error
    _require_entry(tree, entry, candidate.filename)
    return Source(text=text, tree=tree)


def decode(content: bytes, filename: str) -> str:
    """The text of a Python file in UTF-8.

    Raises:
        SourceError: it is too large, binary, or in another encoding.
    """
    if len(content) > MAX_SOURCE_BYTES:
        raise SourceError(f"{filename} has {len(content)} bytes; a candidate is one Python file of at most 4 MiB")
    if content.startswith(_UTF_16):
        raise SourceError(f"{filename} is in UTF-16; convert it: iconv -f utf-16 -t utf-8 {filename} > NEW")
    if b"\0" in content:
        raise SourceError(f"{filename} is a binary file; a candidate is one Python file in UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{filename} is not UTF-8; save it in that encoding", Location(line=line)) from error
    if _declared_encoding(content) not in ("utf-8", "utf-8-sig"):
        # Python would run it in that encoding, so a different text than the one analysed.
        fix = "save it as UTF-8 and remove the declaration"
        raise SourceError(f"{filename} declares an encoding other than UTF-8; {fix}")
    return text


def directives(text: str) -> dict[str, str]:
    """Values of the `# kgtui: key=value ...` lines at the head of a file."""
    found: dict[str, str] = {}
    for line in directive_lines(text):
        for pair in line.partition("kgtui:")[2].split():
            key, equals, value = pair.partition("=")
            if equals:
                found[key] = value
    return found


def directive_lines(text: str) -> tuple[str, ...]:
    """The `# kgtui: key=value ...` lines at the head of a file."""
    return tuple(line.strip() for line in text.splitlines()[:20] if _DIRECTIVE.match(line.strip()))


def unknown_directives(text: str) -> str:
    """A sentence on the words of the `# kgtui:` lines that have no effect; "" if all have one."""
    words = " ".join(line.partition("kgtui:")[2] for line in directive_lines(text)).split()
    unknown = [word for word in words if "=" not in word or word.partition("=")[0] not in _DIRECTIVES]
    known = "known are op=, cases= and target="
    return f"its `# kgtui:` line: unknown {' '.join(unknown)}; {known}" if unknown else ""


def is_quickly_parsed(content: bytes) -> bool:
    """Whether Python's parser, which holds the interpreter lock, takes milliseconds for this text.

    Its time is quadratic in the length of an identifier of combining characters, which is never longer than a line.
    """
    if len(content) > _QUICK_BYTES:
        return False
    return content.isascii() or max(map(len, content.splitlines()), default=0) <= _QUICK_LINE_BYTES


def imported_files(content: bytes, folder: Path) -> tuple[Path, ...]:
    """Files beside a candidate that it imports; none while it does not parse.

    For a text that is not quickly parsed, those named on a line with an import.
    """
    named = _named_siblings(content, folder)
    if not named or not is_quickly_parsed(content):
        return named
    try:
        return sibling_imports(parse(content), folder)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def sibling_imports(tree: ast.Module, folder: Path) -> tuple[Path, ...]:
    """Files beside the candidate that its own import statements name."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return tuple(path for name in sorted(names) if (path := folder / f"{name}.py").is_file())


def _named_siblings(content: bytes, folder: Path) -> tuple[Path, ...]:
    """The files of the folder that may be imported; a quick test, since parsing a long text takes long."""
    lines = _IMPORT.findall(_JOINED.sub(" ", content.decode(errors="replace")))
    words = {word for line in lines for word in _WORD.findall(line) if len(word) <= _MOST_NAME_CHARACTERS}
    names = {unicodedata.normalize("NFKC", word) for word in words}  # universal newlines, as Python reads it
    try:
        return tuple(sorted(path for path in folder.iterdir() if path.suffix == ".py" and path.stem in names))
    except OSError:
        return ()


def _declared_encoding(content: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except SyntaxError:
        return "unknown"


def _require_entry(tree: ast.Module, entry: str, filename: str) -> None:
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in tree.body if isinstance(node, ast.AnnAssign) and node.value is not None]
    defined += [part.id for target in targets for part in ast.walk(target)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]  # fmt: skip
    defined += [alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
                for alias in node.names]  # fmt: skip
    if entry in defined or "*" in defined:
        return
    # A conditional or dynamic definition may still make it: the load decides about those.
    if any(isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While) for node in tree.body):
        return
    close = difflib.get_close_matches(entry, defined, n=1)
    hint = f"; rename {close[0]!r}?" if close else f"; add `def {entry}(...)`"
    raise SourceError(f"{filename} does not define {entry!r}, the function that is called{hint}")


def _location(error: SyntaxError) -> Location | None:
    return Location(line=error.lineno, column=error.offset or None) if error.lineno else None
