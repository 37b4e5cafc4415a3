"""`kgtui check --candidates`: a batch on the command line, from arguments to documents."""
