"""Which repository answered: its number, which outlives every name.

GitHub tells it on the way: in the address that a renamed repository redirects to and that a list goes on at
(`/repositories/1296269/…`), and in the node id of a commit, which is base64 of `06:Commit1296269:<sha>` (until 2021) or
of msgpack's `[0, 1296269, "<sha>"]` (since). Node ids are not documented; one counts only when the commit's own SHA
stands in it where it should.
"""

import base64
import binascii
import re

_IN_ADDRESS = re.compile(r"/repositories/(\d{1,18})(?:/|$)")
_FORMER = re.compile(rb"06:Commit(\d{1,18}):([0-9a-f]{40,64})")
_PACKED = re.compile(
    rb"\x93\x00(?:\xcc(?P<one>.)|\xcd(?P<two>..)|\xce(?P<four>.{4})|\xcf(?P<eight>.{8})|(?P<fix>[\x00-\x7f]))"
    rb"(?:\xd9.|\xda..)(?P<sha>[0-9a-f]{40,64})",
    re.DOTALL,
)
_NAME = re.compile(r"/repos/([\w.-]+/[\w.-]+)/git/")


def number_in_address(*addresses: str) -> int | None:
    """Return the number of a repository that one of these addresses (or `Link` headers) names by it."""
    found = (_IN_ADDRESS.search(address) for address in addresses)
    return next((int(each[1]) for each in found if each), None)


def number_in_node(node_id: str, sha: str) -> int | None:
    """Return the number of the repository that the commit *sha* with that node id lies in; `None` when in doubt."""
    text = node_id.partition("C_")[2] or node_id
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    former, packed = _FORMER.fullmatch(data), _PACKED.fullmatch(data)
    if former is not None and former[2].decode() == sha:
        return int(former[1])
    if packed is not None and packed["sha"].decode() == sha:
        digits = next(each for each in packed.groups()[:5] if each is not None)
        return int.from_bytes(digits, "big")
    return None


def name_in_address(address: str) -> str:
    """Return the `owner/name` that the address of a git object has; empty when it has none."""
    found = _NAME.search(address)
    return found[1] if found else ""
