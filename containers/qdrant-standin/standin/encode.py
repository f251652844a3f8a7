"""From the engine's values to protobuf messages."""

import qdrant_edge as edge
from qdrant_client import grpc as proto


def point_id(id):
    return proto.PointId(num=id) if isinstance(id, int) else proto.PointId(uuid=str(id))


def payload(values):
    return {key: value(found) for key, found in (values or {}).items()}


def value(found):
    if found is None:
        return proto.Value(null_value=0)
    if isinstance(found, bool):
        return proto.Value(bool_value=found)
    if isinstance(found, int):
        return proto.Value(integer_value=found)
    if isinstance(found, float):
        return proto.Value(double_value=found)
    if isinstance(found, str):
        return proto.Value(string_value=found)
    if isinstance(found, dict):
        return proto.Value(struct_value=proto.Struct(fields=payload(found)))
    return proto.Value(list_value=proto.ListValue(values=[value(item) for item in found]))


def vector(found):
    if isinstance(found, edge.SparseVector):
        return proto.VectorOutput(sparse=proto.SparseVector(indices=found.indices, values=found.values))
    if found and isinstance(found[0], (list, tuple)):
        rows = [proto.DenseVector(data=row) for row in found]
        return proto.VectorOutput(multi_dense=proto.MultiDenseVector(vectors=rows))
    return proto.VectorOutput(dense=proto.DenseVector(data=found))


def vectors(found):
    if found is None:
        return None
    if isinstance(found, dict):
        named = {name: vector(one) for name, one in found.items()}
        return proto.VectorsOutput(vectors=proto.NamedVectorsOutput(vectors=named))
    return proto.VectorsOutput(vector=vector(found))


def scored(point):
    return proto.ScoredPoint(
        id=point_id(point.id),
        payload=payload(point.payload),
        score=point.score,
        version=point.version,
        vectors=vectors(point.vector),
    )


def retrieved(point):
    return proto.RetrievedPoint(id=point_id(point.id), payload=payload(point.payload), vectors=vectors(point.vector))
