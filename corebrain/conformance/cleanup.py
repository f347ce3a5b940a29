"""What ends every run: all it stored is forgotten."""

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import ids
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import Reach
from corebrain.model.requests import ForgetTarget


def cleanup(trial: Trial) -> None:
    """Forgetting by the run's workspaces leaves nothing of it to list."""
    wanted = (
        MetaFilter(workspace=trial.workspace, reach=Reach.subtree(trial.service)),
        MetaFilter(workspace=trial.workspace),
        MetaFilter(workspace=trial.probe_workspace),
    )
    for each in wanted:
        trial.engine.forget(ForgetTarget.of_filter(each))
    for each in wanted:
        left = ids(trial, each)
        trial.expect(not left, f"{len(left)} items still list after they were forgotten by workspace: {left}")
