"""What the SDK and the server complain about, as one of our errors: one line that says what to do."""

from __future__ import annotations

import email.utils
import os
import re
import time
from typing import Any

from ..errors import (
    ContextFull,
    CredentialsError,
    ModelError,
    ModelUnavailable,
    RequestRefused,
)
from ..redact import redact

NO_CREDENTIALS = (
    "no credentials were found: set ANTHROPIC_API_KEY, or go on with `%agent model offline`, which needs none "
    "(a local server takes any text as its key)"
)

_TOO_LONG = re.compile(
    r"prompt is too long|exceed\w*[\w\s]*context|context[ _](window|length|size|limit)"
    r"|too many (input )?tokens",
    re.IGNORECASE,
)
# The API's error types by the status code that they come with; in a stream there is the type only.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def translate(error: Exception, model: str, server: str) -> Exception:
    """The error to raise instead of `error`; ValueErrors of a broken reply pass unchanged.

    Args:
        error: what the SDK, its HTTP client or the building of the request raised.
        model: the name that was asked for. server: host of the server, for the message.
    """
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        return _refused(error, model, server)
    if isinstance(error, anthropic.APITimeoutError) or "Timeout" in type(error).__name__:
        return ModelUnavailable(f"{server} did not answer in time; try again, or raise read_timeout_s")
    if isinstance(error, anthropic.APIConnectionError) or _is_transport(error):
        why = plain(str(error.__cause__ or error))
        return ModelUnavailable(f"the connection to {server} failed ({why}); check the network")
    if isinstance(error, anthropic.AnthropicError):
        if "redential" in type(error).__name__ or "IdentityToken" in type(error).__name__:
            return CredentialsError(f"the credentials could not be loaded: {plain(str(error))}")
        return ModelError(f"the anthropic package could not read the reply: {plain(str(error))}")
    return error


def _is_transport(error: Exception) -> bool:
    # The SDK passes on what its HTTP client raises while a reply streams; which client is its own affair.
    return type(error).__module__.partition(".")[0].startswith(("httpx", "httpcore")) or isinstance(
        error, OSError
    )


def _refused(error: Any, model: str, server: str) -> ModelError:
    body: Any = error.body
    told: Any = body.get("error") if isinstance(body, dict) else None
    told = told if isinstance(told, dict) else {}
    kind = str(told.get("type") or "")
    status = error.status_code if error.status_code >= 400 else _STATUS.get(kind, 500)
    why = plain(str(told.get("message") or error.message)) or kind or f"status {status}"
    if status in (408, 409, 429) or status >= 500:
        what = {429: "rate limit reached at", 529: "overload at"}.get(status, f"error {status} from")
        return ModelUnavailable(f"{what} {server}: {why}", retry_after_s(error.response.headers))
    if status == 401:
        return CredentialsError(f"{server} refused the credentials ({why}); check ANTHROPIC_API_KEY")
    if status == 403:
        return CredentialsError(f"these credentials may not use {model} at {server}: {why}")
    if status == 413 or (status == 400 and _TOO_LONG.search(f"{kind} {why}")):
        return ContextFull(
            f"the request is too long for {model} ({why}); start a new session or hand over less"
        )
    if status == 404 and (not told or "/v1/v1/" in str(error.request.url)):
        return RequestRefused(
            f"{server} has no Messages API at {error.request.url.path}; ANTHROPIC_BASE_URL is the address "
            "without /v1"
        )
    if status == 404:
        return RequestRefused(f"{server} does not know {model} ({why}); name another model with -m")
    if status == 402:
        return RequestRefused(f"{server} asks for payment: {why}")
    return RequestRefused(f"{server} refused the request ({status}): {why}")


def retry_after_s(headers: Any) -> float | None:
    """Seconds the server asks to wait (`retry-after-ms`, `retry-after` as number or date), or None."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name) or "") / scale
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        when = email.utils.parsedate_to_datetime(headers.get("retry-after") or "")
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())


def plain(text: str, most: int = 300) -> str:
    """`text` in one line of at most `most` characters, with nothing secret in it."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN"):
        if len(secret := os.environ.get(name, "").strip()) >= 4:
            text = text.replace(secret, "***")
    text = re.sub(r"\b(sk|pk)-[\w-]{6,}|(?<=Bearer )\S+|(?<=://)[^/\s@]+(?=@)", "***", text)
    text = " ".join(redact(text).split())
    return text if len(text) <= most else text[: most - 1] + "…"
