"""Holds what the web connector leans on to outside checks, given as files of other projects.

- `--urls`: `urltestdata.json` of the web platform tests (as github.com/ada-url/ada keeps it in tests/wpt).
- `--robots`: `robots_test.cc` of github.com/google/robotstxt.

How well content is told from what stands around it: benchmarks/html_extraction.py.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import ada_url
from protego import Protego

from connectors.errors import ConnectorError
from connectors.http import Client, Limits, RetryPolicy
from connectors.testing.web import WebStandIn
from connectors.web.addresses import address

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_STRING = r'(?:"(?:[^"\\]|\\.)*"\s*)+'
_VARIABLE = re.compile(rf"(?:absl::string_view|std::string)\s+(\w+)\s*=\s*({_STRING})\s*;")
_CALL = re.compile(
    rf"EXPECT_(TRUE|FALSE)\(\s*IsUserAgentAllowed\(\s*(\w+|{_STRING})\s*,\s*(\w+|{_STRING})\s*,\s*(\w+|{_STRING})\s*\)\)"
)


def cases_of_urls(path: Path) -> list[dict[str, Any]]:
    return [case for case in json.loads(path.read_text(encoding="utf-8")) if isinstance(case, dict)]


def check_urls(path: Path) -> str:
    """Parse every case with an http(s) result; and every one through our own spelling, which must stand still."""
    cases = cases_of_urls(path)
    web = [case for case in cases if str(case.get("href", "")).startswith(("http:", "https:"))]
    parsed = sum(_href(case) == case["href"] for case in web)
    failing = [case for case in cases if case.get("failure")]
    refused = sum(_href(case) is None for case in failing)
    still = restless = 0
    for case in web:
        found = address(case["input"], case.get("base") or None)
        if found is not None:
            same = address(found.url) == found
            still, restless = still + same, restless + (not same)
    return (
        f"urls: {parsed} of {len(web)} http(s) cases, {refused} of {len(failing)} failures refused;"
        f" keys that stand still {still} of {still + restless}"
    )


def _href(case: dict[str, Any]) -> str | None:
    try:
        base = case.get("base")
        return str((ada_url.URL(case["input"], base=base) if base else ada_url.URL(case["input"])).href)
    except (ValueError, UnicodeError):
        return None


def check_hosts(path: Path) -> str:
    """Ask for every case's host at the port of a server on loopback: none may arrive."""
    inputs = {case["input"] for case in cases_of_urls(path) if re.match(r"\s*https?:", case["input"])}
    tried = 0
    with WebStandIn() as inner:
        port = inner.place.partition(":")[2]
        with Client(limits=Limits(connect_s=0.05, deadline_s=1), retry=RetryPolicy(attempts=1)) as client:
            for text in sorted(inputs):
                for url in (text, re.sub(r"^(\s*https?:[/\\]*)([^/\\?#:]*)", rf"\g<1>\g<2>:{port}", text)):
                    tried += 1
                    try:
                        client.get(url)
                    except ConnectorError:
                        continue
        return f"hosts of the web platform tests: {tried} requests, {len(inner.log)} reached loopback"


def check_robots(path: Path) -> str:
    """Run google's checks on Protego."""
    passed = total = 0
    for block in re.split(r"\nTEST\(", path.read_text(encoding="utf-8"))[1:]:
        known: dict[str, str] = {}
        for match in sorted([*_VARIABLE.finditer(block), *_CALL.finditer(block)], key=lambda each: each.start()):
            if match.re is _VARIABLE:
                known[match[1]] = _joined(match[2])
                continue
            words = [known.get(part) if part.isidentifier() else _joined(part) for part in match.groups()[1:]]
            if None in words:
                continue
            robots, agent, url = (str(word) for word in words)
            total += 1
            passed += Protego.parse(robots).can_fetch(url, agent) == (match[1] == "TRUE")
    return f"robots: {passed} of {total} of google's checks"


def _joined(literals: str) -> str:
    text = "".join(match[1] for match in _LITERAL.finditer(literals))
    plain = (
        text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
    )
    return re.sub(r"\\x([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), plain)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=Path)
    parser.add_argument("--robots", type=Path)
    options = parser.parse_args()
    lines = []
    if options.urls:
        lines += [check_urls(options.urls), check_hosts(options.urls)]
    if options.robots:
        lines.append(check_robots(options.robots))
    print("\n".join(lines) or "give at least one file; --help says which")


if __name__ == "__main__":
    main()
