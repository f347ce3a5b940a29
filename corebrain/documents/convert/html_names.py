"""What the class and id of an element say about its part of a page: content, a lead, or furniture around it."""

import re
from functools import lru_cache
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["body", "lead", "comments", "furniture", "aside", ""]
"""`body` names the content, `lead` what opens it; `furniture` is hardly ever content, `aside` rarely; `""` unknown."""

_TAXONOMY = re.compile(r"\b(?:tag|category|status|format|author|topic|type|has|section)-\S+")  # what a post is about
_COMMENTS = re.compile(r"[ck]omment(?!ary)|comentari|disqus|\brespond", re.IGNORECASE)
_FURNITURE = re.compile(
    r"cookie|consent|gdpr|newsletter|related|\bshar(?:e|ing)|[-_]shar(?:e|ing)|social|breadcrumb|sidebar|side-bar"
    r"|paginat|pagenav|\bpager\b|advert|sponsor|promo|\bads?\b|[-_]ads?[-_]|subscri|sign-?up|paywall|donate"
    r"|widget-?area|author-?(?:info|bio|box|desc)|about-?(?:the-?)?author|ratings?\b|recommend|recirc|trending|popular"
    r"|most-?read|also-?like|read-?(?:next|more|also)|more-?(?:stories|news|from|articles)|outbrain|taboola|addtoany"
    r"|addthis|sharedaddy|(?:^|\s)tags?(?:\s|$)|(?:post|entry|article|node|story)[-_]+tags?\b|tag-?(?:list|cloud|links)"
    r"|tagged|(?:post|entry)-?meta|post-?info|popup|popmake|modal|navbar|navigation|masthead|screen-?reader"
    r"|visually-?hidden|sr-only|byline|dateline|pub-?date|post-?(?:date|author)|teaser|follow|log-?in\b|jump|skip",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\brail\b|footer|\bmenu|\bnav\b|-nav\b|widget|overlay|toolbar|topics|author|\bmeta\b|metadata|timestamp"
    r"|register|copyright|legal|disclaimer|feedback|\bvote|email"
    r"|caption|credit|carousel|banner|shop|\bbuy|price|\btoc\b|table-of-contents",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\b(?:lead|lede|intro|introtext|excerpt|standfirst|sub-?title|deck|dek|summary|abstract|preface|vorspann|chapo)\b"
    r"|[-_](?:lead|intro|excerpt|summary|preface|standfirst|subtitle)|introbox|articleintro"
    r"|(?:article|entry|post)-?head(?:er)?",
    re.IGNORECASE,
)
_BODY = re.compile(r"article|content|main|body|story", re.IGNORECASE)
_SURELY_BODY = re.compile(
    r"(?:article|story|post|entry)[-_]?(?:body|content|text)|articleBody|\bmw-parser-output\b|markdown", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def part(name: str) -> Part:
    """Return what a name (classes, id and role, with spaces between) says."""
    told = _TAXONOMY.sub("", name) if "-" in name else name
    if _COMMENTS.search(told):
        return "comments"
    if _FURNITURE.search(told):
        return "furniture"
    if _LEAD.search(told):
        return "lead"
    if _ASIDE.search(told):
        return "aside"
    return "body" if _BODY.search(told) else ""


@lru_cache(maxsize=4096)
def is_surely_body(name: str) -> bool:
    """Whether a name is one that content systems give to the body of an article."""
    return _SURELY_BODY.search(name) is not None


def may_lead(name: str) -> bool:
    """Whether a name fits what leads into an article; a teaser does where it stands before its own."""
    return part(name) in {"lead", "body", ""} or "teaser" in name.lower()
