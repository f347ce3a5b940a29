"""Every shape of a credential: one text that is redacted and one that nearly looks like it."""

import pytest

from corebrain.safety import Policy, has_likely_secret, scrub_text

SECRETS = Policy(pii=False)


def run(length: int) -> str:
    """Letters and digits that no other shape knows; keys are put together here, so that no scanner finds one."""
    return ("q7Zk" * length)[:length]


def shown(text: str) -> str:
    return scrub_text(text, SECRETS).value


SHAPES = [
    ("Bearer " + run(8), "Bearer [REDACTED]"),
    ("api_key=" + run(3), "api_key=[REDACTED]"),
    ("API-KEY: '" + run(3) + "'", "API-KEY: '[REDACTED]'"),
    ("apikey " + run(3), "apikey [REDACTED]"),
    ("token=a", "[REDACTED]"),
    ("access_token: a", "[REDACTED]"),
    ("accesstoken=a", "[REDACTED]"),
    ("refresh-token a", "[REDACTED]"),
    ("client_secret=a", "[REDACTED]"),
    ('{"password": "a"}', '{"[REDACTED]"}'),
    ("secret=a&next=b", "[REDACTED]&next=b"),
    ("id_token=a", "[REDACTED]"),
    ("authorization_code=a", "[REDACTED]"),
    ("code_verifier=a", "[REDACTED]"),
    ("code_challenge=a", "[REDACTED]"),
    *(
        (prefix + run(fewest), "[REDACTED]")
        for prefix, fewest in {
            "sk-": 20,
            "sk-ant-": 16,
            "sk-proj-": 12,
            "sk-org-": 12,
            "ghp_": 20,
            "gho_": 20,
            "ghu_": 20,
            "ghs_": 20,
            "ghr_": 20,
            "github_pat_": 20,
            "glpat-": 16,
            "AIza": 35,
            "xoxa-": 10,
            "xoxb-": 10,
            "xoxp-": 10,
            "xoxs-": 10,
            "xoxr-": 10,
            "sk_live_": 16,
            "sk_test_": 16,
            "rk_live_": 16,
            "rk_test_": 16,
            "npm_": 20,
        }.items()
    ),
    ("AKIA" + run(16).upper(), "[REDACTED]"),
    ("ASIA" + run(16).upper(), "[REDACTED]"),
    ("SG." + run(16) + "." + run(16), "[REDACTED]"),
    ("eyJ" + run(8) + "." + run(8) + "." + run(8), "[REDACTED]"),
]
NEAR_MISSES = [
    "Bearer " + "abcdefg",
    "api_key",
    "tokens=a",
    "mypassword=a",
    "passwords",
    "secretary: a",
    "id-token",
    "authorization-code=a",
    "code verifier=a",
    *(
        prefix + run(fewest - 1)
        for prefix, fewest in {
            "sk-": 20,
            "sk-ant-": 16,
            "sk-proj-": 12,
            "sk-org-": 12,
            "ghp_": 20,
            "ghx_": 30,
            "github_pat_": 20,
            "glpat-": 16,
            "AIza": 35,
            "xoxb-": 10,
            "xoxc-": 20,
            "sk_live_": 16,
            "rk_test_": 16,
            "pk_live_": 20,
            "npm_": 20,
        }.items()
    ),
    "AIza" + run(36),
    "AKIA" + run(15).upper(),
    "AKIA" + run(17).upper(),
    "ASIA" + run(16).lower(),
    "risk-" + run(20),
    "SG." + run(15) + "." + run(16),
    "SG." + run(16) + "." + run(15),
    "eyJ" + run(7) + "." + run(8) + "." + run(8),
    "eyJ" + run(8) + "." + run(8) + "." + run(7),
    "eyJ" + run(8) + "." + run(8),
]


@pytest.mark.parametrize(("text", "redacted"), SHAPES)
def test_a_credential_is_redacted_wherever_it_stands(text: str, redacted: str) -> None:
    assert shown(text) == redacted
    assert shown(f"设置{text}\nmore") == f"设置{redacted}\nmore"
    assert has_likely_secret(text)


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_resembles_a_credential_stays(text: str) -> None:
    sanitized = scrub_text(text, SECRETS)
    assert sanitized.value == text
    assert not sanitized.report.changed()
    assert not has_likely_secret(text)


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "rsa "])
def test_a_private_key_goes_as_a_block(label: str) -> None:
    text = f"a\n-----BEGIN {label}PRIVATE KEY-----\nMIIB\nAQAB\n-----END {label}PRIVATE KEY-----\nb"
    sanitized = scrub_text(text)
    assert sanitized.value == "a\n[REDACTED_PRIVATE_KEY]\nb"
    assert sanitized.report.blocked_secret_hits == 1
    assert sanitized.report.text_redactions == 0
    assert has_likely_secret(text)


def test_a_pgp_private_key_and_what_follows_it_are_told_apart() -> None:
    block = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----"
    assert shown(f"{block}and{block}") == "[REDACTED_PRIVATE_KEY]and[REDACTED_PRIVATE_KEY]"


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN RSA PRIVATE KEY-----\nno end",
        "-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----",
        "begin with the private key",
    ],
)
def test_what_is_no_whole_private_key_stays(text: str) -> None:
    assert shown(text) == text
    assert not has_likely_secret(text)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("https://h.example/secret/abc", "https://h.example/secret/[REDACTED]"),
        ("[x](https://h.example/secret/abc)", "[x](https://h.example/secret/[REDACTED])"),
        ("https://h.example/v1/secret/abc?x=1#y", "https://h.example/v1/secret/[REDACTED]?x=1#y"),
        ("Authorization: Bearer abc", "Authorization: Bearer [REDACTED]"),
        ('"authorization":"bearer abc"', '"authorization":"bearer [REDACTED]"'),
        ("BEARER a1", "BEARER [REDACTED]"),
    ],
)
def test_secrets_in_urls_and_headers_go_though_short(text: str, redacted: str) -> None:
    sanitized = scrub_text(text, SECRETS)
    assert sanitized.value == redacted
    assert sanitized.report.text_redactions == 1


@pytest.mark.parametrize(
    "text",
    [
        "https://h.example/Secret/abc",
        "https://h.example/secrets/abc",
        "https://h.example/secret/",
        "src/secret/lib.rs",
        "host:/secret/abc",
        "the ring bearer",
        "the ring bearer went on",
        "a bearer bond.",
        "Note: bearer bonds",
    ],
)
def test_prose_and_paths_stay(text: str) -> None:
    assert shown(text) == text


def test_a_secret_announced_twice_does_not_stay_behind_its_name() -> None:
    assert shown("secret password: hunter2") == "[REDACTED]"
    assert shown("api_key token=hunter2") == "api_key token=[REDACTED]"


def test_a_credential_keeps_its_neighbours() -> None:
    assert shown("use " + "ghp_" + run(20) + ", then go") == "use [REDACTED], then go"
    assert shown("head-eyJ" + run(8) + "." + run(8) + "." + run(8) + " x") == "head-[REDACTED] x"


@pytest.mark.parametrize(
    "piece",
    ["eyJ-", "token ", "token:", "api_key ", "bearer ", "-----BEGIN PRIVATE KEY-----", "a+", "SG.", "password\t\t"],
)
def test_a_hostile_row_of_beginnings_comes_to_an_end(piece: str) -> None:
    assert isinstance(scrub_text(piece * 20_000, SECRETS).report.text_redactions, int)
