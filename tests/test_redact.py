"""Secrets are found by their shape, and nothing else is."""

import pytest

from agent_nb.redact import MASK, has_secret, redact, secret_name, secret_values

# Put together here, so that no file holds anything that looks like a key.
KEYS = [
    "sk-" + "ant-api03-" + "a1B2" * 12,
    "sk-" + "proj-" + "Zz9" * 12,
    "AKIA" + "ABCDEFGH12345678",
    "gh" + "p_" + "a1B2c3D4e5" * 4,
    "github_pat_" + "a1B2c3D4e5" * 5,
    "glpat-" + "a1B2c3D4e5f6g7h8i9j0",
    "xox" + "b-123456789012-abcdefghijkl",
    "AIza" + "a" * 35,
    "hf_" + "a1B2c3D4e5" * 4,
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0." + "abcDEF123456_-",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nxyz\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEow cut off",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "the key is {} here", "k={}", '{{"x": "{}"}}', "密钥是{}。", "a\n{}\nb"]
)
def test_keys_of_known_shapes_are_masked_wherever_they_stand(key, around):
    text = around.format(key)
    assert has_secret(text)
    assert key not in redact(text)
    assert MASK in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter22", "hunter22"),
        ("password: 'correct horse battery'", "correct horse battery"),
        ('PASSWORD = "s3cret!"', "s3cret!"),
        ("my password is tr0ub4dor", "tr0ub4dor"),
        ("DB_PASSWORD=swordfish1", "swordfish1"),
        ("api_key: abc123def456", "abc123def456"),
        ("apiKey=abc123def456", "abc123def456"),
        ("client-secret=abc123def456", "abc123def456"),
        ('{"access_token": "abcdefgh"}', "abcdefgh"),
        ("Authorization: Bearer abcdefghijklmnopqrstu", "abcdefghijklmnopqrstu"),
        ("postgresql://ana:s3cr3t@db.example/x", "s3cr3t"),
        ("https://user:p%40ss@host/path", "p%40ss"),
        ("数据库密码是 qwerty123", "qwerty123"),
        ("密码：qwerty123", "qwerty123"),
    ],
)
def test_passwords_behind_their_name_or_in_a_url_are_masked(text, secret):
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit 4a1f0c9e8b7d6f5a4c3b2a1908f7e6d5c4b3a291",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "order 2013-07-000123456 was shipped",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "risk-adjusted-return-of-the-whole-portfolio",
        "the password policy asks for 12 characters",
        "password = getpass.getpass()",
        "token_count = 1234567",
        "max_tokens: 100000",
        "https://example.org:8080/path@x",
        "see https://example.org/a:b and mail ana@example.org",
        "tokens: 1,234,567 in all",
        "a secret is something one keeps",
        "the token is invalid, the password: required",
        "password: varchar(20)",
        "SELECT password FROM users",
        "The key figure is 12345678",
        "disk-usage-of-the-temporary-folder-is-high",
        "ASIAN markets fell 3 %",
        "",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text
    assert not has_secret(text)


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "api_key",
        "API_KEY",
        "GITHUB_TOKEN",
        "token",
        "secret",
        "dbPassword",
        "client_secret",
        "apikey",
        "aws_secret_access_key",
        "密码",
        "用户密码",
        "private_key",
        "passwd",
        "pwd",
        "auth-token",
        "my_pw",
        "password2",
    ],
)
def test_names_of_secrets(name):
    assert secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["tokens", "max_tokens", "token_count", "key", "keys", "primary_key", "passenger", "compass", "order_id", "df",
     "n_token", "secretary", "tokenizer", "monkey", "pass_rate", "password_length", "城市", "path", "credit"],
)  # fmt: skip
def test_names_of_other_things(name):
    assert not secret_name(name)


def test_values_under_secret_names_are_known_but_for_common_words():
    namespace = {
        "password": "hunter2", "api_key": "Zx9-longer-than-that", "token": "delayed", "secret": "2013-07-01", "pwd": "abc",
        "name": "stays-here", "db_password": 7, "密码": "一个很长的口令九个字", "auth_token": "Monday", 3: "x",
    }  # fmt: skip
    assert secret_values(namespace) == ["Zx9-longer-than-that", "一个很长的口令九个字", "hunter2"]
