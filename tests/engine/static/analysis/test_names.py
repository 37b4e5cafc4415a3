"""A name is followed to what it stands for, however it is spelled, and never beyond what can be seen."""

from __future__ import annotations

import ast

import pytest

from engine.static.analysis import Reading


def names_of_last_call(text: str) -> set[str]:
    reading = Reading.of(text)
    calls = [node for node in reading.all(ast.Expr) if isinstance(node.value, ast.Call)]
    call = calls[-1].value
    assert isinstance(call, ast.Call)
    return set(reading.names.of(call.func))


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.mm()",
        "import torch as t\nt.mm()",
        "from torch import mm as product\nproduct()",
        "import torch\nmm = torch.mm\nagain = mm\nagain()",
        "import torch\ngetattr(torch, 'm' + 'm')()",
        "import torch\nNAME = 'mm'\ngetattr(torch, NAME)()",
        "import torch\ntorch.__dict__['mm']()",
        "import torch\nvars(torch).get('mm')()",
        "import torch\ntorch.__getattribute__('mm')()",
        "import torch\nobject.__getattribute__(torch, 'mm')()",
        "import importlib as i\ni.import_module('torch').mm()",
        "from importlib import import_module\nimport_module('tor' 'ch').mm()",
        "__import__('torch').mm()",
        "import sys\nsys.modules['torch'].mm()",
        "import torch, operator\noperator.attrgetter('mm')(torch)()",
        "import torch, functools\nfunctools.partial(torch.mm, 1)()",
        "import torch\nglobals()['torch'].mm()",
        "import torch\nOPS = {'a': torch.mm, 'b': torch.add}\nOPS['a']()",
        "import torch\nOPS = [torch.add, torch.mm]\nOPS[1]()",
        "import torch\ndef get():\n    return torch.mm\nget()()",
        "import torch\nget = lambda: torch.mm\nget()()",
        "import torch\na, b = torch.add, torch.mm\nb()",
        "import torch\n(f := torch.mm)\nf()",
        "import torch\nclass M:\n    def a(self):\n        self.op = torch.mm\n    def b(self):\n        self.op()",
        "import torch\ndef f(op=torch.mm):\n    op()",
        "import torch\ndef f():\n    global op\n    op = torch.mm\nop()",
        "import torch\nwith torch.mm as op:\n    op()",
    ],
)
def test_every_spelling_leads_to_the_operator(text: str) -> None:
    assert names_of_last_call(text) - {".get()"} == {"torch.mm"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import torch\nop = torch.mm if x else torch.add\nop()", {"torch.mm", "torch.add"}),
        ("try:\n    from a import op\nexcept ImportError:\n    from b import op\nop()", {"a.op", "b.op"}),
        ("import torch\nfor op in (torch.mm, torch.add):\n    op()", {"torch.mm", "torch.add"}),
        ("from torch import *\nmm()", {"mm", "torch.mm"}),
        ("import torch\ngetattr(torch, x)()", {"torch.?"}),
        ("def f(op):\n    op()", set()),
        ("import torch\ndef f(torch):\n    torch.mm()", set()),
        ("def print():\n    pass\nprint()", {".print"}),
        ("print()", {"builtins.print"}),
        ("import torch\ns = torch.cuda.Stream()\ns.wait_stream()", {"torch.cuda.Stream().wait_stream"}),
        ("a = b\nb = a\na()", set()),
        ("k = k[(1,)]\nk()", set()),
        ("@triton.jit\ndef k(x):\n    pass\ngo = k[(1,)]\ngo()", {".k[]"}),
        ("import torch\n(torch.mm, torch.add)[0 - 1]()", {"torch.add"}),
        ("import torch\n(torch.mm, torch.add)[0 - 3]()", {"torch.mm", "torch.add"}),
    ],
)
def test_ambiguous_name_has_all_meanings_unknown_has_none(text: str, names: set[str]) -> None:
    assert names_of_last_call(text) == names


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'a' + 'b' * 2", "abb"),
        ("''.join(['m', 'm'])", "mm"),
        ("''.join(reversed('mm_a'))", "a_mm"),
        ("'lumtam'[::-1]", "matmul"),
        ("chr(109) + chr(0x6d)", "mm"),
        ("''.join(map(chr, [109, 109]))", "mm"),
        ("''.join(chr(c ^ 1) for c in [108, 108])", "mm"),
        ("bytes([109, 109]).decode()", "mm"),
        ("bytes.fromhex('6d6d').decode()", "mm"),
        ("base64.b64decode('bW0=').decode()", "mm"),
        ("codecs.decode('zz', 'rot13')", "mm"),
        ("'{}{}'.format('m', 'm')", "mm"),
        ("'%s%s' % ('m', 'm')", "mm"),
        ("f'{\"m\"}m'", "mm"),
        ("'xmmx'.strip('x').lower().replace('m', 'M')", "MM"),
        ("['a', 'mm'][1]", "mm"),
        ("unknown + 'm'", None),
        ("'a' * (1 << 40)", None),
        ("'a'.replace('a', 'b' * 60000).replace('b', 'c' * 60000)", None),
        ("'%999999999s' % 'a'", None),
        ("'{:>999999999}'.format('a')", None),
        ("'a'[5]", None),
        ("base64.b64decode('a').decode()", None),
    ],
)
def test_a_constant_is_assembled_without_running_anything(expression: str, value: str | None) -> None:
    reading = Reading.of(expression)
    assert reading.names.text(next(reading.all(ast.Expr)).value) == value


def test_exponentially_growing_name_is_unknown() -> None:
    lines = ["s0 = ''", *(f"s{number} = s{number - 1} + s{number - 1}" for number in range(1, 60)), "s59"]
    reading = Reading.of("\n".join(lines))
    assert reading.names.text(next(reading.all(ast.Expr)).value) is None
