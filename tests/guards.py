"""The one guard of tests against hangs: how long a test waits for an event that has to come.

It is no assertion on a clock.  It ends a test that would wait for ever, also on a machine where eight other
programs compute; the suite's own `timeout` in pyproject.toml is longer still.
"""

PATIENCE_S = 300.0
