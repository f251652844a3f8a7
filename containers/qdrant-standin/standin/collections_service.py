"""The gRPC service of collections and aliases."""

from qdrant_client import grpc as proto
from qdrant_client.grpc import collections_service_pb2_grpc as service

from .call import rpc


def describe(collection):
    """Returns the CollectionInfo of a collection. The official Python client insists on optimizers and WAL."""
    create, info = collection.create, collection.shard.info()
    hnsw = proto.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10000)
    hnsw.MergeFrom(create.hnsw_config)
    schema = {}
    for key, index in collection.indexes.items():
        params = index.field_index_params if index.HasField("field_index_params") else None
        schema[key] = proto.PayloadSchemaInfo(data_type=index.field_type + 1, params=params)
    params = proto.CollectionParams(
        shard_number=1,
        vectors_config=create.vectors_config,
        sparse_vectors_config=create.sparse_vectors_config,
        on_disk_payload=create.on_disk_payload,
    )
    config = proto.CollectionConfig(
        params=params,
        hnsw_config=hnsw,
        optimizer_config=proto.OptimizersConfigDiff(
            deleted_threshold=0.2,
            vacuum_min_vector_number=1000,
            default_segment_number=0,
            flush_interval_sec=5,
            indexing_threshold=20000,
        ),
        wal_config=proto.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
        metadata=create.metadata,
        strict_mode_config=create.strict_mode_config if create.HasField("strict_mode_config") else None,
    )
    return proto.CollectionInfo(
        status=1,
        optimizer_status=proto.OptimizerStatus(ok=True),
        segments_count=info.segments_count,
        points_count=info.points_count,
        indexed_vectors_count=info.indexed_vectors_count,
        payload_schema=schema,
        config=config,
    )


class Collections(service.CollectionsServicer):
    def __init__(self, store):
        self.store = store

    @rpc
    def Create(self, request):
        self.store.create(request)
        return proto.CollectionOperationResponse(result=True)

    @rpc
    def Delete(self, request):
        return proto.CollectionOperationResponse(result=self.store.delete(request.collection_name))

    @rpc
    def List(self, request):
        names = list(self.store.collections)
        return proto.ListCollectionsResponse(collections=[proto.CollectionDescription(name=name) for name in names])

    @rpc
    def CollectionExists(self, request):
        exists = self.store.exists(request.collection_name)
        return proto.CollectionExistsResponse(result=proto.CollectionExists(exists=exists))

    @rpc
    def Get(self, request):
        return proto.GetCollectionInfoResponse(result=describe(self.store.get(request.collection_name)))

    @rpc
    def Update(self, request):
        self.store.get(request.collection_name).change(request)
        return proto.CollectionOperationResponse(result=True)

    @rpc
    def UpdateAliases(self, request):
        self.store.change_aliases(request.actions)
        return proto.CollectionOperationResponse(result=True)

    @rpc
    def ListAliases(self, request):
        aliases = self.store.aliases.items()
        found = [proto.AliasDescription(alias_name=alias, collection_name=name) for alias, name in aliases]
        return proto.ListAliasesResponse(aliases=found)
