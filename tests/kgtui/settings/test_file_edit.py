"""Changing a settings file by as little as possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UsageError
from kgtui.settings.file_edit import difference, edited
from kgtui.settings.schema import parse_config, template

FILE = Path("config.toml")


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("", {"theme": "light"}, 'theme = "light"\n'),
        ("", {"keys.bench.axis": ("t",)}, '[keys]\n"bench.axis" = ["t"]\n'),
        ("# mine\ntheme = 'dark'  # once\nascii = true\n", {"theme": "light"},
         '# mine\ntheme = "light"  # once\nascii = true\n'),
        ("# theme = 'dark'\n\n# more\n", {"theme": "light"}, "# theme = 'dark'\ntheme = \"light\"\n\n# more\n"),
        ("ascii = true\n\n[keys]\n'bench.axis' = 't'\n", {"theme": "light"},
         "ascii = true\ntheme = \"light\"\n\n[keys]\n'bench.axis' = 't'\n"),
        ("[keys]\n'bench.axis' = 't'\n", {"keys.bench.axis": ("u", "f11"), "keys.workbench.run": ("R",)},
         '[keys]\n\'bench.axis\' = ["u", "f11"]\n"workbench.run" = ["R"]\n'),
        ("[keys]\n'bench.axis' = [\n  't',\n]  # two\n", {"keys.bench.axis": ("u",)},
         "[keys]\n'bench.axis' = [\"u\"]  # two\n"),
        ("[keys]\nbench.axis = 't'\n", {"keys.bench.axis": ("u",)}, '[keys]\nbench.axis = ["u"]\n'),
        ("keys = {'bench.axis' = 't'}\n", {"keys.bench.axis": ("u",)}, "keys = {'bench.axis' = [\"u\"]}\n"),
        ("notify_after_s = 3\n", {"notify_after_s": 5.0}, "notify_after_s = 5\n"),
    ],
)  # fmt: skip
def test_line_is_replaced_or_added_and_rest_stays(before: str, changes: dict[str, object], after: str) -> None:
    assert edited(parse_config(before, path=FILE), changes).text == after  # type: ignore[arg-type]  # a table


USERS = """\
# My settings.

theme = "dark"      # at night
ascii   =   true

# Where I keep kernels.
folder = "mine"

[keys]
# home row
"workbench.run" = ["r"]   # run
bench.axis = "t"
# end
"""


def test_comments_order_and_layout_survive_every_edit() -> None:
    changes = {"theme": "light", "folder": "k", "keys.workbench.run": ("f11",), "keys.bench.axis": ("u",)}
    replaced = (('"dark"', '"light"'), ('"mine"', '"k"'), ('["r"]', '["f11"]'), ('"t"', '["u"]'))
    expected = USERS
    for before, after in replaced:
        expected = expected.replace(before, after)
    assert edited(parse_config(USERS, path=FILE), changes).text == expected


def test_the_template_keeps_every_comment() -> None:
    config = edited(parse_config(template(), path=FILE), {"ascii": True, "theme": "light"})
    lines = (config.text or "").splitlines()
    assert [line for line in lines if line not in ("ascii = true", 'theme = "light"')] == template().splitlines()
    assert lines[lines.index("ascii = true") - 1] == "# ascii = true"


def test_template_can_be_changed_and_suggests_names() -> None:
    config = edited(parse_config(template(), path=FILE), {"ascii": True, "keys.workbench.run": ("f11",)})
    assert config.settings.ascii is True
    assert config.settings.keys == {"workbench.run": ("f11",)}
    assert config.problems == ()


@pytest.mark.parametrize("text", ["keys = 3\n", "= 3\n", "[keys\n", "a = " + "[" * 5_000])
def test_a_file_that_cannot_be_changed_is_refused(text: str) -> None:
    config = parse_config(text, path=FILE)
    with pytest.raises(UsageError, match=r'cannot be changed here: write "bench.axis" = \["u"\] into it by hand'):
        edited(config, {"keys.bench.axis": ("u",)})


def test_difference_is_removed_and_added_lines() -> None:
    before = parse_config("theme = 'dark'\nascii = true\n", path=FILE)
    assert difference(before, edited(before, {"theme": "light"})) == ("-theme = 'dark'", '+theme = "light"')
