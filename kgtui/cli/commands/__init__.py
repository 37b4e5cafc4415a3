"""The commands of the command line: one module each, found by `kgtui.cli.registry` and imported when typed.

The folder is scanned, so it stays flat; a package in it is a command with subcommands.
"""
