"""Definitions are taken out of modules whole, in an order that runs, and two of one name are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.errors import UsageError
from kgtui.standalone.inlining import Inliner


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that counts as a part of ours."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("kgtui.standalone.inlining._OURS", ("ours_",))
    return tmp_path


def test_definition_is_inlined_with_dependencies_only(package):
    (package / "ours_a.py").write_text(
        "import math\nimport os\nfrom ours_b import half\nSIZE = 3\nOTHER = 4\n\n\n"
        "def area(r: 'Unknown') -> float:\n    return half(math.pi * r * SIZE)\n"
    )
    (package / "ours_b.py").write_text(
        "FACTOR = 0.5\n\n\ndef half(x):\n    return x * FACTOR\n\n\ndef unused():\n    ...\n"
    )
    inliner = Inliner()
    inliner.take("ours_a", "area")
    assert inliner.imports == "import math"
    assert inliner.text == (
        "# from ours_b\nFACTOR = 0.5\n\n\ndef half(x):\n    return x * FACTOR\n\n\n"
        "# from ours_a\nSIZE = 3\n\n\n"
        "def area(r: 'Unknown') -> float:\n    return half(math.pi * r * SIZE)"
    )
    assert not {"ours_a", "ours_b"} & set(sys.modules)


def test_constant_follows_its_defining_class(package):
    (package / "ours_a.py").write_text("from ours_b import Kind\nKINDS = [Kind]\n\n\ndef f():\n    return KINDS\n")
    (package / "ours_b.py").write_text("class Kind:\n    def pair(self):\n        return PAIR\n\n\nPAIR = Kind, Kind\n")
    inliner = Inliner()
    inliner.take("ours_a", "f")
    assert inliner.text.index("PAIR = ") < inliner.text.index("KINDS = ")


def test_attribute_assignment_is_inlined_with_definition(package):
    (package / "ours_a.py").write_text("def g():\n    ...\n\n\ndef f():\n    ...\n\n\nf.more = g\n")
    inliner = Inliner()
    inliner.take("ours_a", "f")
    assert "f.more = g" in inliner.text
    assert "def g()" in inliner.text


def test_two_modules_that_define_one_name_are_refused(package):
    (package / "ours_a.py").write_text("from ours_b import g\n\n\ndef h():\n    ...\n\n\ndef f():\n    return g, h\n")
    (package / "ours_b.py").write_text("def h():\n    ...\n\n\ndef g():\n    return h\n")
    inliner = Inliner()
    with pytest.raises(UsageError, match=r"^ours_b and ours_a both define 'h'; a script cannot contain both$"):
        inliner.take("ours_a", "f")


def test_module_used_as_whole_is_refused(package):
    (package / "ours_a.py").write_text("import ours_b\n\n\ndef f():\n    return ours_b.g\n")
    inliner = Inliner()
    with pytest.raises(UsageError, match=r"^ours_a: 'import ours_b' cannot be written into a script$"):
        inliner.take("ours_a", "f")
