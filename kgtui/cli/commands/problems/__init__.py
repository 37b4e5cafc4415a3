"""`kgtui problems`: the catalogue.  Its subcommands import neither torch nor Triton."""

from kgtui.cli.registry import Group

SUMMARY = "List the operators, or show one with its cases."
GROUP = Group.REFERENCE
DEFAULT = "list"
HINT = "`kgtui problems show OP` shows an operator"
