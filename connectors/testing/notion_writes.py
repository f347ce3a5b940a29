"""What an integration may write through Notion's API, as far as a test needs it: pages, their titles, their words.

Follows the schema of POST /v1/pages, PATCH /v1/pages/{id}, PATCH /v1/blocks/{id}/children and DELETE /v1/blocks/{id}.
"""

from connectors.testing.notion_shapes import Obj
from connectors.testing.notion_workspace import Workspace


class Refused(Exception):
    """A write that cannot be made; its message is what the API says."""


def write(workspace: Workspace, method: str, path: str, body: Obj) -> str | None:
    """Carry out a write; return the id of the page or block it made or changed, `None` for a request that writes not.

    Raises:
        Refused: Notion would not do it, or the stand-in cannot.
    """
    match (method, *path.split("/")):
        case ("POST", "pages"):
            return _add_page(workspace, body)
        case ("PATCH", "pages", key):
            return _change_page(workspace, _known(key, workspace.things), body)
        case ("PATCH", "blocks", key, "children"):
            return _append(workspace, _known(key, workspace.things), body)
        case ("DELETE", "blocks", key):
            return _delete_block(workspace, _known(key, workspace.block_of))
    return None


def _known(key: str, held: dict[str, Obj]) -> str:
    if key not in held:
        raise Refused(f"Could not find {key}.")
    return key


def _add_page(workspace: Workspace, body: Obj) -> str:
    parent = str((body.get("parent") or {}).get("page_id") or "")
    page = workspace.add_page(_title(body), _known(parent, workspace.things))
    return _append(workspace, page, body)


def _change_page(workspace: Workspace, key: str, body: Obj) -> str:
    if body.get("properties"):
        workspace.rename(key, _title(body))
    if "in_trash" in body:
        workspace.trash(key, into=bool(body["in_trash"]))
    return key


def _append(workspace: Workspace, key: str, body: Obj) -> str:
    for block in body.get("children") or ():
        if block.get("type") != "paragraph":
            raise Refused(f"body failed validation: the stand-in appends paragraphs, not {block.get('type')!r}")
        workspace.add_paragraph(key, _plain(block["paragraph"]["rich_text"]))
    workspace.touch(key)
    return key


def _delete_block(workspace: Workspace, key: str) -> str:
    workspace.block_of[key]["in_trash"] = True
    for holder in workspace.above(key):
        if holder in workspace.things:
            workspace.touch(holder)
            break
    return key


def _title(body: Obj) -> str:
    return _plain(body["properties"]["title"]["title"])


def _plain(items: list[Obj]) -> str:
    return "".join(str(item["text"]["content"]) for item in items)
