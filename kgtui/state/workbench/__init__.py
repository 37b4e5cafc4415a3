"""The workbench as frozen records: the file, the run that is shown, the status and the verdict strip."""
