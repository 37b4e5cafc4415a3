"""Own headers in the place of the lines that include them."""

from __future__ import annotations

import pytest

from problems.suites.files import SuiteFileError
from problems.suites.texts.includes import included

GUARDED = '#ifndef A_H\n#define A_H\n#include "a.h"\nint a;\n#endif\n'


@pytest.mark.parametrize(
    ("main", "headers", "expected"),
    [
        ('#include "a.h"\nint m;\n', {"a.h": "int a;\n"}, "int a;\n\nint m;\n"),
        ("#  include <a.h> // why\nint m;\n", {"a.h": "int a;\n"}, "int a;\n\nint m;\n"),
        ("#include <cuda.h>\n", {"a.h": "int a;\n"}, "#include <cuda.h>\n"),
        ('#include "a.h"\n#include "a.h"\n', {"a.h": "int a;"}, "int a;\nint a;\n"),
        ('#include "a.h"\n#include "a.h"\n', {"a.h": "#pragma once\nint a;"}, "\nint a;\n\n"),
        ('#include "a.h"\n', {"a.h": GUARDED}, GUARDED.replace('#include "a.h"', "") + "\n"),
        ('#include "in/a.h"\n', {"in/a.h": '#include "b.h"\n', "in/b.h": "near", "b.h": "far"}, "near\n\n"),
        ('#include "in/a.h"\n', {"in/a.h": '#include "b.h"\n', "b.h": "far"}, "far\n\n"),
        ('/*\n#include "a.h"\n*/\n', {"a.h": "*/"}, '/*\n#include "a.h"\n*/\n'),
        ('auto s = R"x(\n#include "a.h"\n)x";\n', {"a.h": "int a;"}, 'auto s = R"x(\n#include "a.h"\n)x";\n'),
        ('char q = \'"\';\r\n#include "a.h"\r\n', {"a.h": "int a;"}, "char q = '\"';\nint a;\n"),
    ],
    ids=["quotes", "brackets", "other", "twice", "once", "guard", "beside", "from root", "comment", "string", "quote"],
)
def test_own_header_replaces_its_include(main: str, headers: dict[str, str], expected: str) -> None:
    assert included("m.cu", headers | {"m.cu": main}, shown="one.json") == expected


def test_header_without_guard_that_includes_itself_refused() -> None:
    files = {"m.cu": '#include "a.h"\n', "a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'}

    with pytest.raises(SuiteFileError, match=r"one.json: a.h includes itself: m.cu -> a.h -> b.h -> a.h"):
        included("m.cu", files, shown="one.json")


def test_headers_that_multiply_are_refused() -> None:
    files = {f"{one}.h": f'#include "{one + 1}.h"\n' * 10 for one in range(9)} | {"9.h": "x" * 10}

    with pytest.raises(SuiteFileError, match=r"more than 1,048,576 characters with all its headers"):
        included("0.h", files, shown="one.json")
