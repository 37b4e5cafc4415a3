"""Numbers that a run draws: new ones each time, or those that one number determines.

A candidate must not foresee its inputs, so runs draw from the system's source.  A run that is to be made once more, or
that a test asserts an outcome of, gives a seed: each number is then the first bits of the BLAKE2b hash of the seed, the
scope, the purpose, and how many numbers were drawn for this purpose before.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter

SEED_BITS = 62
"""The width of a seed of inputs: every random number generator accepts it as a signed 64-bit integer."""


class Draws:
    """Random numbers of one scope: a case of a run, a probe of it, a replay."""

    def __init__(self, seed: int | None = None, *scope: str) -> None:
        self._seed = seed
        self._scope = scope
        self._drawn: Counter[str] = Counter()

    def number(self, purpose: str, *, bits: int = SEED_BITS) -> int:
        """A nonnegative number of at most this number of bits, at most 256; another one in each call."""
        if self._seed is None:
            return secrets.randbits(bits)
        key = "\0".join((str(self._seed), *self._scope, purpose, str(self._drawn[purpose])))
        self._drawn[purpose] += 1
        digest = hashlib.blake2b(key.encode(), digest_size=32).digest()
        return int.from_bytes(digest, "little") >> (256 - bits)

    def seed_of(self, purpose: str) -> int | None:
        """A seed for a scope within this one; None if every number is new."""
        return None if self._seed is None else self.number(purpose)
