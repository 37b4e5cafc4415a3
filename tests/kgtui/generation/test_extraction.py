"""Which text of an answer is the kernel file, and what is said where none is."""

from __future__ import annotations

import pytest

from kgtui.generation.extraction import extract
from sessions.candidates.generation_rows import Stop

CODE = "import torch\n\n\ndef softmax(x):\n    return x\n"
OTHER = "import triton\n\n\ndef softmax(x):\n    return x + 1\n"
HELPER = "def helper(x):\n    return x\n"
DIFF = "--- a.py\n+++ b.py\n@@ -1 +1 @@\n-x\n+y\n"


def fence(text: str, language: str = "python", mark: str = "```") -> str:
    return f"{mark}{language}\n{text}{mark}\n"


@pytest.mark.parametrize(
    "answer",
    [
        fence(CODE),
        f"Some prose with `code`.\n\n{fence(CODE)}\nAnd why it works.",
        fence(CODE, language=""),
        fence(CODE, language="Python title=kernel.py"),
        fence(CODE, mark="~~~"),
        fence(CODE, mark="````"),
        fence("pip install triton\n", language="bash") + fence(CODE),
        fence(HELPER) + fence(CODE),
        fence(CODE) + "Again, unchanged:\n" + fence(CODE),
        CODE,
        fence(CODE).replace("\n", "\n").replace("```python", "   ```python", 1),
    ],
)
def test_the_one_file_is_taken(answer):
    assert extract(answer, entry="softmax", stop=Stop.COMPLETE).source == CODE


def test_fence_inside_longer_fence_is_code():
    code = f'"""Usage:\n\n```\nsoftmax(x)\n```\n"""\n{CODE}'
    assert extract(fence(code, mark="````"), entry="softmax", stop=Stop.COMPLETE).source == code


@pytest.mark.parametrize(
    ("answer", "stop", "reason"),
    [
        ("", Stop.COMPLETE, "the answer has no code block; answer with one Python code block"),
        ("I cannot do that.", Stop.REFUSED, "the model refused to answer"),
        (fence(CODE) + fence(OTHER), Stop.COMPLETE, "2 different code blocks define softmax; answer with exactly one"),
        (fence(HELPER), Stop.COMPLETE, "no code block defines softmax"),
        (fence("def softmax(x:\n"), Stop.COMPLETE, "the code block is no Python: '(' was never closed in its line 1"),
        (fence("x = 1\n", language="cpp"), Stop.COMPLETE, "the answer has no Python code block, only cpp"),
        (fence(DIFF, language="diff"), Stop.COMPLETE, "the answer is a diff; answer with the whole file"),
        (
            f"```python\n{CODE}",
            Stop.LENGTH,
            "the answer reached the limit of tokens inside of its code; raise --max-tokens or ask for less",
        ),
        (
            f"{fence(CODE)}```python\n{OTHER}",
            Stop.LENGTH,
            "the answer reached the limit of tokens inside of its code; raise --max-tokens or ask for less; "
            "an earlier block is complete, but may be a draft",
        ),
        ("Thinking", Stop.LENGTH, "the answer reached the limit of tokens before any code; raise --max-tokens"),
        (f"```python\n{CODE}", Stop.CUT, "the connection broke inside of the code"),
        (
            f"```python\n{CODE}",
            Stop.COMPLETE,
            "the last code block is not closed, so the code may be incomplete",
        ),
        ("x" * 400_001, Stop.COMPLETE, "the answer has 400,001 characters; a kernel file has at most 400,000"),
        (fence("x = " + "(" * 5000), Stop.COMPLETE, None),
    ],
)
def test_ignored_blocks_are_reported(answer, stop, reason):
    found = extract(answer, entry="softmax", stop=stop)
    assert found.source is None
    assert found.reason if reason is None else found.reason == reason


def test_complete_block_of_truncated_answer_is_taken():
    assert extract(f"{fence(CODE)}And th", entry="softmax", stop=Stop.LENGTH).source == CODE
