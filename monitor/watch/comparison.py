"""One metric of all challengers beside that of the champion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np

from monitor.events.batch import Columns
from monitor.watch.detector import Stream
from monitor.watch.matured import Matured
from monitor.watch.measures import Observed
from monitor.watch.pairing import Pairing


class Comparison:
    """Observes the versions of a model and pairs what it observes, in the order of the events."""

    def __init__(self, pairing: Pairing, observe: Callable[[Columns], Observed]) -> None:
        self.pairing = pairing
        self._observe = observe

    def read(self, parts: Mapping[str, Matured]) -> dict[str, Stream]:
        """Take in the next events by version; return observations (own, of the champion) by challenger."""
        if not self.pairing.sides and set(parts) <= {self.pairing.champion}:
            return {}
        streams, identities = [], []
        for events in parts.values():
            observed = self._observe(events.columns)
            streams.append(Stream.of(observed.units, events, observed.events))
            identity = events.identified().marks.identity
            assert identity is not None
            identities.append(identity[observed.events])
        every = Stream(*(np.concatenate(arrays) for arrays in zip(*streams, strict=True)))
        of_version = np.repeat(np.arange(len(parts)), [len(stream.units) for stream in streams])
        order = np.lexsort((every.position, every.timestamp))
        version, timestamp, identity, units = (
            array[order].tolist()
            for array in (of_version, every.timestamp, np.concatenate(identities), every.units[:, 0])
        )
        names = list(parts)
        found: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for i, v, t, id_, x in zip(order.tolist(), version, timestamp, identity, units, strict=True):
            for challenger, own, other in self.pairing.read(names[v], t, id_, x):
                found[challenger].append((i, own, other))
        return {challenger: _paired(every, pairs) for challenger, pairs in found.items()}


def _paired(every: Stream, pairs: list[tuple[int, int, int]]) -> Stream:
    table = np.array(pairs, np.int64)
    at = every.select(table[:, 0])
    return Stream(np.ascontiguousarray(table[:, 1:]), *at[1:])
