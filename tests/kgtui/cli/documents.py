"""JSON documents of commands, checked against the published schemas."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from kgtui.schemas import schema_text


def require_valid(document: str) -> dict[str, Any]:  # Any: JSON values of every shape
    """The document, checked against the schema that it names."""
    plain: dict[str, Any] = json.loads(document)
    return require_valid_as(plain["schema"].removeprefix("kgtui.").partition("/")[0], plain)


def require_valid_as(name: str, plain: dict[str, Any]) -> dict[str, Any]:  # Any: JSON values of every shape
    """The document, checked against the schema called `name`."""
    jsonschema.Draft202012Validator(json.loads(schema_text(name))).validate(plain)
    return plain
