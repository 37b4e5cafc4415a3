"""A generated candidate as the text of the user's file."""

from __future__ import annotations

import pytest

from kgtui.state.workbench.candidate import as_file

KERNEL = "import torch\n\n\ndef softmax(x): ...\n"


@pytest.mark.parametrize(
    ("candidate", "before", "after"),
    [
        (KERNEL, "def softmax(x): ...\n", KERNEL),
        (KERNEL, "# kgtui: op=aten::softmax\nimport torch\n", f"# kgtui: op=aten::softmax\n{KERNEL}"),
        (
            KERNEL,
            "# mine\n# kgtui: op=a::b\n# kgtui: cases=smoke\n",
            f"# kgtui: op=a::b\n# kgtui: cases=smoke\n{KERNEL}",
        ),
        (f"# kgtui: op=x::y\n{KERNEL}", "# kgtui: op=a::b\n", f"# kgtui: op=x::y\n{KERNEL}"),
    ],
)
def test_candidate_gets_the_directives_of_the_file(candidate, before, after):
    assert as_file(candidate, before=before) == after
