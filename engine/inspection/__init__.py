"""One run summarised for a decision: claim, evidence, coverage, and the page in every format.

Pure: imports `model`, `verdict`, `reports`, `errors` and the names of devices; it never runs anything.
"""
