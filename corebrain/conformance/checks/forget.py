"""`empty_forget`, `forget_by_id` and `forget_by_filter`: what is named goes, and nothing else."""

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import ForgetTarget


def empty_forget(trial: Trial) -> None:
    """A forget of no ids, and one by an empty filter, are refused and remove nothing."""
    kept = trial.engine.store(trial.document("empty forget", tags=("empty-forget",))).id
    for what, target in (
        ("a forget of no ids", ForgetTarget(ids=())),
        ("a forget by an empty filter", ForgetTarget.of_filter(MetaFilter())),
    ):
        trial.refused(what, lambda: trial.engine.forget(target), InvalidRequest)  # noqa: B023  # called at once
        left = ids(trial, trial.filter(tags_any=("empty-forget",)))
        expect_ids(trial, f"list after {what}", left, [kept])


def forget_by_id(trial: Trial) -> None:
    """A forgotten id counts 1 and lists no more, others stay; forgotten again it counts 0."""
    wanted = trial.filter(tags_any=("forget-by-id",))
    doomed, kept = (
        trial.engine.store(trial.document(label, tags=("forget-by-id",))).id for label in ("doomed", "spared")
    )
    _expect_forgotten(trial, "forget by id", ForgetTarget.of_ids(doomed), 1)
    expect_ids(trial, "list after a forget by id", ids(trial, wanted), [kept])
    _expect_forgotten(trial, "forget by an id that is gone", ForgetTarget.of_ids(doomed), 0)
    expect_ids(trial, "list after forgetting again", ids(trial, wanted), [kept])


def forget_by_filter(trial: Trial) -> None:
    """Two tagged items are forgotten by their tag, none of them is left, and others stay."""
    kept = trial.engine.store(trial.document("untagged", tags=("forget-kept",))).id
    for label in ("tagged one", "tagged two"):
        trial.engine.store(trial.document(label, tags=("forget-gone",)))
    gone = trial.filter(tags_any=("forget-gone",))
    others = set(ids(trial, trial.filter())) - set(ids(trial, gone))
    _expect_forgotten(trial, "forget by filter", ForgetTarget.of_filter(gone), 2)
    expect_ids(trial, "list of what was forgotten by filter", ids(trial, gone), [])
    trial.expect(kept in others, "an item stored just now does not list")
    expect_ids(trial, "list after a forget by filter", ids(trial, trial.filter()), others)


def _expect_forgotten(trial: Trial, what: str, target: ForgetTarget, due: int) -> None:
    report = trial.engine.forget(target)
    trial.expect(report.forgotten == due, f"{what} counts {report.forgotten}, {due} must go")
