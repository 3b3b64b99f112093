"""All detectors: which there are, what each of them observes, and what they have to say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from monitor.alerts.alert import Key
from monitor.alerts.rule import Rule
from monitor.events.spec import ModelSpec
from monitor.state.reading import count, plain, take
from monitor.watch import comparing
from monitor.watch.binding import Baseline, Bound, Unbound, bind, classes
from monitor.watch.comparison import Comparison
from monitor.watch.decisions import Costs
from monitor.watch.detector import Detector, Look, Sighting, Stream, advance
from monitor.watch.matching import Match, Present, SegmentName, match_of, present
from monitor.watch.matured import Matured
from monitor.watch.pairing import Pairing
from monitor.watch.post import Post
from monitor.watch.remembering import key_of, pack, unpack

__all__ = ["Look", "Sighting", "Watch"]

Version = tuple[str, str]
"""Model and version."""


class Watch:
    """The detectors of sequential rules, one for each model version, class and segment that a rule matches.

    A rule has at most `Rule.matches` models, segments and classes at once, each with all its versions.
    A detector begins with the first event of its version (and segment), and goes with the version. What is
    seen, and when, depends on the events and their order alone.

    Parameters
    ----------
    rules
        Sequential ones.
    specs
        How a model's events are read, by configured name.
    costs
        What wrong decisions cost, by configured name of the model.
    baselines
        Stored references by name.
    champions
        Returns the champion version of a model, None where it is not known. When it becomes another one,
        the challengers are held against that from then on: what fires goes on firing until that clears it.
    segment_name
        Returns the value of a model's segment key that has a code.
    maturity
        Age in microseconds at which events of a model are looked at: says which of two versions came first.

    Attributes
    ----------
    observations
        How many observations the detectors of each rule have had, by the rule's name.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        specs: Mapping[str, ModelSpec],
        *,
        costs: Mapping[str, Costs | None],
        baselines: Mapping[str, Baseline],
        champions: Callable[[str], str | None],
        segment_name: SegmentName,
        maturity: Callable[[str], int] = lambda model: 0,
    ) -> None:
        self._rules = {rule.name: rule for rule in rules}
        self._specs = specs
        self._costs = costs
        self._baselines = baselines
        self._champion_of = champions
        self._segment_name = segment_name
        self._maturity = maturity
        self._bounds: dict[tuple[str, str, str], Bound | str] = {}
        self._posts: dict[Key, Post] = {}
        self._refused: set[Key] = set()
        self._champions: dict[str, str | None] = {}
        self._comparisons: dict[Match, Comparison] = {}
        self.observations: Counter[str] = Counter()

    @property
    def refused(self) -> int:
        """Matches that have no detectors, since their rule has as many as it may."""
        return len({match_of(key) for key in self._refused})

    def consume(self, matured: Mapping[Version, Matured]) -> list[Sighting]:
        """Take in the next events of each version, which `Feed.take` gave out; return what was seen in them.

        Returns
        -------
        list of Sighting
            In the order of their moments.
        """
        for model in {model for model, _ in matured}:
            self._follow_champion(model)
        found = [
            each
            for (model, version), events in matured.items()
            for each in present(
                self._rules.values(), self._spec(model), self._segment_name, model, version, events
            )
        ]
        self._admit(found)
        work = [*self._observe(found), *self._compare(found)]
        sightings = advance(work)
        return sorted(sightings, key=lambda sighting: (sighting.moment.timestamp, sighting.moment.position))

    def _admit(self, present: Sequence[Present]) -> None:
        """Give places to those that are new, in the order of their first events."""
        new = [each for each in present if each.key not in self._posts and not self._is_champion(each)]
        if not new:
            return
        taken: defaultdict[str, set[Match]] = defaultdict(set)
        for key in self._posts:
            taken[key.alert].add(match_of(key))

        def first_seen(each: Present) -> tuple[int, int]:
            columns = each.events.columns
            return int(columns.timestamp[0]) + self._maturity(each.key.model), int(columns.position[0])

        for key, rule, events in sorted(new, key=first_seen):
            matches = taken[rule.name]
            if len(matches) >= rule.matches and match_of(key) not in matches:
                self._refused.add(key)
                continue
            matches.add(match_of(key))
            self._refused.discard(key)
            self._posts[key] = Post.of(
                key, rule, int(events.columns.timestamp[0]), self._bound_now(rule, key.model, key.class_)
            )

    def _is_champion(self, each: Present) -> bool:
        return each.rule.limit.kind == "champion" and self._champions.get(each.key.model) == each.key.version

    def _bound(self, rule: Rule, model: str, class_: str) -> Bound | str:
        """Return how a rule watches a class of a model, or why it cannot."""
        name = self._configured(model)
        bound = self._bounds.get((rule.name, name, class_))
        if bound is None:
            try:
                bound = bind(rule, self._specs[name], class_, self._costs.get(name), self._baselines)
            except Unbound as why:
                bound = str(why)
            self._bounds[rule.name, name, class_] = bound
        return bound

    def _bound_now(self, rule: Rule, model: str, class_: str) -> Bound | str:
        """Return the same, or that there is nothing to compare with."""
        if rule.limit.kind == "champion" and self._champions.get(model) is None:
            return "champion_unknown"
        return self._bound(rule, model, class_)

    def _observe(self, present: Sequence[Present]) -> Iterator[tuple[Detector, Stream]]:
        for key, rule, events in present:
            post = self._posts.get(key)
            if post is None or post.detector is None or rule.limit.kind == "champion":
                continue
            bound = self._bound(rule, key.model, key.class_)
            assert isinstance(bound, Bound)
            observe = bound.observe if post.ranking is None else post.ranking.observe
            assert observe is not None
            observed = observe(events.columns)
            yield self._counted(post.detector, Stream.of(observed.units, events, observed.events))

    def _compare(self, present: Sequence[Present]) -> Iterator[tuple[Detector, Stream]]:
        found: defaultdict[Match, dict[str, Matured]] = defaultdict(dict)
        for each in present:
            if each.rule.limit.kind == "champion" and (each.key in self._posts or self._is_champion(each)):
                found[match_of(each.key)][each.key.version] = each.events
        for which, parts in found.items():
            name, model, segment, class_ = which
            bound, champion = self._bound(self._rules[name], model, class_), self._champions[model]
            if isinstance(bound, str) or champion is None:
                continue
            comparison = self._comparisons.get(which) or self._comparison(which, champion, bound)
            for version, stream in comparison.read(parts).items():
                post = self._posts[Key(name, model, version, "", segment, class_)]
                assert post.detector is not None
                yield self._counted(post.detector, stream)

    def _comparison(self, which: Match, champion: str, bound: Bound) -> Comparison:
        assert bound.observe is not None
        made = Comparison(Pairing(champion, by_label=bound.by_label), bound.observe)
        self._comparisons[which] = made
        return made

    def _follow_champion(self, model: str) -> None:
        """Hold the challengers of a model against its champion of today."""
        # Not to know it, as before an alias is read for the first time, is no change.
        champion = self._champion_of(model) or self._champions.get(model)
        if model in self._champions and self._champions[model] != champion:
            self._champions[model] = champion
            for which in [which for which in self._comparisons if which[1] == model]:
                del self._comparisons[which]
            for key, post in list(self._posts.items()):
                if key.model == model and post.rule.limit.kind == "champion":
                    if key.version == champion:
                        del self._posts[key]
                    else:
                        self._posts[key] = post.renewed(self._bound_now(post.rule, key.model, key.class_))
        self._champions[model] = champion

    def _counted(self, detector: Detector, stream: Stream) -> tuple[Detector, Stream]:
        """Return what the detector follows of the next observations."""
        panes = detector.panes(stream)
        self.observations[detector.plan.rule.name] += len(panes.units)
        return detector, panes

    def places(self) -> Iterator[tuple[Key, Rule, int]]:
        """Yield which detectors there are, and since which event time: without a look at them."""
        for key, post in self._posts.items():
            yield key, post.rule, post.since

    def looks(self) -> Iterator[Look]:
        """Return every detector as it is now, also those that cannot judge."""
        return (post.look() for post in self._posts.values())

    def forget(self, model: str, version: str) -> None:
        """Let the detectors of a version go."""
        gone = [key for key in (*self._posts, *self._refused) if (key.model, key.version) == (model, version)]
        for key in gone:
            self._posts.pop(key, None)
            self._refused.discard(key)
        left = {key.model for key in self._posts}
        for which, comparison in list(self._comparisons.items()):
            if which[1] == model:
                comparison.pairing.forget(version)
                if model not in left:
                    del self._comparisons[which]
        if model not in left:
            self._champions.pop(model, None)

    def tree(self) -> dict[str, Any]:
        """Return everything that is to be remembered, as plain data and a few large arrays."""
        return {
            "rules": {name: rule.fingerprint for name, rule in self._rules.items()},
            "observations": dict(self.observations),
            "champions": dict(self._champions),
            "refused": [list(key) for key in self._refused],
            "detectors": pack(post.remembered() for post in self._posts.values()),
            "comparisons": comparing.pack({which: c.pairing for which, c in self._comparisons.items()}),
        }

    def resume(self, tree: dict[str, Any]) -> None:
        """Go on from what `tree` returned; its arrays belong to the detectors.

        Rules that have changed begin anew. Where what a rule is held against has changed (a baseline, costs),
        its detectors begin anew, and what fires goes on firing until they clear it.

        Raises
        ------
        ValueError
            If it is something else.
        """
        same = {
            name
            for name, fingerprint in take(tree, "rules", dict).items()
            if name in self._rules and self._rules[name].fingerprint == fingerprint
        }
        for name, n in take(tree, "observations", dict).items():
            if name in same:
                self.observations[name] = count(n, "observations")
        for model, champion in take(tree, "champions", dict).items():
            self._champions[model] = None if champion is None else plain(champion, str, "a champion")
        for row in take(tree, "refused", list):
            key = key_of(plain(row, list, "an alert"))
            if key.alert in same:
                self._refused.add(key)
        for each in unpack(take(tree, "detectors", list)):
            if each.key in self._posts:
                raise ValueError(f"{each.key} is there twice")
            if each.key.alert in same and self._is_watched(each.key):
                rule = self._rules[each.key.alert]
                bound = self._bound_now(rule, each.key.model, each.key.class_)
                post = self._posts[each.key] = Post.of(each.key, rule, each.since, bound)
                post.resume(each)
        for resumed in comparing.unpack(take(tree, "comparisons", dict)):
            self._resume_comparison(resumed, same)

    def _is_watched(self, key: Key) -> bool:
        """Tell whether a key may still be one of its rule's."""
        spec = self._specs.get(self._configured(key.model))
        return spec is not None and key.class_ in classes(self._rules[key.alert], spec)

    def _resume_comparison(self, resumed: comparing.Resumed, same: Collection[str]) -> None:
        name, model, segment, class_ = resumed.which
        if name not in same or not self._is_watched(Key(name, model, "", "", segment, class_)):
            return
        bound = self._bound(self._rules[name], model, class_)
        if isinstance(bound, str):
            return
        if self._rules[name].limit.kind != "champion" or self._champions.get(model) != resumed.champion:
            raise ValueError(f"{resumed.which} is no comparison with the champion")
        if any(Key(name, model, v, "", segment, class_) not in self._posts for v in resumed.sides):
            raise ValueError(f"a challenger of {resumed.which} is not there")
        comparison = self._comparison(resumed.which, resumed.champion, bound)
        comparison.pairing.sides, comparison.pairing.waiting = resumed.sides, resumed.waiting

    def _spec(self, model: str) -> ModelSpec:
        return self._specs[self._configured(model)]

    def _configured(self, model: str) -> str:
        return model if model in self._specs else "*"
