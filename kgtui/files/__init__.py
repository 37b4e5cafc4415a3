"""The user's files: watched, read, written atomically, created from templates; imports no screen."""
