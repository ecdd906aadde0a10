import datetime
import email.utils

import pytest

from agent_nb.models.faults import plain, retry_after_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date():
    when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=60)
    assert 50 < retry_after_s({"retry-after": email.utils.format_datetime(when, usegmt=True)}) <= 60


def test_messages_are_one_short_line_without_secrets(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "my private token")
    text = plain(
        "no:\n my private token, sk-ant-api03-abcdef, Bearer abc.def, http://me:pw@host/x " + "y" * 900
    )
    assert "\n" not in text
    assert len(text) <= 300
    for secret in ("private", "abcdef", "abc.def", "me:pw"):
        assert secret not in text
