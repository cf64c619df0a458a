"""Logs: the schema of a topic from its record, and the MCAP writer."""
