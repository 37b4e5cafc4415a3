"""Settings, keys and paths: what the user chose, where, and what is wrong with it; imports no screen."""
