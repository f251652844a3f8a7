"""A collection: one engine shard, the request that made it, and its field indexes."""

import base64
import concurrent.futures
import json
import os
import threading
import time

import qdrant_edge as edge
from qdrant_client import grpc as proto

from . import decode
from .failure import invalid, unknown, wrong_input
from .query import Query

# How late a write without `wait` is applied: a client that forgets to wait finds nothing.
LAG = float(os.environ.get("STANDIN_LAG_MS", "20")) / 1000
ACKNOWLEDGED, COMPLETED = 1, 2
DISTANCES = {1: edge.Distance.Cosine, 2: edge.Distance.Euclid, 3: edge.Distance.Dot, 4: edge.Distance.Manhattan}
Update = edge.UpdateOperation


def write_json(path, data):
    """Replaces a file as a whole."""
    with open(path + ".new", "w") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def dense_params(message):
    if message.size == 0:
        reason = "value 0 invalid, must be 1 or larger"
        raise invalid(f"Validation error in body: [vectors_config.size: {reason}]")
    multi = None
    if message.HasField("multivector_config"):
        multi = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    return edge.EdgeVectorParams(size=message.size, distance=DISTANCES[message.distance], multivector_config=multi)


def engine_config(create):
    kind = create.vectors_config.WhichOneof("config")
    vectors = None
    if kind == "params":
        vectors = dense_params(create.vectors_config.params)
    elif kind:
        named = create.vectors_config.params_map.map.items()
        vectors = {name: dense_params(params) for name, params in named}
    sparse = {
        name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.modifier == 1 else None)
        for name, params in create.sparse_vectors_config.map.items()
    }
    return edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse or None)


def encoded(message):
    return base64.b64encode(message.SerializeToString()).decode()


