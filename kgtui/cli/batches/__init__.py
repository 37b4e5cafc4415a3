"""`kgtui check --candidates`: a batch on the command line, from what was typed to its documents."""
