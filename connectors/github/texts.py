"""Issues, pull requests, releases and discussions as markdown; nothing that counts or changes by itself goes in."""

from collections.abc import Iterable, Mapping
from typing import Any

Obj = Mapping[str, Any]


def issue_text(one: Obj, comments: Iterable[Obj]) -> str:
    """Return an issue or pull request with its comments."""
    kind = "Pull request" if "pull_request" in one else "Issue"
    said = f"{kind} #{one['number']} by {_who(one)}, {one.get('state', 'open')}."
    return _joined(said, one.get("body"), *(_comment(comment, "created_at") for comment in comments))


def release_text(one: Obj) -> str:
    """Return a release's notes."""
    published = str(one.get("published_at") or "")[:10]
    kind = "Pre-release" if one.get("prerelease") else "Release"
    return _joined(f"{kind} {one['tag_name']}{f' of {published}' if published else ''}.", one.get("body"))


def discussion_text(one: Obj) -> str:
    """Return a discussion with comments and replies."""
    category = (one.get("category") or {}).get("name")
    said = f"Discussion #{one['number']} by {_who(one, 'author')}{f' in {category}' if category else ''}."
    parts = []
    for comment in (one.get("comments") or {}).get("nodes") or ():
        parts.append(_comment(comment, "createdAt", "author"))
        parts += [_comment(reply, "createdAt", "author") for reply in (comment.get("replies") or {}).get("nodes") or ()]
    return _joined(said, one.get("body"), *parts)


def about_text(one: Obj) -> str:
    """Return what a repository says of itself; empty when it says nothing."""
    topics = ", ".join(str(topic) for topic in one.get("topics") or ())
    homepage = str(one.get("homepage") or "")
    return _joined(
        one.get("description"), f"Topics: {topics}." if topics else "", f"Homepage: {homepage}" if homepage else ""
    )


def _comment(one: Obj, when: str, who: str = "user") -> str:
    return f"**{_who(one, who)}**, {str(one.get(when) or '')[:10]}:\n\n{str(one.get('body') or '').strip()}"


def _who(one: Obj, key: str = "user") -> str:
    person = one.get(key)
    return str(person.get("login")) if isinstance(person, Mapping) else "somebody who left"


def _joined(*parts: object) -> str:
    return "\n\n".join(text for text in (str(part or "").strip() for part in parts) if text)
