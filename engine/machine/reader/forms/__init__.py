"""The pretty forms of operations, by family; a new operation is a row of one of the tables or a small function."""

from __future__ import annotations

from collections.abc import Mapping

from engine.machine.reader.forms import arith, branches, calls, loops, memory, shapes
from engine.machine.reader.forms.kit import Form

FORMS: Mapping[str, Form] = {
    **arith.FORMS,
    **branches.FORMS,
    **calls.FORMS,
    **loops.FORMS,
    **memory.FORMS,
    **shapes.FORMS,
}
"""Parsers of the text after the name of an operation, by that name."""
