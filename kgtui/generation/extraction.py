"""The kernel file in an answer: taken only where the answer leaves no doubt which text it is.

A rejected answer has a reason, which is stored and which the next request can repeat to the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.model.parsing import parse
from engine.static.fenced import PYTHON, Block, defines, fenced_blocks
from sessions.candidates.generation_rows import Stop

_DIFF = re.compile(r"^(?:--- .*\n\+\+\+ |@@ -\d)", re.MULTILINE)
_MOST_CHARACTERS = 400_000


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The source in an answer, or the reason why there is none."""

    source: str | None
    reason: str = ""


def extract(answer: str, *, entry: str, stop: Stop) -> Extraction:
    """The one block of Python in `answer` that defines the function `entry`; or the whole answer if it is that."""
    if len(answer) > _MOST_CHARACTERS:
        return _none(f"the answer has {len(answer):,} characters; a kernel file has at most {_MOST_CHARACTERS:,}")
    blocks = list(fenced_blocks(answer))
    python = [block for block in blocks if block.language in PYTHON]
    defining = list(dict.fromkeys(block.text for block in python if block.is_closed and defines(block.text, entry)))
    unclosed = [block for block in python if not block.is_closed]
    if unclosed:
        return _truncated(unclosed[-1], stop=stop, has_other=bool(defining))
    if len(defining) == 1:
        return Extraction(source=defining[0])
    if defining:
        return _none(f"{len(defining)} different code blocks define {entry}; answer with exactly one")
    if not blocks and defines(answer, entry):
        return Extraction(source=answer)
    if stop is Stop.REFUSED:
        return _none("the model refused to answer")
    if _DIFF.search(answer):
        return _none("the answer is a diff; answer with the whole file")
    return _none(_no_code(python, blocks, entry=entry, stop=stop))


def _truncated(block: Block, *, stop: Stop, has_other: bool) -> Extraction:
    if stop is Stop.LENGTH:
        reason = "the answer reached the limit of tokens inside of its code; raise --max-tokens or ask for less"
    elif stop is Stop.CUT:
        reason = "the connection broke inside of the code"
    else:
        reason = "the last code block is not closed, so the code may be incomplete"
    if has_other:
        reason += "; an earlier block is complete, but may be a draft"
    return _none(reason)


def _no_code(python: list[Block], blocks: list[Block], *, entry: str, stop: Stop) -> str:
    for block in python:
        try:
            parse(block.text)
        except SyntaxError as error:
            return f"the code block is no Python: {error.msg} in its line {error.lineno}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"the code block is no Python: {error}"
    if python:
        return f"no code block defines {entry}"
    if stop is Stop.LENGTH:
        return "the answer reached the limit of tokens before any code; raise --max-tokens"
    if blocks:
        return f"the answer has no Python code block, only {', '.join(sorted({block.language for block in blocks}))}"
    return "the answer has no code block; answer with one Python code block"


def _none(reason: str) -> Extraction:
    return Extraction(source=None, reason=reason)
