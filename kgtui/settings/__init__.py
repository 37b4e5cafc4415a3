"""Settings, keys and paths: values, the origin of each, and errors in them; imports no screen."""
