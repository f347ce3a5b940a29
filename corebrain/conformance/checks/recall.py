"""`recall`: an answer, and citations that can be looked up."""

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import list_all
from corebrain.model.requests import RecallRequest
from corebrain.model.text import is_blank

_LIMIT = 5


def recall(trial: Trial) -> None:
    """Asked for what is held, the engine answers with 1 to 5 citations, each of which lists with the same kind."""
    trial.hold_round_trip()
    answer = trial.engine.recall(RecallRequest(question=trial.marker, filter=trial.filter(), limit=_LIMIT))
    trial.expect(not is_blank(answer.answer), "the answer is blank")
    cited = len(answer.citations)
    trial.expect(1 <= cited <= _LIMIT, f"the answer has {cited} citations, from 1 to {_LIMIT} are due")
    kinds = {hit.id: hit.kind for hit in list_all(trial, trial.filter())}
    for citation in answer.citations:
        trial.expect(citation.id in kinds, f"the citation {citation.id} does not list under the same filter")
        due = kinds[citation.id].value
        trial.expect(citation.kind == due, f"the citation {citation.id} is a {citation.kind.value}, it lists as {due}")
