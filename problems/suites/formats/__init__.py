"""One module for each format of a suite, found by scanning: it defines `FORMAT`, a SuiteFormat.

A reader turns files into tasks without running them; unreadable parts become complaints, and the rest is read.

A new format needs its module here; in `../harness/` the module named by its tasks, with `open_task(file, details,
device)` as engine/reference/harness.py says, or an existing one; a tiny checkout with the defects of real ones in
`tests/problems/samples/`; candidates in `tests/corpus/suites/`; and a page `kgtui/manual/suite-<name>.md`.
"""
