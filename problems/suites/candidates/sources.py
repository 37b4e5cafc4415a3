"""Extracts the source text from a model's answer or a suite's file, and makes it define the entry of its task.

The rules of the suites are combined: the first fenced block counts, text after the line of 146 `#` is ignored, end
tokens of a model are dropped, and KernelBench-X accepts `kernel_function` in place of the task's name.
"""

from __future__ import annotations

from engine.static.fenced import PYTHON, defines, fenced_blocks
from problems.suites.task import Task
from problems.suites.texts.separated import SEPARATOR

_END_MARKS = ("<|im_end|>", "<|EOT|>", "<|endoftext|>")
_OTHER_NAMES = ("kernel_function",)


def source_of(text: str, task: Task) -> str:
    """The source in a text, which is an answer with fenced code or a source itself.

    A source that does not define the task's entry, or is empty, is also a candidate: it fails, and counts as a sample.
    """
    for mark in _END_MARKS:
        text = text.replace(mark, "")
    source = _above_separator(_block(text, task.entry))
    other = next((name for name in _OTHER_NAMES if defines(source, name)), None)
    if other is None or defines(source, task.entry):
        return source
    return f"{source.rstrip()}\n\n\n{task.entry} = {other}\n"


def _block(answer: str, entry: str) -> str:
    """The first block of Python that defines the entry, else the first one; the whole text if it has no fence."""
    blocks = [block.text for block in fenced_blocks(answer) if block.language in PYTHON]
    if not blocks:
        return answer
    return next((block for block in blocks if entry in block), blocks[0])


def _above_separator(text: str) -> str:
    """The candidate's part of a joined file, above the separator."""
    lines = text.splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if line.strip() == SEPARATOR]
    return "".join(lines[: ends[0]]) if ends else text
