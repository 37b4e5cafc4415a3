"""The source text in what a model answered or a suite kept, made to define the entry of its task.

Suites are lenient here, each in its way: the first fenced block counts, what follows the line of 146 `#` does not,
end marks of a model's tokens are dropped, and KernelBench-X takes `kernel_function` for the name of the task.
"""

from __future__ import annotations

from engine.static.fenced import PYTHON, defines, fenced_blocks
from problems.suites.task import Task
from problems.suites.texts.separated import SEPARATOR

_END_MARKS = ("<|im_end|>", "<|EOT|>", "<|endoftext|>")
_OTHER_NAMES = ("kernel_function",)


def source_of(text: str, task: Task) -> str:
    """The source in a text, which is an answer with fenced code or a source itself.

    One that does not define the task's entry, or is empty, is a candidate too: it fails, and counts as a sample.
    """
    for mark in _END_MARKS:
        text = text.replace(mark, "")
    source = _above_separator(_block(text, task.entry))
    other = next((name for name in _OTHER_NAMES if defines(source, name)), None)
    if other is None or defines(source, task.entry):
        return source
    return f"{source.rstrip()}\n\n\n{task.entry} = {other}\n"


def _block(answer: str, entry: str) -> str:
    """The first block of Python that defines the entry, else the first one; the whole text where it has no fence."""
    blocks = [block.text for block in fenced_blocks(answer) if block.language in PYTHON]
    if not blocks:
        return answer
    return next((block for block in blocks if entry in block), blocks[0])


def _above_separator(text: str) -> str:
    """The part of a joined file that is the candidate's."""
    lines = text.splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if line.strip() == SEPARATOR]
    return "".join(lines[: ends[0]]) if ends else text
