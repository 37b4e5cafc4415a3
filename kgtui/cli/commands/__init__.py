"""The commands of the command line: one module each, found by `kgtui.cli.registry` and imported when typed."""
