"""One run summarised for a decision: claim, evidence, coverage, and the page in every format.

Pure: imports `model`, `verdict` and `reports`; it never runs anything.
"""
