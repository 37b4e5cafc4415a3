"""The diagnosis of this machine, for the command and for the screen of the workbench.  Imports no command."""
