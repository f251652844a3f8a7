"""From protobuf messages to the engine's values."""

import uuid

import qdrant_edge as edge

from .failure import invalid, unknown, wrong_input


def optional(message, name, default=None):
    return getattr(message, name) if message.HasField(name) else default


def point_id(message):
    kind = message.WhichOneof("point_id_options")
    if kind == "num":
        return message.num
    if kind != "uuid":
        raise invalid("No ID options provided")
    try:
        return str(uuid.UUID(message.uuid))
    except ValueError:
        raise invalid(f"Unable to parse UUID: {message.uuid}") from None


def value(message):
    kind = message.WhichOneof("kind")
    if kind in (None, "null_value"):
        return None
    if kind == "struct_value":
        return payload(message.struct_value.fields)
    if kind == "list_value":
        return [value(item) for item in message.list_value.values]
    return getattr(message, kind)


def payload(fields):
    return {key: value(field) for key, field in fields.items()}


def sparse(indices, values):
    return edge.SparseVector(indices=list(indices), values=list(values))


def vector(message, oneof="vector"):
    """Reads a Vector message, or a VectorInput with oneof="variant"."""
    kind = message.WhichOneof(oneof)
    if kind == "dense":
        return list(message.dense.data)
    if kind == "sparse":
        return sparse(message.sparse.indices, message.sparse.values)
    if kind == "multi_dense":
        return [list(dense.data) for dense in message.multi_dense.vectors]
    if kind:
        raise unknown(f"vector kind {kind}")
    if message.HasField("indices"):
        return sparse(message.indices.data, message.data)  # the deprecated flat form
    return list(message.data)


def vectors(message):
    kind = message.WhichOneof("vectors_options")
    if kind == "vector":
        return vector(message.vector)
    return {name: vector(named) for name, named in message.vectors.vectors.items()} if kind else {}


def bounds(message):
    return {name: getattr(message, name) for name in ("lt", "gt", "gte", "lte") if message.HasField(name)}


def match(message):
    kind = message.WhichOneof("match_value")
    found = getattr(message, kind) if kind else None
    match kind:
        case "keyword" | "integer":
            return edge.MatchValue(found)
        case "boolean":
            raise unknown("match of a boolean: qdrant-edge-py 0.9.0 takes True for 1 and finds nothing")
        case "text":
            return edge.MatchText(found)
        case "phrase":
            return edge.MatchPhrase(found)
        case "text_any":
            return edge.MatchTextAny(found)
        case "keywords":
            return edge.MatchAny(list(found.strings))
        case "integers":
            return edge.MatchAny(list(found.integers))
        case "except_keywords":
            return edge.MatchExcept(list(found.strings))
        case "except_integers":
            return edge.MatchExcept(list(found.integers))
    raise unknown(f"match {kind}")


def field_condition(message):
    parts = {}
    if message.HasField("match"):
        parts["match"] = match(message.match)
    if message.HasField("range"):
        parts["range"] = edge.RangeFloat(**bounds(message.range))
    if message.HasField("datetime_range"):
        times = bounds(message.datetime_range).items()
        parts["range"] = edge.RangeDateTime(**{name: time.ToJsonString() for name, time in times})
    if message.HasField("values_count"):
        parts["values_count"] = edge.ValuesCount(**bounds(message.values_count))
    for name in ("is_empty", "is_null"):
        if message.HasField(name):
            parts[name] = getattr(message, name)
    if not parts:
        raise wrong_input("FieldCondition has no condition the stand-in knows")
    return edge.FieldCondition(key=message.key, **parts)


def condition(message):
    kind = message.WhichOneof("condition_one_of")
    found = getattr(message, kind) if kind else None
    match kind:
        case "field":
            return field_condition(found)
        case "filter":
            return query_filter(found)
        case "is_empty":
            return edge.IsEmptyCondition(found.key)
        case "is_null":
            return edge.IsNullCondition(found.key)
        case "has_id":
            return edge.HasIdCondition({point_id(id) for id in found.has_id})
        case "has_vector":
            return edge.HasVectorCondition(found.has_vector)
        case "nested":
            return edge.NestedCondition(found.key, query_filter(found.filter))
    raise invalid("Malformed Condition type")


def query_filter(message):
    names = ("must", "should", "must_not")
    parts = {name: [condition(part) for part in getattr(message, name)] for name in names if getattr(message, name)}
    if message.HasField("min_should"):
        conditions = [condition(part) for part in message.min_should.conditions]
        parts["min_should"] = edge.MinShould(conditions, message.min_should.min_count)
    return edge.Filter(**parts)


def filter_keys(message, prefix=""):
    """The payload keys that a filter asks for; strict mode wants an index on each."""
    for part in [*message.must, *message.should, *message.must_not, *message.min_should.conditions]:
        kind = part.WhichOneof("condition_one_of")
        if kind in ("field", "is_empty", "is_null"):
            yield prefix + getattr(part, kind).key
        elif kind == "filter":
            yield from filter_keys(part.filter, prefix)
        elif kind == "nested":
            yield from filter_keys(part.nested.filter, f"{prefix}{part.nested.key}[].")


def with_payload(message, default):
    if not message.HasField("with_payload"):
        return default
    selector = message.with_payload
    kind = selector.WhichOneof("selector_options")
    if kind == "include":
        return edge.PayloadSelector.Include(list(selector.include.fields))
    if kind == "exclude":
        return edge.PayloadSelector.Exclude(list(selector.exclude.fields))
    return selector.enable if kind else default


def with_vectors(message):
    if not message.HasField("with_vectors"):
        return False
    selector = message.with_vectors
    named = selector.WhichOneof("selector_options") == "include"
    return list(selector.include.names) if named else selector.enable


def order_by(message):
    if message.HasField("start_from"):
        raise unknown("order_by start_from")
    return edge.OrderBy(message.key, edge.Direction.Desc if message.direction == 1 else edge.Direction.Asc)
