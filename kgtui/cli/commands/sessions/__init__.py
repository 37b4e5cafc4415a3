"""`kgtui sessions`: the saved runs.  Only `tag`, `note`, `delete` and `compact` write to the store."""

from kgtui.cli.registry import Group

SUMMARY = "List, show, export and manage saved runs."
GROUP = Group.HISTORY
DEFAULT = "list"