class Collection:
    def __init__(self, path, create, indexes=()):
        self.path, self.create = path, create
        self.indexes = {index.field_name: index for index in indexes}
        self.operation, self.lock, self.shard = 0, threading.Lock(), None
        self.changing = threading.RLock()  # held while what meta.json holds is changed
        # Writes are applied one by one, in the order in which they came.
        self.worker = concurrent.futures.ThreadPoolExecutor(1)

    @classmethod
    def new(cls, path, create):
        collection = cls(path, create)
        collection.shard = edge.EdgeShard.create(os.path.join(path, "shard"), engine_config(create))
        collection.save()
        return collection

    @classmethod
    def load(cls, path):
        with open(os.path.join(path, "meta.json")) as file:
            meta = json.load(file)
        create = proto.CreateCollection.FromString(base64.b64decode(meta["create"]))
        indexes = [proto.CreateFieldIndexCollection.FromString(base64.b64decode(index)) for index in meta["indexes"]]
        collection = cls(path, create, indexes)
        collection.shard = edge.EdgeShard.load(os.path.join(path, "shard"))
        return collection

    def save(self):
        with self.changing:
            meta = {"create": encoded(self.create), "indexes": [encoded(index) for index in self.indexes.values()]}
            write_json(os.path.join(self.path, "meta.json"), meta)

    def add_index(self, request):
        with self.changing:
            self.indexes[request.field_name] = request
            self.save()

    def remove_index(self, name):
        with self.changing:
            self.indexes.pop(name, None)
            self.save()

    def change(self, request):
        with self.changing:
            for key, value in request.metadata.items():
                self.create.metadata[key].CopyFrom(value)
            if request.HasField("strict_mode_config"):
                self.create.strict_mode_config.MergeFrom(request.strict_mode_config)
            self.save()

    def close(self):
        self.worker.shutdown()
        self.shard.close()

    def write(self, wait, operation):
        began = time.time()
        with self.lock:
            self.operation += 1
            number, done = self.operation, self.worker.submit(self.apply, wait, operation)
        if wait:
            done.result()
        status = COMPLETED if wait else ACKNOWLEDGED
        result = proto.UpdateResult(operation_id=number, status=status)
        return proto.PointsOperationResponse(result=result, time=time.time() - began)

    def apply(self, wait, operation):
        if not wait:
            time.sleep(LAG)
        try:
            self.shard.update(operation)
        except Exception as error:
            if wait:
                raise
            # Nobody hears of it: the client has its acknowledgement.
            print(f"a write without wait failed: {error}", flush=True)

    def query(self, message):
        return Query(self, message).answer()

    # ---- filters

    def check_indexes(self, message, setting):
        """Refuses what strict mode refuses: a filter over a key without an index."""
        strict = self.create.strict_mode_config
        if not strict.enabled or getattr(strict, setting) or not strict.HasField(setting):
            return
        for key in decode.filter_keys(message):
            if key not in self.indexes:
                help = "Help: Create an index for this key or use a different filter."
                raise invalid(f'Bad request: Index required but not found for "{key}". {help}')

    def filter_of(self, message, name="filter", setting="unindexed_filtering_retrieve"):
        if not message.HasField(name):
            return None
        self.check_indexes(getattr(message, name), setting)
        return decode.query_filter(getattr(message, name))

    def selected(self, selector):
        """Returns (ids, None) or (None, filter)."""
        kind = selector.WhichOneof("points_selector_one_of")
        if kind == "points":
            return [decode.point_id(id) for id in selector.points.ids], None
        if kind == "filter":
            return None, self.filter_of(selector, "filter", "unindexed_filtering_update")
        raise invalid("PointsSelector is empty")

    # ---- write operations, shared by the single calls and UpdateBatch

    def by(self, selector, of_ids, of_filter, *arguments, **named):
        ids, chosen = self.selected(selector)
        return of_ids(ids, *arguments, **named) if chosen is None else of_filter(chosen, *arguments, **named)

    def upsert(self, points, message):
        if not points:
            raise wrong_input("Empty update request")
        modes = {1: edge.UpdateMode.InsertOnly, 2: edge.UpdateMode.UpdateOnly}
        mode = modes.get(decode.optional(message, "update_mode", 0))
        decoded = [(decode.point_id(p.id), decode.vectors(p.vectors), decode.payload(p.payload)) for p in points]
        for _, vectors, _ in decoded:
            self.check_dimension(vectors)
        condition = self.filter_of(message, "update_filter", "unindexed_filtering_update")
        return Update.upsert_points([edge.Point(*point) for point in decoded], condition=condition, update_mode=mode)

    def check_dimension(self, vectors):
        """Refuses a batch with a wrong vector as a whole, as a server does; the engine would store a part of it."""
        if self.create.vectors_config.WhichOneof("config") != "params" or isinstance(vectors, dict):
            return
        size = self.create.vectors_config.params.size
        is_multi = bool(vectors) and isinstance(vectors[0], list)
        for row in vectors if is_multi else [vectors]:
            if len(row) != size:
                raise wrong_input(f"Vector dimension error: expected dim: {size}, got {len(row)}")

    def delete(self, selector):
        return self.by(selector, Update.delete_points, Update.delete_points_by_filter)

    def set_payload(self, message):
        payload, key = decode.payload(message.payload), decode.optional(message, "key")
        calls = (Update.set_payload, Update.set_payload_by_filter)
        return self.by(message.points_selector, *calls, payload, key=key)

    def overwrite_payload(self, message):
        payload, key = decode.payload(message.payload), decode.optional(message, "key")
        calls = (Update.overwrite_payload, Update.overwrite_payload_by_filter)
        return self.by(message.points_selector, *calls, payload, key=key)

    def delete_payload(self, message):
        calls = (Update.delete_payload, Update.delete_payload_by_filter)
        return self.by(message.points_selector, *calls, list(message.keys))

    def clear_payload(self, selector):
        return self.by(selector, Update.clear_payload, Update.clear_payload_by_filter)

    def update_vectors(self, points):
        changed = [edge.PointVectors(decode.point_id(p.id), decode.vectors(p.vectors)) for p in points]
        return Update.update_vectors(changed)

    def batched(self, message):
        """Returns the engine's operation for one operation of an UpdateBatch."""
        kind = message.WhichOneof("operation")
        found = getattr(message, kind) if kind else None
        match kind:
            case "upsert":
                return self.upsert(found.points, found)
            case "delete_points":
                return self.delete(found.points)
            case "clear_payload":
                return self.clear_payload(found.points)
            case "set_payload":
                return self.set_payload(found)
            case "overwrite_payload":
                return self.overwrite_payload(found)
            case "delete_payload":
                return self.delete_payload(found)
            case "update_vectors":
                return self.update_vectors(found.points)
        raise unknown(f"batch operation {kind}")
