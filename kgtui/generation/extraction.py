"""Extracts the kernel file from an answer, only if it is unambiguous.

A rejected answer has a reason, which is stored and can be sent to the model with the next request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.model.parsing import parse
from engine.static.fenced import PYTHON, Block, defined_names, defines, fenced_blocks, missing_names
from sessions.candidates.generation_rows import Stop

_DIFF = re.compile(r"^(?:--- .*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_TOOL_CALL = re.compile(r'<tool_call>|<function_call>|^\s*[\[{].*"(?:arguments|parameters|tool_calls|input)"\s*:', re.S)
_REASONING = re.compile(r"\A\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|#39|#x27);")
_MOST_CHARACTERS = 400_000


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The source in an answer, or the reason why there is none."""

    source: str | None
    reason: str = ""


def extract(answer: str, *, entry: str, stop: Stop, calls_tool: bool = False) -> Extraction:
    """The one block of Python in `answer` that defines the function `entry`; or the whole answer if that is the source.
    `calls_tool` says that the answer also has a tool call outside of its text.

    Reasoning that a server leaves in the text (`<think>` and the like) is not part of the answer.
    """
    if len(answer) > _MOST_CHARACTERS:
        return _none(f"the answer has {len(answer):,} characters; a kernel file has at most {_MOST_CHARACTERS:,}")
    *_, answer = _REASONING_ENDS.split(answer)
    if _REASONING.match(answer):
        return _none(_only_reasoning(stop))
    if defines(answer, entry):
        return _unfenced(answer, stop=stop)
    blocks = list(fenced_blocks(answer))
    python = [block for block in blocks if block.language in PYTHON]
    defining = _defining(python, entry) or _defining(blocks, entry)
    unclosed = [block for block in python if not block.is_closed]
    if unclosed:
        return _truncated(unclosed[-1], stop=stop, has_other=bool(defining))
    if len(defining) == 1:
        return _whole(defining[0], blocks)
    if defining:
        return _none(f"{len(defining)} different code blocks define {entry}; answer with exactly one")
    calls_tool = calls_tool or any(map(_TOOL_CALL.search, (answer, *(block.text for block in blocks))))
    return _none(
        _no_code(python, blocks, entry=entry, stop=stop, calls_tool=calls_tool, is_diff=bool(_DIFF.search(answer)))
    )


def _defining(blocks: list[Block], entry: str) -> list[str]:
    """The distinct blocks that define the entry, whatever their label."""
    return list(dict.fromkeys(block.text for block in blocks if block.is_closed and defines(block.text, entry)))


def _unfenced(answer: str, *, stop: Stop) -> Extraction:
    """The whole answer as the file, unless it was truncated."""
    if stop is Stop.LENGTH:
        return _none("the answer reached the token limit inside its code; raise --max-tokens or request less")
    if stop is Stop.CUT:
        return _none("the connection broke inside of the code")
    return _checked(answer)


def _whole(text: str, blocks: list[Block]) -> Extraction:
    """This block, unless it uses names that only another block defines."""
    others = frozenset[str]().union(*(defined_names(block.text) for block in blocks if block.text != text))
    if split := sorted(missing_names(text) & others):
        return _none(f"{split[0]} is defined in another code block; answer with one block that has the whole file")
    return _checked(text)


def _checked(text: str) -> Extraction:
    """This text, unless it is escaped for HTML: code with comparisons and arrows contains raw angle brackets."""
    if _ESCAPED.search(text) and not re.search("[<>]", text):
        return _none("the code is escaped for HTML (&lt; in place of <); answer with plain text")
    return Extraction(source=text)


def _only_reasoning(stop: Stop) -> str:
    if stop is Stop.LENGTH:
        return "the answer reached the limit of tokens while reasoning; raise --max-tokens or lower --effort"
    if stop is Stop.CUT:
        return "the connection broke while the model was reasoning"
    return "the answer has reasoning only; answer with one Python code block"


def _truncated(block: Block, *, stop: Stop, has_other: bool) -> Extraction:
    if stop is Stop.LENGTH:
        reason = "the answer reached the token limit inside its code; raise --max-tokens or request less"
    elif stop is Stop.CUT:
        reason = "the connection broke inside of the code"
    else:
        reason = "the last code block is not closed, so the code may be incomplete"
    if has_other:
        reason += "; an earlier block is complete, but may be a draft"
    return _none(reason)


def _no_code(
    python: list[Block], blocks: list[Block], *, entry: str, stop: Stop, calls_tool: bool, is_diff: bool
) -> str:
    """Reason why an answer without a block that defines the entry has no file."""
    if stop is Stop.REFUSED:
        return "the model refused to answer"
    if is_diff:
        return "the answer is a diff; answer with the whole file"
    for block in python:
        if sentence := _no_python(block.text):
            return sentence
    if python:
        return f"no code block defines {entry}"
    if stop is Stop.LENGTH:
        return "the answer reached the limit of tokens before any code; raise --max-tokens"
    if calls_tool:
        return "the answer calls a tool, and none is offered; answer with one Python code block"
    if blocks:
        return f"the answer has no Python code block, only {', '.join(sorted({block.language for block in blocks}))}"
    return "the answer has no code block; answer with one Python code block"


def _no_python(text: str) -> str:
    """Reason why a block is not valid Python; empty if it is."""
    try:
        parse(text)
    except SyntaxError as error:
        reason = f"the code block is not valid Python: {error.msg} in its line {error.lineno}"
        return _checked(text).reason or reason
    except (ValueError, RecursionError, MemoryError) as error:
        return f"the code block is not valid Python: {error}"
    return ""


def _none(reason: str) -> Extraction:
    return Extraction(source=None, reason=reason)
