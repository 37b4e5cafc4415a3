"""Findings of the static checks, with the place of a node."""

from __future__ import annotations

import ast

from engine.model import Finding, Location, Severity


def finding_at(node: ast.AST, *, check: str, severity: Severity, message: str) -> Finding:
    """A finding at the line and column of a node; without a place if the node has none."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    location = Location(line=line, column=column + 1 if column is not None else None) if line else None
    return Finding(check=check, severity=severity, message=message, location=location)


def hint(check: str, node: ast.AST, message: str) -> Finding:
    """A HINT at a node."""
    return finding_at(node, check=check, severity=Severity.HINT, message=message)


def could_not_check(name: str, why: str) -> Finding:
    """A NOTE that a check could not be made, and why."""
    return Finding(check=name, severity=Severity.NOTE, message=f"could not check: {why}")
