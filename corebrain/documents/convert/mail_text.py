"""How a message reads as markdown, wherever it came from: a small head, the body, the names of what is attached."""

from collections.abc import Iterable


def mail_markdown(head: Iterable[tuple[str, str]], body: str, attachments: Iterable[str]) -> str:
    """One message.

    Args:
        head: Header names and their decoded values, in the order shown; empty values are left out.
        body: Markdown or plain text.
        attachments: File names.
    """
    names = ", ".join(name for name in attachments if name)
    lines = [f"{name}: {one_line(value)}" for name, value in (*head, ("Attachments", names)) if value.strip()]
    return "\n\n".join(block for block in ("  \n".join(lines), body.strip()) if block) + "\n"


def one_line(text: str) -> str:
    """Text without line breaks, runs of blanks made one."""
    return " ".join(text.split())
