"""The command line and the screen: the outermost of the four packages; none of the other three imports it."""
