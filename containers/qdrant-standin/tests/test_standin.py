"""Tests of what the adapter's tests rely on, against the stand-in in this process, without docker.

`PYTHONPATH=site python3 -m unittest` in the folder above, with the packages of requirements.txt in `site` or installed.
"""

import concurrent.futures
import tempfile
import unittest
import uuid

import grpc
from qdrant_client import grpc as proto
from qdrant_client.grpc import collections_service_pb2_grpc as collections_grpc
from qdrant_client.grpc import points_service_pb2_grpc as points_grpc
from qdrant_client.grpc import qdrant_pb2_grpc as health_grpc

from standin.server import serve_grpc
from standin.store import Store

ONE = str(uuid.UUID(int=1))
TWO = str(uuid.UUID(int=2))
COMPLETED, ACKNOWLEDGED = 2, 1


def number(value):
    return proto.Value(integer_value=value)


def is_at_most(key, bound):
    return proto.Condition(field=proto.FieldCondition(key=key, range=proto.Range(lte=bound)))


def point(id, rows, **payload):
    dense = [proto.DenseVector(data=row) for row in rows]
    vector = proto.Vector(multi_dense=proto.MultiDenseVector(vectors=dense))
    return proto.PointStruct(id=proto.PointId(uuid=id), vectors=proto.Vectors(vector=vector), payload=payload)


class StandIn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.start()
        multi = proto.MultiVectorConfig(comparator=proto.MultiVectorComparator.MaxSim)
        params = proto.VectorParams(size=2, distance=proto.Distance.Cosine, multivector_config=multi)
        strict = proto.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False)
        config = proto.VectorsConfig(params=params)
        create = proto.CreateCollection(collection_name="c", vectors_config=config, strict_mode_config=strict)
        self.collections.Create(create)
        index = proto.CreateFieldIndexCollection(
            collection_name="c", field_name="version", field_type=proto.FieldType.FieldTypeInteger, wait=True
        )
        self.points.CreateFieldIndex(index)

    def start(self):
        self.store = Store(self.folder)
        self.server, port = serve_grpc(self.store, "127.0.0.1:0")
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.collections = collections_grpc.CollectionsStub(self.channel)
        self.points = points_grpc.PointsStub(self.channel)
        self.health = health_grpc.QdrantStub(self.channel)

    def stop(self):
        self.channel.close()
        self.server.stop(None).wait()
        self.store.close()

    def tearDown(self):
        self.stop()

    def upsert(self, points, headers=(), **options):
        request = proto.UpsertPoints(collection_name="c", wait=True, points=points)
        request.MergeFrom(proto.UpsertPoints(**options))
        return self.points.Upsert(request, metadata=headers).result.status

    def found(self, filter=None, sought=(1.0, 0.0)):
        dense = proto.DenseVector(data=sought)
        query = proto.Query(nearest=proto.VectorInput(dense=dense))
        request = proto.QueryPoints(collection_name="c", query=query, filter=filter, limit=10)
        return [(hit.id.uuid, round(hit.score, 3)) for hit in self.points.Query(request).result]

    def code_of(self, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        return raised.exception.code()

    def test_says_what_it_is(self):
        reply = self.health.HealthCheck(proto.HealthCheckRequest())
        self.assertIn("stand-in", reply.title)
        self.assertTrue(reply.version.endswith("-standin"))

    def test_scores_an_item_by_its_nearest_piece(self):
        self.upsert([point(ONE, [[0.0, 1.0], [1.0, 0.0]]), point(TWO, [[0.6, 0.8]])])
        self.assertEqual(self.found(), [(ONE, 1.0), (TWO, 0.6)])

    def test_an_update_filter_spares_what_does_not_match_and_lets_new_points_in(self):
        self.upsert([point(ONE, [[1.0, 0.0]], version=number(5))])
        older = [point(ONE, [[0.0, 1.0]], version=number(4)), point(TWO, [[0.0, 1.0]], version=number(4))]
        status = self.upsert(older, update_filter=proto.Filter(must=[is_at_most("version", 4)]))
        self.assertEqual(status, COMPLETED)
        self.assertEqual(self.found(), [(ONE, 1.0), (TWO, 0.0)])

    def test_a_batch_with_one_wrong_vector_stores_nothing(self):
        points = [point(ONE, [[1.0, 0.0]]), point(TWO, [[1.0, 0.0, 0.0]])]
        self.assertEqual(self.code_of(lambda: self.upsert(points)), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(self.found(), [])

    def test_strict_mode_refuses_filters_over_keys_without_an_index(self):
        self.found(proto.Filter(must=[is_at_most("version", 1)]))
        other = proto.Filter(must=[is_at_most("other", 1)])
        self.assertEqual(self.code_of(lambda: self.found(other)), grpc.StatusCode.INVALID_ARGUMENT)

    def test_a_write_without_wait_is_acknowledged_and_not_yet_visible(self):
        request = proto.UpsertPoints(collection_name="c", wait=False, points=[point(ONE, [[1.0, 0.0]])])
        self.assertEqual(self.points.Upsert(request).result.status, ACKNOWLEDGED)
        self.assertEqual(self.found(), [])

    def test_collections_indexes_and_points_come_back_after_a_restart(self):
        self.upsert([point(ONE, [[1.0, 0.0]], version=number(5))])
        self.stop()
        self.start()
        self.assertEqual(self.found(proto.Filter(must=[is_at_most("version", 5)])), [(ONE, 1.0)])
        info = self.collections.Get(proto.GetCollectionInfoRequest(collection_name="c")).result
        self.assertEqual(list(info.payload_schema), ["version"])

    def test_one_index_made_by_many_at_once_is_made(self):
        def make(_):
            kind = proto.FieldType.FieldTypeKeyword
            request = proto.CreateFieldIndexCollection(collection_name="c", field_name="owner", field_type=kind, wait=True)
            return self.points.CreateFieldIndex(request).result.status

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(set(pool.map(make, range(64))), {COMPLETED})

    def test_headers_ask_for_faults(self):
        one, two = point(ONE, [[1.0, 0.0]]), point(TWO, [[0.0, 1.0]])
        failed = self.code_of(lambda: self.upsert([one], [("x-standin-fail", "RESOURCE_EXHAUSTED:7")]))
        self.assertEqual(failed, grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(self.found(), [])
        failed = self.code_of(lambda: self.upsert([one, two], [("x-standin-partial", "1")]))
        self.assertEqual(failed, grpc.StatusCode.INTERNAL)
        self.assertEqual(self.found(), [(ONE, 1.0)])
        self.assertEqual(self.upsert([two], [("x-standin-status", "1")]), ACKNOWLEDGED)

    def test_what_it_does_not_know_is_unimplemented(self):
        request = proto.QueryPointGroups(collection_name="c", group_by="version")
        self.assertEqual(self.code_of(lambda: self.points.QueryGroups(request)), grpc.StatusCode.UNIMPLEMENTED)


if __name__ == "__main__":
    unittest.main()
