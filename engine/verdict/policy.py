"""Effects of findings under each policy: one table, which the verdict uses and the manual prints.

Only data, and the table as text.  Nothing here reads a candidate, and outcomes do not depend on the policy: a wrong
answer is wrong under each of them.  A layer that the machine does not offer is shown under each, and flags nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.model import Policy, Severity
from engine.model.layers import Layer


class Effect(enum.StrEnum):
    """Effect of a finding under a policy, as in the table."""

    NOT_CHECKED = "not checked"
    SHOWN = "shown"
    FLAGS = "flags a passing run"
    REFUSES = "refuses the file, before any of it runs"


@dataclass(frozen=True, kw_only=True)
class Weights:
    """One column of the table: the effect of findings by severity, of a broken rule, and of a layer not checked."""

    by_severity: Mapping[Severity, Effect]
    broken_rule: Effect
    unchecked: Mapping[Layer, Effect]

    def flags(self, severity: Severity) -> bool:
        """Whether a finding of this severity makes a right run not credible."""
        return self.by_severity[severity] is Effect.FLAGS

    def requires(self, layer: Layer) -> bool:
        """Whether a right run is not credible as long as this layer could not be checked."""
        return self.unchecked[layer] is Effect.FLAGS

    @property
    def refuses(self) -> bool:
        """Whether a file that breaks a rule is not run."""
        return self.broken_rule is Effect.REFUSES


_ALL_SHOWN: Mapping[Severity, Effect] = MappingProxyType(dict.fromkeys(Severity, Effect.SHOWN))
_SEVERE_FLAGS: Mapping[Severity, Effect] = MappingProxyType(
    {**_ALL_SHOWN, Severity.SUSPECT: Effect.FLAGS, Severity.PROOF: Effect.FLAGS}
)
_NONE_REQUIRED: Mapping[Layer, Effect] = MappingProxyType(dict.fromkeys(Layer, Effect.SHOWN))
_ALL_REQUIRED: Mapping[Layer, Effect] = MappingProxyType(dict.fromkeys(Layer, Effect.FLAGS))
# These layers do not decide: static checks only hint, a time without a precise clock is only less certain, and a kernel
# that cannot be replayed may be honest.
_BEHAVIOUR_REQUIRED: Mapping[Layer, Effect] = MappingProxyType(
    {**_ALL_REQUIRED, Layer.PROOF: Effect.SHOWN, Layer.STATIC: Effect.SHOWN, Layer.TIMING: Effect.SHOWN}
)
WEIGHTS: Mapping[Policy, Weights] = MappingProxyType(
    {
        Policy.DEFAULT: Weights(
            by_severity=_SEVERE_FLAGS, broken_rule=Effect.NOT_CHECKED, unchecked=_BEHAVIOUR_REQUIRED
        ),
        Policy.STRICT: Weights(by_severity=_SEVERE_FLAGS, broken_rule=Effect.REFUSES, unchecked=_ALL_REQUIRED),
        Policy.FACTS_ONLY: Weights(by_severity=_ALL_SHOWN, broken_rule=Effect.NOT_CHECKED, unchecked=_NONE_REQUIRED),
    }
)
_MEANING: Mapping[Severity, str] = MappingProxyType(
    {
        Severity.NOTE: "worth knowing, or could not be checked",
        Severity.HINT: "a pattern that legitimate code has too",
        Severity.SUSPECT: "behaviour that a legitimate file has no reason for",
        Severity.PROOF: "a proven fault: a data race, a misaligned access or a forged reply",
    }
)


def policy_table() -> str:
    """The table in Markdown: possible findings, and their effect under each policy."""
    rows: list[tuple[str, ...]] = [
        ("what was found", *(f"`{policy}`" for policy in Policy)),
        *(
            (f"`{severity}`: {_MEANING[severity]}", *(WEIGHTS[policy].by_severity[severity] for policy in Policy))
            for severity in Severity
        ),
        ("a broken rule of strict benchmarks", *(WEIGHTS[policy].broken_rule for policy in Policy)),
        *(
            (f"layer `{layer}` could not be checked", *(WEIGHTS[policy].unchecked[layer] for policy in Policy))
            for layer in Layer
        ),
    ]
    header, *lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join((header, "|---" * (1 + len(Policy)) + "|", *lines))
