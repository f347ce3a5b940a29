"""Who owns a host's root: registered once, before the first write (spec 04 section 5)."""

import logging
import threading

from corebrain.engines.cortexdb.failures import message_head
from corebrain.engines.cortexdb.transport import Transport
from corebrain.errors import Conflict, CorebrainError, EngineError

_LOG = logging.getLogger(__name__)


class RootOwner:
    """Registers a root with its owner; a failure is logged and tried again at the next write.

    The bodies are our assumption: the reference does not establish them.

    Args:
        transport: What sends.
        root: The root, such as `org:42`.
        owner: Who owns it, such as `user:7`.
    """

    def __init__(self, transport: Transport, root: str, owner: str) -> None:
        self._transport = transport
        self._root = root
        self._owner = owner
        self._lock = threading.Lock()
        self._registered = False

    def ensure(self) -> None:
        """Have the root registered and owned; never fails, a write goes ahead all the same."""
        with self._lock:
            if self._registered:
                return
            try:
                self._register()
            except CorebrainError as error:
                _LOG.warning("scope root %s could not be registered: %s", self._root, message_head(error))
                return
            self._registered = True

    def _register(self) -> None:
        try:
            self._transport.once("POST", "v1/scopes", body={"path": self._root, "owner": self._owner})
        except Conflict:  # it exists
            self._join()

    def _join(self) -> None:
        record = self._transport.read("GET", "v1/scopes", query={"path": self._root})
        if not isinstance(record, dict):
            raise EngineError("a scope's record is no object")
        members = record.get("members")
        held: list[object] = list(members) if isinstance(members, list) else []
        if self._owner == record.get("owner") or self._owner in map(_name, held):
            return
        body = {"members": [*held, self._like(held)]}
        self._transport.once("PUT", "v1/scopes/members", query={"path": self._root}, body=body)

    def _like(self, members: list[object]) -> object:
        """Write the owner as the members are written: by name, or as an object."""
        if members and isinstance(members[0], dict):
            return {"actor": self._owner, "role": "owner"}
        return self._owner


def _name(member: object) -> object:
    return member.get("actor") if isinstance(member, dict) else member
