"""Code that child processes build, and the cache from which workers read it."""
