"""Every error that agent_nb raises on purpose.

AgentError                     one line in a cell: what went wrong, and what to do about it
├── SettingError               a flag, name, file or argument of the user's own
├── ModelError                 the model could not answer
│   ├── CredentialsError       no key, or a refused one
│   ├── RequestRefused         the server found the request wrong (4xx): retrying does not help
│   │   └── ContextFull        … because the window is too long
│   └── ModelUnavailable       overload, rate limit, cut connection: retrying may help
├── ToolError                  a tool says no in words that the model can act on
│   └── ToolInputError         … about one field of its arguments
├── StoreError                 the memory or the transcript could not be read or written
└── RunFailed                  a run ended in error, refusal or a closed valve (raised by the cell only)

AgentStopped                   a KeyboardInterrupt: the run was stopped by its user; queued cells are aborted
CutShort                       no Exception: raised into a tool or model whose time is up, and never seen outside
"""

from __future__ import annotations


class AgentError(Exception):
    """What went wrong, and what to do about it, in one line."""

    def _render_traceback_(self) -> list[str]:
        # IPython asks an exception for this before it formats a traceback itself.
        return [one_line(self)]


class SettingError(AgentError, ValueError):
    """A flag, name, file or argument of the user's own is wrong."""


class ModelError(AgentError):
    """The model could not answer."""


class CredentialsError(ModelError):
    """No credentials were found, or the server refused them."""


class RequestRefused(ModelError):
    """The server found the request wrong; sending it again does not help."""


class ContextFull(RequestRefused):
    """The request is longer than the model's context window."""


class ModelUnavailable(ModelError):
    """Overload, rate limit, server error or a cut connection; sending it again may help.

    Args:
        retry_after_s: seconds the server asked to wait, or None.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ToolError(AgentError):
    """A tool says no, in words that the model can act on. Tools of the user's own may raise it."""


class ToolInputError(ToolError):
    """One field of a tool's arguments is wrong.

    Args:
        field: dotted path of the field ("" for the whole input).
        expected: what would have been right, in words.
    """

    def __init__(self, message: str, field: str = "", expected: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.expected = expected


class StoreError(AgentError):
    """The memory or the transcript could not be read or written."""


class RunFailed(AgentError):
    """A run ended in error, refusal or a closed valve, and so its cell fails."""


class AgentStopped(KeyboardInterrupt):
    """The user stopped the run. A KeyboardInterrupt, so that the cells queued behind it are aborted."""

    def _render_traceback_(self) -> list[str]:
        return [one_line(self)]


class CutShort(BaseException):
    """The seconds valve closed while a tool or a model was at work. No Exception: their own handlers let it pass."""


def one_line(error: BaseException) -> str:
    """The error as a single line: its class's plain name and its message, whitespace folded."""
    try:
        said = str(error)
    except (KeyboardInterrupt, CutShort):
        raise
    except BaseException:  # an error of the user's own may not even be able to tell
        said = "it gives no message"
    return f"{type(error).__name__}: {' '.join(said.split())}"
