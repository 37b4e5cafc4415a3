"""The commands of the command line: one module each, imported when its command is typed, never before."""
