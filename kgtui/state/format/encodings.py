"""Characters that an encoding can represent."""

from __future__ import annotations


def has_signs(encoding: str | None, signs: str = "✔⟳▸█±") -> bool:
    """Whether this encoding can represent these characters; an unnamed encoding is UTF-8."""
    try:
        signs.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
