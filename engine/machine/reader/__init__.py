"""Parses the text of a TTIR module into records of `engine.machine.ir`, and checks them.

Text comes from untrusted processes: parsing takes bounded time and memory for any input, and results in a module or in
one of three errors.  Must not import numpy, torch or triton.
"""

from __future__ import annotations

import re

from engine.machine.errors import LimitError
from engine.machine.ir import Module
from engine.machine.reader.context import Context
from engine.machine.reader.limits import DEFAULT_LIMITS, Limits
from engine.machine.reader.locations import Locations
from engine.machine.reader.structure import read_module as read_body
from engine.machine.reader.structure import read_region
from engine.machine.reader.tokens import Cursor
from engine.machine.reader.types import TypeTable

__all__ = ["DEFAULT_LIMITS", "Limits", "read_module"]

_BODY = re.compile(r"^(?!#|//|\s*$)", re.MULTILINE)
_ALIASES = re.compile(r"\n#")


def read_module(text: str, limits: Limits = DEFAULT_LIMITS) -> Module:
    """The module of a text, as Triton 3.6 to 3.9 write it.

    Raises:
        MalformedError: the text is not TTIR; the message begins with line and column.
        UnsupportedError: an operation, type or form that the machine does not have.
        LimitError: too long, too deeply nested, or tensors that are too large.
    """
    if len(text) > limits.characters:
        raise LimitError(f"a module has {len(text):,} characters, more than {limits.characters:,}")
    found = _BODY.search(text)
    start = found.start() if found else len(text)
    aliases = _ALIASES.search(text, start)
    end = aliases.start() if aliases else len(text)
    context = Context(
        cursor=Cursor(text, start, end),
        types=TypeTable(limits),
        locations=Locations(text, limits),
        limits=limits,
        read_region=read_region,
    )
    return read_body(context)
