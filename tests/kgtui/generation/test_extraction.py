"""Which text of an answer is the kernel file, and what is said where none is."""

from __future__ import annotations

from textwrap import indent

import pytest

from kgtui.generation.extraction import extract
from sessions.candidates.generation_rows import Stop

CODE = "import torch\n\n\ndef softmax(x):\n    return x\n"
OTHER = "import triton\n\n\ndef softmax(x):\n    return x + 1\n"
HELPER = "def helper(x):\n    return x\n"
IN_CODE = "the answer reached the token limit inside its code; raise --max-tokens or request less"
SPLIT = "helper is defined in another code block; answer with one block that has the whole file"
ESCAPED = "the code is escaped for HTML (&lt; in place of <); answer with plain text"
TOOL = "the answer calls a tool, and none is offered; answer with one Python code block"
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
        fence(CODE).replace("```python", "   ```python", 1),
        "1. The kernel:\n\n" + indent(fence(CODE), "      ") + "\n2. It is fast.\n",
        "\ufeff" + fence(CODE),
        fence(CODE, language="text"),
        fence(CODE, language="cuda"),
        f"<think>\nPerhaps:\n{fence(OTHER)}No.\n</think>\n\n{fence(CODE)}",
        f"Perhaps:\n{fence(OTHER)}No.</think>{CODE}",
        f"<think>\n```python\ndef softmax(\n</think>\n{fence(CODE)}",
    ],
)
def test_single_file_of_answer_is_extracted(answer):
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
        (
            fence("def softmax(x:\n"),
            Stop.COMPLETE,
            "the code block is not valid Python: '(' was never closed in its line 1",
        ),
        (fence("x = 1\n", language="cpp"), Stop.COMPLETE, "the answer has no Python code block, only cpp"),
        (fence(DIFF, language="diff"), Stop.COMPLETE, "the answer is a diff; answer with the whole file"),
        (f"```python\n{CODE}", Stop.LENGTH, IN_CODE),
        (
            f"{fence(CODE)}```python\n{OTHER}",
            Stop.LENGTH,
            f"{IN_CODE}; an earlier block is complete, but may be a draft",
        ),
        ("Thinking", Stop.LENGTH, "the answer reached the limit of tokens before any code; raise --max-tokens"),
        (f"```python\n{CODE}", Stop.CUT, "the connection broke inside of the code"),
        (
            f"```python\n{CODE}",
            Stop.COMPLETE,
            "the last code block is not closed, so the code may be incomplete",
        ),
        (CODE, Stop.LENGTH, IN_CODE),
        (CODE, Stop.CUT, "the connection broke inside of the code"),
        (
            f"<think>\n{fence(CODE)}But",
            Stop.LENGTH,
            "the answer reached the limit of tokens while reasoning; raise --max-tokens or lower --effort",
        ),
        (f"<think>\n{fence(CODE)}", Stop.CUT, "the connection broke while the model was reasoning"),
        (f"<think>{CODE}", Stop.COMPLETE, "the answer has reasoning only; answer with one Python code block"),
        (fence(HELPER) + fence("def softmax(x):\n    return helper(x)\n"), Stop.COMPLETE, SPLIT),
        (fence("def softmax(n):\n    return n &lt; 3\n"), Stop.COMPLETE, ESCAPED),
        (fence("def softmax(n):\n    return &quot;a&quot;\n"), Stop.COMPLETE, ESCAPED),
        ('{"name": "write", "arguments": {"text": "def softmax"}}', Stop.COMPLETE, TOOL),
        (fence('[{"type": "call", "input": {}}]\n', language="json"), Stop.COMPLETE, TOOL),
        ("x" * 400_001, Stop.COMPLETE, "the answer has 400,001 characters; a kernel file has at most 400,000"),
        (fence("x = " + "(" * 5000), Stop.COMPLETE, None),
    ],
)
def test_ignored_blocks_are_reported(answer, stop, reason):
    found = extract(answer, entry="softmax", stop=stop)
    assert found.source is None
    assert found.reason if reason is None else found.reason == reason


def test_comparisons_beside_an_entity_are_not_escaped():
    code = 'def softmax(n):\n    """&lt;"""\n    return n < 3\n'
    assert extract(fence(code), entry="softmax", stop=Stop.COMPLETE).source == code


def test_unfenced_file_with_fenced_example_is_extracted():
    code = f'"""Usage:\n\n```\nsoftmax(x)\n```\n"""\n{CODE}'
    assert extract(code, entry="softmax", stop=Stop.COMPLETE).source == code


def test_complete_block_of_truncated_answer_is_extracted():
    assert extract(f"{fence(CODE)}And th", entry="softmax", stop=Stop.LENGTH).source == CODE


def test_tool_call_outside_the_text_is_reported():
    found = extract("I run it first.", entry="softmax", stop=Stop.COMPLETE, calls_tool=True)
    assert found.reason == "the answer calls a tool, and none is offered; answer with one Python code block"


def test_tool_call_beside_code_changes_nothing():
    answer = "```python\ndef softmax(x):\n    return x\n```\n"
    found = extract(answer, entry="softmax", stop=Stop.COMPLETE, calls_tool=True)
    assert (found.source, found.reason) == ("def softmax(x):\n    return x\n", "")
