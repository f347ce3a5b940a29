"""An engine whose answers, learnings and beliefs are written down: a golden case brought to life."""

from collections.abc import Mapping
from typing import Any

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.errors import EngineError
from corebrain.model.requests import (
    BeliefsRequest,
    Citation,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
)


class CannedEngine(MemoryEngine):
    """`answers` by question (`null` fails), `learnings` and `beliefs` as hits in the engine's order."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self._answers = case.get("answers", {})
        self._learnings = [_hit(each) for each in case.get("learnings", ())]
        self._beliefs = case.get("beliefs", [])
        self._descriptor = EngineDescriptor(id=case.get("engine", "canned"), label="Canned", description="written down")
        self.asked: list[RecallRequest] = []
        self.listed: list[ListRequest] = []

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._descriptor

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def recall(self, request: RecallRequest) -> RecallAnswer:
        self.asked.append(request)
        answer = self._answers.get(request.question, {"answer": "nothing"})
        if answer is None:
            raise EngineError("the model is away")
        return RecallAnswer(
            answer=answer["answer"],
            citations=tuple(
                Citation.from_dict({"kind": "document", "snippet": "s", "meta": {}} | cited)
                for cited in answer.get("citations", ())
            ),
        )

    def list(self, request: ListRequest) -> ListPage:
        self.listed.append(request)
        start = int(request.cursor or 0)
        end = start + request.limit
        more = str(end) if end < len(self._learnings) else None
        return ListPage(items=tuple(self._learnings[start:end]), next_cursor=more)

    def beliefs(self, request: BeliefsRequest) -> Hits:
        if self._beliefs is None:
            raise EngineError("no beliefs today")
        return [_hit(each) for each in self._beliefs][: request.limit]

    def store(self, item: Item) -> StoreReceipt:
        raise NotImplementedError

    def fetch(self, request: FetchRequest) -> FetchPage:
        raise NotImplementedError

    def forget(self, target: ForgetTarget) -> ForgetReport:
        raise NotImplementedError


def _hit(data: Mapping[str, Any]) -> Hit:
    return Hit.from_dict({"kind": "learning", "meta": {}} | dict(data))
