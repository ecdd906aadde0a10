"""Sixty texts that hold a secret and sixty that only look like it."""

import pytest

from agent_nb.redact import has_secret, redact

LETTERS = "a1B2c3D4e5F6g7H8i9J0"
HEX = "0123456789abcdef" * 4
SECRET = [
    "sk-ant-" + LETTERS * 2, "sk-proj-" + LETTERS * 2, "sk-" + LETTERS + "xyz", "key: sk-or-" + LETTERS,
    "sk_live_" + LETTERS, "rk_test_" + LETTERS, "pk_live_" + LETTERS, "AKIA" + "ABCDEFGH12345678",
    "ASIA" + "ABCDEFGH12345678", "ghp_" + LETTERS * 2, "gho_" + LETTERS * 2, "ghs_" + LETTERS * 2,
    "github_pat_" + LETTERS * 3, "glpat-" + LETTERS, "xoxb-123456789012-" + LETTERS, "xoxp-" + LETTERS,
    "AIza" + "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H", "ya29." + LETTERS * 2, "hf_" + LETTERS * 2,
    "npm_" + "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8", "pypi-" + LETTERS * 3, f"SG.{LETTERS}.{LETTERS}",
    "dop_v1_" + HEX, f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS}", "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "password = tr0ub4dor&3x",
    "password: hunter2hunter2", "Password: 'correct horse 9'", "my password is tr0ub4dor3", "passwd=Xk29dkQ1",
    "pwd: s3cr3tPw9", "PASSWORD=Xk29dkQ1zz", "db_password: Xk29dkQ1", "secret_key = 'abc123def456'",
    "client_secret=Xk29dkQ1aa", "api_key: Xk29dkQ1bb", "apikey=Xk29dkQ1bb", "API-KEY: Xk29dkQ1bb", "access_token: Xk29dkQ1bb",
    "auth_token=Xk29dkQ1bb", "refresh_token: Xk29dkQ1bb", "token = Xk29dkQ1bb99", "bot-token: Xk29dkQ1bb99",
    "Authorization: Bearer " + LETTERS, "authorization: Basic " + LETTERS, "Bearer " + LETTERS * 2,
    "postgresql://ana:Xk29dkQ1@db.example/shop", "mysql://root:pa55w0rd@localhost/x", "https://bob:s3cr3t9@example.org/a",
    "redis://:Xk29dkQ1@cache:6379", "密码是 tr0ub4dor3x9", "密码：Xk29dkQ1bb", "口令为Xk29dkQ1bb", "密钥=Xk29dkQ1bb", "令牌: Xk29dkQ1bb",
    "私钥是Xk29dkQ1bb", 'credentials: "Xk29dkQ1bb"', "encryption_key=Xk29dkQ1bb", "passphrase: Xk29-dkQ1-bb",
]  # fmt: skip
HARMLESS = [
    "the password is required", "Password must be changed", "a password needs at least 12 characters", "token expired",
    "the token is invalid", "tokens = 12", "n_tokens: 4000", "max_tokens=8192", "secret santa is on 12 December",
    "the api key is missing", "password: required", "password: string", "password = getpass()", "token = os.environ[\"T\"]",
    "key = row.name(1)", "the secret is out", "credentials were not found", "Bearer of good news", "a basic question",
    "0f1e2d3c4b5a69788796a5b4c3d2e1f001234567", "550e8400-e29b-41d4-a716-446655440000", "order A-1001-2026-77812",
    "https://example.org/a?b=c", "https://example.org:8443/a", "mailto:ana@example.org", "ana@example.org", "file:///tmp/x.csv",
    "the sk-learn package", "ask-a-question-about-this-thing-now", "risk-adjusted-return-on-capital", "task-force-alpha-and-beta",
    "AKIA is a prefix", "gh pr list", "hf_hub", "SG.1", "eyJ", "密码已过期", "密码必须修改", "请修改密码", "令牌数是多少？", "口令红包",
    "退货期限是14天", "the refund window is 14 days", "monkey = banana", "turkey: 12 portions", "hockey token", "keyboard: qwerty",
    "primary key: order_id", "sort key: date", "foreign key customer_id", "a key finding: sales rose by 12.5 %", "key=value pairs",
    "SELECT token_count FROM usage", "the access code is optional", "2026-05-03T17:00:00Z", "1,234,567.89", "v1.2.3-rc.4",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "IBAN is checked by mod 97", "passenger: Ana Keller",
]  # fmt: skip


def test_there_are_sixty_of_each():
    assert len(set(SECRET)) >= 60
    assert len(set(HARMLESS)) >= 60


@pytest.mark.parametrize("text", SECRET)
def test_a_secret_is_found_and_its_value_is_gone(text):
    assert has_secret(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one_stays(text):
    assert redact(text) == text
