"""What a candidate's source says, found without running any of it.

Imports `model` and `verdict` only: it must never start a process or import the candidate.
"""
