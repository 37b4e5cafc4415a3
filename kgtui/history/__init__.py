"""The store as the screen reads and administers it, off the event loop; imports no screen."""
