"""Signals: functions of time that drive inputs. `parse` reads one, `value` evaluates it, `schema` says how one may be written."""

from pushrod.signals.evaluate import value
from pushrod.signals.forms import parse
from pushrod.signals.json_schema import schema
from pushrod.signals.table import KINDS
from pushrod.signals.track import Track

__all__ = ["KINDS", "Track", "parse", "schema", "value"]
