"""The file on the workbench: its text, replacing in it, writing it, the user's own editor."""
