"""Settings, keys and paths: values, where each comes from, and errors in them; imports no screen."""
