"""The query API: nearest, MMR, fusion, order, with prefetches."""

import qdrant_edge as edge

from . import decode, encode
from .decode import optional
from .failure import invalid, missing, unknown


class Query:
    """One query of a collection."""

    def __init__(self, collection, message):
        self.collection, self.message = collection, message
        self.skipped = []  # points that the query names: none is a neighbour of itself

    def answer(self):
        message = self.message
        limit = optional(message, "limit", 10)
        if limit == 0:
            raise invalid("Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
        prefetches = [self.prefetch(part) for part in message.prefetch]
        scoring, chosen = self.scoring(message), self.collection.filter_of(message)
        if self.skipped:
            others = [edge.HasIdCondition(set(self.skipped))]
            chosen = edge.Filter(must=[chosen] if chosen else [], must_not=others)
        request = edge.QueryRequest(
            limit=limit,
            offset=optional(message, "offset", 0),
            query=scoring,
            prefetches=prefetches,
            with_vector=decode.with_vectors(message),
            with_payload=decode.with_payload(message, False),
            filter=chosen,
            score_threshold=optional(message, "score_threshold"),
            params=self.params(message),
        )
        return [encode.scored(point) for point in self.collection.shard.query(request)]

    def nearest(self, message, using):
        if message.WhichOneof("variant") != "id":
            return decode.vector(message, "variant")
        id = decode.point_id(message.id)
        self.skipped.append(id)
        found = self.collection.shard.retrieve([id], False, True)
        if not found:
            raise missing(f"No point with id {id} found")
        vector = found[0].vector
        return vector[using] if isinstance(vector, dict) else vector

    def scoring(self, message):
        if not message.HasField("query"):
            return None
        kind, using = message.query.WhichOneof("variant"), optional(message, "using")
        if kind == "nearest":
            return edge.Query.Nearest(self.nearest(message.query.nearest, using or ""), using=using)
        if kind == "nearest_with_mmr":
            mmr = message.query.nearest_with_mmr
            candidates = optional(mmr.mmr, "candidates_limit", optional(message, "limit", 10))
            relevance = 1 - optional(mmr.mmr, "diversity", 0.5)
            return edge.Mmr(self.nearest(mmr.nearest, using or ""), relevance, candidates, using=using)
        if kind == "fusion":
            return edge.Fusion.Rrf(2) if message.query.fusion == 0 else edge.Fusion.Dbsf()
        if kind == "rrf" and not message.query.rrf.weights:
            return edge.Fusion.Rrf(optional(message.query.rrf, "k", 2))
        if kind == "order_by":
            return decode.order_by(message.query.order_by)
        raise unknown(f"query {kind}")

    def params(self, message):
        if not message.HasField("params"):
            return None
        return edge.SearchParams(hnsw_ef=optional(message.params, "hnsw_ef"), exact=message.params.exact)

    def prefetch(self, message):
        return edge.Prefetch(
            limit=optional(message, "limit", 10),
            query=self.scoring(message),
            prefetches=[self.prefetch(part) for part in message.prefetch],
            params=self.params(message),
            filter=self.collection.filter_of(message),
            score_threshold=optional(message, "score_threshold"),
        )
