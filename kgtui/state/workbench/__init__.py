"""The workbench as frozen records: the file, the shown run, the status and the verdict strip."""
