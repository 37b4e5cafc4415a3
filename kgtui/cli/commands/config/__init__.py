"""`kgtui config`: the settings file.  The valid part of a file with errors still applies."""

from kgtui.cli.registry import Group

SUMMARY = "Show, read and change the settings."
GROUP = Group.SETUP
DEFAULT = "show"
