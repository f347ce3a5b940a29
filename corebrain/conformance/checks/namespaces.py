"""`namespaces`: every read keeps to its reach, and no reach enters a sandbox from outside."""

from collections.abc import Collection

from corebrain.conformance import items
from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Learning
from corebrain.model.namespace import Namespace, Reach, Segment, SegmentKind
from corebrain.model.requests import ExploreRequest, FetchRequest, ForgetTarget, GetRequest

_TAG = "namespaces"
_LIMIT = 50


class _Tree:
    """Five learnings: at the root, at two siblings, below the first of them, and in a sandbox."""

    def __init__(self, trial: Trial) -> None:
        a = trial.node("a")
        self.trial = trial
        self.nodes = {
            "root": Namespace.ROOT,
            "b": trial.node("b"),
            "scout": a.child(Segment(SegmentKind.AGENT, "scout")),
            "a": a,  # last of the batch: the one that must be ranked on return
        }
        batch = [self.learning(node) for node in self.nodes.values()]
        receipts = trial.engine.store_many(batch)
        self.ids = {name: receipt.id for name, receipt in zip(self.nodes, receipts, strict=True)}
        self.ids["service"] = trial.engine.store(self.learning(trial.service)).id

    def learning(self, node: Namespace) -> Learning:
        """The text is the same at every node: only the node tells them apart."""
        return items.learning(self.trial.workspace, f"{self.trial.marker} namespaces note", node, _TAG)

    def of(self, names: Collection[str]) -> list[str]:
        """Return ids by name."""
        return [self.ids[name] for name in names]

    def within(self, reach: Reach | None) -> MetaFilter:
        """Return the filter of these items within *reach*."""
        return self.trial.filter(tags_any=(_TAG,), reach=reach)


def namespaces(trial: Trial) -> None:
    """List, get, fetch, explore and forget see exactly the nodes of their reach."""
    tree = _Tree(trial)
    a, b = tree.nodes["a"], tree.nodes["b"]
    trial.expect(tree.ids["a"] != tree.ids["b"], "the same text at two nodes is stored under one id")
    everywhere = ("root", "a", "b", "scout")
    for what, reach, names in (
        ("of(a)", Reach.of(a), ("root", "a")),
        ("of(b)", Reach.of(b), ("root", "b")),
        ("of(scout)", Reach.of(tree.nodes["scout"]), ("root", "a", "scout")),
        ("of(root)", Reach.of(Namespace.ROOT), ("root",)),
        ("exact(a)", Reach.exact(a), ("a",)),
        ("subtree(a)", Reach.subtree(a), ("a", "scout")),
        ("subtree(root)", Reach.subtree(Namespace.ROOT), everywhere),
        ("no reach", None, everywhere),
        ("exact(service)", Reach.exact(trial.service), ("service",)),
    ):
        expect_ids(trial, f"list under {what}", ids(trial, tree.within(reach)), tree.of(names))
    _expect_get(trial, tree)
    _expect_fetch(trial, tree)
    _expect_counts(trial, tree)
    report = trial.engine.forget(ForgetTarget.of_filter(tree.within(Reach.exact(b))))
    trial.expect(report.forgotten == 1, f"forget under exact(b) counts {report.forgotten}, 1 must go")
    left = ids(trial, tree.within(Reach.subtree(Namespace.ROOT)))
    expect_ids(trial, "list under subtree(root) after a forget under exact(b)", left, tree.of(("root", "a", "scout")))
    expect_ids(
        trial, "the sandbox after a forget", ids(trial, tree.within(Reach.exact(trial.service))), tree.of(("service",))
    )


def _expect_get(trial: Trial, tree: _Tree) -> None:
    asked = tuple(tree.of(("root", "a", "b", "scout", "service")))
    for what, reach, names in (
        ("of(b)", Reach.of(tree.nodes["b"]), ("root", "b")),
        ("no reach", None, ("root", "a", "b", "scout")),
    ):
        found = [hit.id for hit in trial.engine.get(GetRequest(ids=asked, reach=reach))]
        trial.expect(found == tree.of(names), f"get under {what} answers {found}, {tree.of(names)} are within")


def _expect_fetch(trial: Trial, tree: _Tree) -> None:
    modes = trial.engine.descriptor.fetch_modes
    for mode in modes[:1]:
        request = FetchRequest(
            query=trial.marker, mode=mode, filter=tree.within(Reach.of(tree.nodes["a"])), limit=_LIMIT
        )
        found = [hit.id for hit in trial.engine.fetch(request).hits]
        strays = set(found) - set(tree.of(("root", "a")))
        trial.expect(not strays, f"{mode.value} fetch under of(a) finds {sorted(strays)} from outside")
        trial.expect(tree.ids["a"] in found, f"{mode.value} fetch under of(a) misses the item at a")
        request = FetchRequest(query=trial.marker, mode=mode, filter=tree.within(None), limit=_LIMIT)
        found = [hit.id for hit in trial.engine.fetch(request).hits]
        trial.expect(tree.ids["service"] not in found, f"{mode.value} fetch without a reach enters a sandbox")


def _expect_counts(trial: Trial, tree: _Tree) -> None:
    page = trial.engine.explore(ExploreRequest(facet=Facet.NAMESPACE, filter=tree.within(None)))
    found = {bucket.value: bucket.count for bucket in page.buckets}
    due = {str(node): 1 for node in tree.nodes.values()}
    trial.expect(found == due, f"the namespace facet counts {found}, one item is at each of {sorted(due)}")
