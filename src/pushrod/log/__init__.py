"""Logs: the schema of a topic from its record, the MCAP writer, and readers of recordings of any kind."""

from pushrod.log.reader import read
from pushrod.log.table import Attached, Channel, Table, TopicInfo

__all__ = ["Attached", "Channel", "Table", "TopicInfo", "read"]
