"""Parts of statements that several queries share: which runs count, and what a row of a run has."""

from __future__ import annotations

from sessions.rows import VARIANT_TAG

# Outcomes caused by the user, the machine or kgtui, not by the candidate.
NO_VERDICT_ON_CANDIDATE = "('cancelled', 'problem_error', 'engine_error', 'unsupported')"
# A variant of a file is neither its verdict nor its best run; once written to the file it is run again.
IS_OWN = f"runs.tag is not '{VARIANT_TAG}'"
NOT_VETOED = "runs.review is not 'vetoed'"
# Where all runs are counted: by the index of tags, for reading the tag of each run would take longer than the rest.
VARIANTS = f"(select id from runs where tag = '{VARIANT_TAG}')"

SELECT_RUNS = """
select runs.*, sessions.pid, sessions.process_stamp, sessions.ended_at
from runs join sessions on sessions.id = runs.session"""
