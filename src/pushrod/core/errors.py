"""Everything Pushrod raises. Each message says what, where, got, allowed, unit, and what to do."""


class PushrodError(Exception):
    """The root: catch this to catch everything of ours."""


class ParameterError(PushrodError, ValueError):
    """A record holds values outside their declared ranges; `problems` lists every one."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class InputError(PushrodError, ValueError):
    """An argument of a call is not usable; nothing was changed."""


class UnknownNameError(PushrodError, LookupError):
    """A name that is in no table; the message offers the nearest ones."""


class SignalError(PushrodError, ValueError):
    """A signal is malformed: names channel, interval, field and value. `kind` sorts it; `path` leads to it from the data of the channel."""

    def __init__(self, message: str, kind: str = "malformed", path: tuple[str | int, ...] = ()) -> None:
        self.kind = kind
        self.path = path
        super().__init__(message)


class SignalWarning(UserWarning):
    """A signal was read, though not as written; `kind` says in which way."""

    def __init__(self, message: str, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


class MapError(PushrodError, ValueError):
    """A map file cannot be used: names file, row and column; `kind` is what failed: file, shape, number, axis or order."""

    def __init__(self, message: str, kind: str = "") -> None:
        self.kind = kind
        super().__init__(message)


class ConfigError(PushrodError, ValueError):
    """A machine, scenario or robot file is wrong: names file, line and path; `problems` lists every one."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class DescriptionWarning(UserWarning):
    """A robot was read, though something its file says has no meaning here and was left out."""


class MissingBodyError(PushrodError, RuntimeError):
    """An actuator driver was asked to move a body it does not have."""


class StalledError(PushrodError, RuntimeError):
    """Everybody waits, and nothing is left that could ever wake one of them."""


class QueueFullError(PushrodError, RuntimeError):
    """A bounded command queue is full; the command was not taken."""


class PurityError(PushrodError, TypeError):
    """A step uses something that cannot give the same numbers everywhere."""


class CacheError(PushrodError, OSError):
    """The folder for compiled code cannot be used."""


class DeviceError(PushrodError, RuntimeError):
    """The asked-for device is not there or cannot be used."""


class LogError(PushrodError, ValueError):
    """A log cannot be written or read; what was there before was not touched."""


class StudyError(PushrodError, ValueError):
    """The folder of a study's results cannot be used: it cannot be written, is damaged, or is of another study; what was there stays as it was."""


class DiagnosisError(PushrodError, ValueError):
    """A recording is not fit to learn parameters from; `problems` lists why, and what to do about each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class VerifyError(PushrodError, ValueError):
    """A reference file cannot be understood."""


class NetworkError(PushrodError, ConnectionError):
    """The network cannot be opened, or what is at the other end does not answer, is of another kind, or does not let one in."""
