"""The gRPC service of points."""

import qdrant_edge as edge
from qdrant_client import grpc as proto
from qdrant_client.grpc import points_service_pb2_grpc as service

from . import decode, encode
from .call import rpc
from .decode import optional
from .failure import invalid, unknown

FIELD_TYPES = ("Keyword", "Integer", "Float", "Geo", "Text", "Bool", "Datetime", "Uuid")


def facet_value(value):
    if isinstance(value, bool):
        return proto.FacetValue(bool_value=value)
    if isinstance(value, int):
        return proto.FacetValue(integer_value=value)
    return proto.FacetValue(string_value=value)


class Points(service.PointsServicer):
    def __init__(self, store):
        self.store = store

    def at(self, request):
        if "shard_key_selector" in request.DESCRIPTOR.fields_by_name and request.HasField("shard_key_selector"):
            raise unknown("shard keys")
        return self.store.get(request.collection_name)

    # ---- writes

    @rpc
    def Upsert(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.upsert(request.points, request))

    @rpc
    def Delete(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.delete(request.points))

    @rpc
    def SetPayload(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.set_payload(request))

    @rpc
    def OverwritePayload(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.overwrite_payload(request))

    @rpc
    def DeletePayload(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.delete_payload(request))

    @rpc
    def ClearPayload(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.clear_payload(request.points))

    @rpc
    def UpdateVectors(self, request):
        collection = self.at(request)
        return collection.write(request.wait, collection.update_vectors(request.points))

    @rpc
    def UpdateBatch(self, request):
        collection = self.at(request)
        results = [collection.write(request.wait, collection.batched(one)).result for one in request.operations]
        return proto.UpdateBatchResponse(result=results)

    @rpc
    def CreateFieldIndex(self, request):
        collection = self.at(request)
        if not request.HasField("field_type"):
            raise unknown("field index without field_type")
        kind = getattr(edge.PayloadSchemaType, FIELD_TYPES[request.field_type])
        answer = collection.write(request.wait, edge.UpdateOperation.create_field_index(request.field_name, kind))
        collection.add_index(request)
        return answer

    @rpc
    def DeleteFieldIndex(self, request):
        collection = self.at(request)
        collection.remove_index(request.field_name)
        return collection.write(request.wait, edge.UpdateOperation.delete_field_index(request.field_name))

    # ---- reads

    @rpc
    def Get(self, request):
        ids = [decode.point_id(id) for id in request.ids]
        payload, vectors = decode.with_payload(request, False), decode.with_vectors(request)
        found = self.at(request).shard.retrieve(ids, payload, vectors)
        return proto.GetResponse(result=[encode.retrieved(point) for point in found])

    @rpc
    def Query(self, request):
        return proto.QueryResponse(result=self.at(request).query(request))

    @rpc
    def QueryBatch(self, request):
        collection = self.at(request)
        results = [proto.BatchResult(result=collection.query(query)) for query in request.query_points]
        return proto.QueryBatchResponse(result=results)

    @rpc
    def Scroll(self, request):
        collection = self.at(request)
        scroll = edge.ScrollRequest(
            offset=decode.point_id(request.offset) if request.HasField("offset") else None,
            limit=optional(request, "limit", 10),
            filter=collection.filter_of(request),
            with_payload=decode.with_payload(request, False),
            with_vector=decode.with_vectors(request),
            order_by=decode.order_by(request.order_by) if request.HasField("order_by") else None,
        )
        found, after = collection.shard.scroll(scroll)
        next_page = encode.point_id(after) if after is not None else None
        return proto.ScrollResponse(next_page_offset=next_page, result=[encode.retrieved(point) for point in found])

    @rpc
    def Count(self, request):
        collection = self.at(request)
        count = edge.CountRequest(filter=collection.filter_of(request), exact=optional(request, "exact", True))
        return proto.CountResponse(result=proto.CountResult(count=collection.shard.count(count)))

    @rpc
    def Facet(self, request):
        collection = self.at(request)
        if request.key not in collection.indexes:
            raise invalid(f'Bad request: Index required but not found for "{request.key}"')
        limit, chosen = optional(request, "limit", 10), collection.filter_of(request)
        found = collection.shard.facet(edge.FacetRequest(key=request.key, limit=limit, filter=chosen, exact=True))
        hits = [proto.FacetHit(value=facet_value(hit.value), count=hit.count) for hit in found.hits]
        return proto.FacetResponse(hits=hits)
