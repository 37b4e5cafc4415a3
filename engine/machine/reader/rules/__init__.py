"""The rules for operations: numbers and types of operands and results, attributes, regions.

The executor relies on them; text that breaks one is malformed.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.machine.reader.rules import elementwise, memory, regions, tensors
from engine.machine.reader.rules.kit import Rule

RULES: Mapping[str, Rule] = {**elementwise.RULES, **memory.RULES, **regions.RULES, **tensors.RULES}
"""Rules by operation name; an operation without a rule is only checked for its form."""
