"""The screens.  Each is imported when it is first shown."""
