"""`kgtui suites`: the foreign suites that are always known.  Its subcommands import neither torch nor Triton."""

from kgtui.cli.registry import Group

SUMMARY = "Add, list and remove foreign suites of problems."
GROUP = Group.REFERENCE
DEFAULT = "list"
