"""The Manual screen: the topics and the page of one."""
