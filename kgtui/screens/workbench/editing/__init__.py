"""The file on the workbench: editing, replacing, writing, and the user's own editor."""
