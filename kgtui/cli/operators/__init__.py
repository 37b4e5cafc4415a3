"""Operators on the command line: catalogue and suites, patterns, lists and pages, audits.  Imports no command."""
