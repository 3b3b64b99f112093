"""Random events of every task as columns, and their counts by the oracle."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch

from monitor.events.batch import Columns
from monitor.events.spec import ModelSpec
from monitor.events.vocabulary import MISSING
from monitor.metrics.counts import Counts
from monitor.state.columns import Events, upload
from monitor.state.counting import Counted
from monitor.state.grouping import ALL, Group
from tests.support.counts import make_counts, multilabel_counts

NAMES = ("a", "b", "c", "d")
SPECS = {
    "binary": ModelSpec("m", "binary", NAMES[:2], positive=1, thresholds=(0.5,), segments=("x", "y")),
    "logits": ModelSpec(
        "m", "binary", NAMES[:2], positive=1, scores="logit", temperature=1.5, segments=("x", "y")
    ),
    "multiclass": ModelSpec("m", "multiclass", NAMES, top_k=(1, 2, 3), segments=("x", "y")),
    "multilabel": ModelSpec("m", "multilabel", NAMES[:3], thresholds=(0.5,) * 3, segments=("x", "y")),
    "label logits": ModelSpec(
        "m", "multilabel", NAMES[:3], scores="logit", temperature=0.7, segments=("x", "y")
    ),
}


@dataclass(frozen=True)
class Mix:
    """How random events are: shares of those without, and decimals of the probabilities."""

    unlabeled: float = 0.15
    unscored: float = 0.15
    decimals: int = 2
    keys: int = 2


def random_columns(spec: ModelSpec, n: int, seed: int, mix: Mix = Mix()) -> Columns:
    """Return n events in order; scores have many ties."""
    rng = np.random.default_rng(seed)
    c, r = len(spec.classes), len(spec.scored)
    unlabeled = rng.random(n) < mix.unlabeled
    if spec.task == "multilabel":
        label = (rng.random((n, c)) < 0.4).astype(np.int8)
        decision = (rng.random((n, c + 1)) < 0.3).astype(np.int8)
    else:
        label = rng.integers(0, c, n).astype(np.int16)
        decision = rng.integers(-1, c, n).astype(np.int16)
    label[unlabeled] = -1
    p = rng.dirichlet(np.ones(r), n) if spec.task == "multiclass" else rng.random((n, r))
    score = p.round(mix.decimals)
    if spec.raw_logits:
        score = (12 * score - 6).round(1)
    score = score.astype(np.float32)
    score[rng.random(n) < mix.unscored] = np.nan
    return Columns(
        timestamp=np.arange(n, dtype=np.int64),
        position=np.arange(n, dtype=np.int64),
        label=label,
        decision=decision,
        score=score,
        segments=rng.integers(0, 3, (n, mix.keys)).astype(np.int16),
    )


def random_events(spec: ModelSpec, n: int, seed: int, device: torch.device, mix: Mix = Mix()) -> Events:
    """Return the same on a device."""
    return upload(random_columns(spec, n, seed, mix), device)


def groups_of(events: Events) -> list[Group]:
    """Return the groups that occur in the events, in order."""
    segments = events.segments.cpu().numpy()
    found = {(k, int(c)) for k in range(segments.shape[1]) for c in segments[:, k] if c != MISSING}
    return [ALL, *sorted(found)]


def oracle(spec: ModelSpec, events: Events, group: Group = ALL) -> Counts:
    """Return the counts of one group by plain numpy."""
    label, decision, score, segments = (
        getattr(events, name).cpu().numpy() for name in ("label", "decision", "score", "segments")
    )
    chosen = np.ones(len(events), bool) if group == ALL else segments[:, group[0]] == group[1]
    label, decision, score = label[chosen], decision[chosen], score[chosen].astype(np.float64)
    if spec.raw_logits:
        score = 1 / (1 + np.exp(-score / spec.temperature))
    if spec.task == "multilabel":
        return multilabel_counts(label, score, decision)
    return make_counts(label, score, decision, n_classes=len(spec.classes), top_k=spec.top_k, task=spec.task)


SUMS = tuple(
    f.name
    for f in fields(Counts)
    if not f.name.startswith(
        ("positives", "negatives", "older", "micro", "threshold", "probability", "exact")
    )
)


def assert_counted(counted: Counted, number: int, expected: Counts, *, halves: bool) -> None:
    """Hold a case against the oracle: sums are equal, groups are once those without events are left out."""
    for name in SUMS:
        got = getattr(counted.tally, name)[number].cpu()
        assert got.dtype == torch.int64, name
        assert torch.equal(got, getattr(expected, name)[0].to(torch.int64)), (
            name,
            got,
            getattr(expected, name),
        )
    got = _groups(counted.scores, number, halves=halves)
    assert got == _groups(expected, 0, halves=halves)
    assert counted.scores.exact[number].all()
    micro = [_micro(counts, of) for counts, of in ((counted.scores, number), (expected, 0))]
    assert micro[0] == micro[1]
    for name in ("threshold", "probability"):
        values = getattr(counted.scores, name)[number]
        assert values.dtype == torch.float64
        assert ((values >= 0) & (values <= 1)).all()


def _groups(counts, number: int, *, halves: bool) -> list[list[tuple[float, ...]]]:
    names = ["positives", "negatives", "threshold", "probability"]
    names += ["older_positives", "older_negatives"] if halves else []
    columns = [getattr(counts, name)[number].double().round(decimals=12).tolist() for name in names]
    rows = [list(zip(*row, strict=True)) for row in zip(*columns, strict=True)]
    return [[group for group in row if group[0] + group[1]] for row in rows]


def _micro(counts, number: int) -> list[tuple[int, int]]:
    sides = counts.micro_positives[number].tolist(), counts.micro_negatives[number].tolist()
    return [group for group in zip(*sides, strict=True) if sum(group)]
