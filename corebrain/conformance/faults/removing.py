"""Faults of forgetting and erasing."""

from corebrain.conformance.faults.fault import Fault
from corebrain.conformance.wrappers import BareEngine, WholeEngine
from corebrain.contract import Item, MemoryEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.requests import EraseReport, EraseRequest, ForgetReport, ForgetTarget, ListRequest, StoreReceipt


class ServesEmptyForget(BareEngine):
    """Answers a forget that names nothing instead of refusing it."""

    def forget(self, target: ForgetTarget) -> ForgetReport:
        if target.ids == () or (target.filter is not None and target.filter.is_empty):
            return ForgetReport(forgotten=0)
        return self.inner.forget(target)


class CountsWhatWasNamed(BareEngine):
    """Counts the ids named, not the items removed."""

    def forget(self, target: ForgetTarget) -> ForgetReport:
        report = self.inner.forget(target)
        return report if target.ids is None else ForgetReport(forgotten=len(target.ids))


class ForgetsNothingById(BareEngine):
    """Counts an id as forgotten and keeps the item."""

    def forget(self, target: ForgetTarget) -> ForgetReport:
        target.validate()
        return self.inner.forget(target) if target.ids is None else ForgetReport(forgotten=len(target.ids))


class ForgetsOneTooMany(BareEngine):
    """Forgets by filter, and one further document of the same workspace."""

    def forget(self, target: ForgetTarget) -> ForgetReport:
        report = self.inner.forget(target)
        if target.filter is not None and target.filter.workspace is not None:
            documents = MetaFilter(workspace=target.filter.workspace, kinds=(ItemKind.DOCUMENT,))
            for hit in self.inner.list(ListRequest(filter=documents, limit=1)).items:
                self.inner.forget(ForgetTarget.of_ids(hit.id))
        return report


class KeepsWorkspaces(BareEngine):
    """Does not forget by workspace alone."""

    def forget(self, target: ForgetTarget) -> ForgetReport:
        target.validate()
        if target.filter is not None and target.filter == MetaFilter(workspace=target.filter.workspace):
            return ForgetReport(forgotten=0)
        return self.inner.forget(target)


class ErasesWithoutInterlock(WholeEngine):
    """Acknowledges erasing the whole tree without being told twice; to spare its host it erases nothing then."""

    def erase(self, request: EraseRequest) -> EraseReport:
        if request.reach.at.is_root and not request.whole_tree:
            return EraseReport(erased_scopes=0)
        return self.inner.erase(request)


class ErasesTheNodeAlone(WholeEngine):
    """Leaves what is below an erased node."""

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        return self.inner.erase(
            request.model_copy(update={"reach": request.reach.model_copy(update={"descendants": False})})
        )


class RemembersErased(WholeEngine):
    """Takes an erased item stored again for a replay."""

    def __init__(self, inner: MemoryEngine) -> None:
        super().__init__(inner)
        self._ever: set[str] = set()

    def store(self, item: Item) -> StoreReceipt:
        receipt = self.inner.store(item)
        replayed = receipt.id in self._ever
        self._ever.add(receipt.id)
        return receipt.model_copy(update={"replayed": replayed or receipt.replayed})


REMOVING: tuple[Fault, ...] = (
    Fault("erases the whole tree without the interlock", "erase", ErasesWithoutInterlock),
    Fault("erases a node and leaves its child", "erase", ErasesTheNodeAlone),
    Fault("takes an erased item stored again for a replay", "erase", RemembersErased),
    Fault("serves an empty forget", "empty_forget", ServesEmptyForget),
    Fault("counts the ids named, not the items removed", "forget_by_id", CountsWhatWasNamed),
    Fault("forgets nothing by id", "forget_by_id", ForgetsNothingById),
    Fault("forgets one too many by filter", "forget_by_filter", ForgetsOneTooMany),
    Fault("does not forget by workspace", "cleanup", KeepsWorkspaces),
)
