"""Exceptions that the worker's own code raises inside a candidate's call, and that `failures` tells apart by type."""

from __future__ import annotations


class InterpreterLimitError(NotImplementedError):
    """The interpreter cannot do what a GPU can; the candidate is not at fault."""


class StrayStoreError(Exception):
    """Something was written behind a tensor that the candidate made."""
