"""Everything that is raised, and every reason for which a command is refused."""

import inspect

from page_text import code, joined, table

from pushrod.core import errors as core
from pushrod.core.errors import PushrodError

HEAD = """Each message says what, where, what was got, what is allowed, in which unit, and what to do. All errors are `PushrodError`s; most are a
`ValueError`, `LookupError` or `ConnectionError` as well, for programs that catch those. On the command line an error is one message and
[an exit code](cli.md), never a traceback."""


def errors() -> str:
    from pushrod.net.link import LinkError
    from pushrod.net.remote import AccessError, HostGoneError
    from pushrod.runtime.arming import NotSafeError
    from pushrod.runtime.delivery import CommandTimeout
    from pushrod.runtime.part import BusyError, DriverError
    from pushrod.runtime.result import ADVICE

    raised = [kind for _, kind in inspect.getmembers(core, inspect.isclass) if issubclass(kind, PushrodError) and kind.__module__ == core.__name__]
    of_robots = (DriverError, BusyError, NotSafeError, CommandTimeout, HostGoneError, AccessError, LinkError)
    return joined(
        "# Errors and refusals",
        HEAD,
        table(("raised", "means"), ((code(kind.__name__), inspect.getdoc(kind) or "") for kind in (*raised, *of_robots))),
        "## Why a command is refused",
        "A command that is not done is answered `Refused`, with one of these reasons and what to do; see [the runtime](runtime.md).",
        table(("reason", "what to do"), ((code(reason), advice) for reason, advice in ADVICE.items())),
    )
