"""What may travel in a delay line: a record of numbers with a default for each, or a lone annotated float."""

from typing import Any

from pushrod.core.errors import InputError
from pushrod.core.record import is_record, leaves


def at_rest(Record: Any) -> Any:
    """The value that comes out of a line before anything was sent: the record's defaults, or 0.0."""
    bad = [leaf.path for leaf in leaves(Record) if not leaf.is_number]
    if bad:
        raise InputError(f"{Record.__qualname__} cannot travel in a line: {', '.join(bad)} holds no number; send numbers only")
    if not is_record(Record):
        return 0.0
    bare = [name for name in Record._fields if name not in Record._field_defaults]
    if bare:
        raise InputError(
            f"{Record.__qualname__} cannot travel in a line: give {', '.join(bare)} a default, it is what acts before the first command arrives"
        )
    return Record()
