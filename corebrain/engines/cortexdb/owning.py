"""Who owns a host's root: registered once, before the first write (spec 04 section 5)."""

import logging
import threading

from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.failures import message_head
from corebrain.errors import Conflict, CorebrainError

_LOG = logging.getLogger(__name__)


class RootOwner:
    """Registers a root with its owner; a failure is logged and tried again at the next write.

    Args:
        wire: Whom to ask.
        root: The root, such as `org:42`.
        owner: Who owns it, such as `user:7`.
    """

    def __init__(self, wire: DirectWire, root: str, owner: str) -> None:
        self._wire = wire
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
            self._wire.register_scope(self._root, self._owner)
        except Conflict:  # it exists
            record = self._wire.scope_record(self._root)
            members = record.get("members")
            held: list[object] = list(members) if isinstance(members, list) else []
            if self._owner != record.get("owner") and self._owner not in map(_name, held):
                self._wire.set_scope_members(self._root, [*held, self._like(held)])

    def _like(self, members: list[object]) -> object:
        """Write the owner as the members are written: by name, or as an object."""
        if members and isinstance(members[0], dict):
            return {"actor": self._owner, "role": "owner"}
        return self._owner


def _name(member: object) -> object:
    return member.get("actor") if isinstance(member, dict) else member
