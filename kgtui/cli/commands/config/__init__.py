"""`kgtui config`: the settings file.  A file with a mistake in it still applies as far as it is right."""

from kgtui.cli.registry import Group

SUMMARY = "Show, read and change the settings."
GROUP = Group.SETUP
DEFAULT = "show"
