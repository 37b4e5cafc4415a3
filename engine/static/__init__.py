"""Facts of a candidate's source, found without running any of it.

Imports `model`, `verdict` and `errors` only: it must never start a process or import the candidate.
"""
