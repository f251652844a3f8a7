"""Rows of search: the nearest vectors of all, of one owner of ten, and the best messages for a question.

Embedders look texts up, so that only the stores are measured.
"""

import logging

import numpy

HITS = 10
OWNERS = 10
logging.disable(logging.WARNING)


class Table:
    """Vectors by text."""

    def __init__(self, messages, vectors, questions, sought):
        texts = [line["text"] for line in messages] + [line["text"] for line in questions]
        self.rows = dict(zip(texts, [*vectors, *sought]))
        self.lists = {text: row.tolist() for text, row in self.rows.items()}

    def __call__(self, texts):
        return [self.lists[text] for text in texts]


def faiss_flat(messages, vectors, questions, sought):
    import faiss
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda number: index.search(sought[number % len(sought)][None], HITS)[1][0]


def numpy_flat(messages, vectors, questions, sought):
    def call(number):
        scores = vectors @ sought[number % len(sought)]
        best = numpy.argpartition(scores, -HITS)[-HITS:]
        return best[numpy.argsort(-scores[best])]
    return call


def own(messages, owner):
    return numpy.array([line["id"] for line in messages if line["owner"] == owner], dtype="int64")


def faiss_filtered(messages, vectors, questions, sought):
    """IDSelectorArray, the faster of the two: the ids of an owner beside each other in a list."""
    import faiss
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    owners = [own(messages, owner) for owner in range(OWNERS)]

    def call(number):
        selector = faiss.IDSelectorArray(owners[number % OWNERS])
        options = faiss.SearchParameters(sel=selector)
        return index.search(sought[number % len(sought)][None], HITS, params=options)[1][0]
    return call


def simple_store(messages, vectors, filtered):
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores import SimpleVectorStore
    from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery
    store = SimpleVectorStore()
    store.add([TextNode(id_=str(line["id"]), text=line["text"], embedding=vector.tolist(),
                        metadata={"owner": line["owner"]}) for line, vector in zip(messages, vectors)])

    def call(number, vector):
        only = MetadataFilters(filters=[MetadataFilter(key="owner", value=number % OWNERS)]) if filtered else None
        query = VectorStoreQuery(query_embedding=vector, similarity_top_k=HITS, filters=only)
        return [int(each) for each in store.query(query).ids]
    return call


def simple(filtered):
    def make(messages, vectors, questions, sought):
        call, lists = simple_store(messages, vectors, filtered), [row.tolist() for row in sought]
        return lambda number: call(number, lists[number % len(lists)])
    return make


def langgraph(filtered):
    def make(messages, vectors, questions, sought):
        from langgraph.store.base import PutOp
        from langgraph.store.memory import InMemoryStore
        table = Table(messages, vectors, questions, sought)
        store = InMemoryStore(index={"dims": vectors.shape[1], "embed": table, "fields": ["text"]})
        for start in range(0, len(messages), 1_000):
            store.batch([PutOp(("memories", str(line["owner"])), str(line["id"]), {"text": line["text"]})
                         for line in messages[start:start + 1_000]])

        def call(number):
            place = ("memories", str(number % OWNERS)) if filtered else ("memories",)
            found = store.search(place, query=questions[number % len(questions)]["text"], limit=HITS)
            return [int(item.key) for item in found]
        return call
    return make


def langchain(messages, vectors, questions, sought):
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore
    table = Table(messages, vectors, questions, sought)

    class Known(Embeddings):
        def embed_documents(self, texts):
            return table(texts)

        def embed_query(self, text):
            return table([text])[0]

    store = InMemoryVectorStore(Known())
    store.add_texts([line["text"] for line in messages], ids=[str(line["id"]) for line in messages])
    return lambda number: [int(document.id) for document in
                           store.similarity_search(questions[number % len(questions)]["text"], k=HITS)]


def mem0(provider, filtered):
    def make(messages, vectors, questions, sought):
        import tempfile
        import uuid
        from mem0 import Memory
        table, folder = Table(messages, vectors, questions, sought), tempfile.mkdtemp()
        places = {
            "faiss": {"path": f"{folder}/faiss", "collection_name": "peers", "embedding_model_dims": vectors.shape[1],
                      "distance_strategy": "cosine"},
            "qdrant": {"path": f"{folder}/qdrant", "collection_name": "peers", "embedding_model_dims": vectors.shape[1]},
        }
        memory = Memory.from_config({
            "vector_store": {"provider": provider, "config": places[provider]},
            "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": vectors.shape[1]}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": f"{folder}/history.db",
        })

        class Known:
            def embed(self, text, *_):
                return table([text])[0]

        memory.embedding_model = Known()
        # One insert: `add` writes the whole index to the disk each time.
        names = [str(uuid.uuid5(uuid.NAMESPACE_OID, str(line["id"]))) for line in messages]
        numbers = {name: line["id"] for name, line in zip(names, messages)}
        owner = (lambda line: f"owner-{line['owner']}") if filtered else (lambda line: "one")
        for start in range(0, len(messages), 5_000):
            part = slice(start, start + 5_000)
            memory.vector_store.insert(
                vectors=[vector.tolist() for vector in vectors[part]], ids=names[part],
                payloads=[{"data": line["text"], "user_id": owner(line), "hash": str(line["id"]),
                           "created_at": "2026-01-01T00:00:00+00:00"} for line in messages[part]])

        def call(number):
            user = f"owner-{number % OWNERS}" if filtered else "one"
            found = memory.search(questions[number % len(questions)]["text"], filters={"user_id": user}, top_k=HITS,
                                  threshold=0.0)
            return [numbers[hit["id"]] for hit in found["results"]]
        return call
    return make


def bm25(messages, vectors, questions, sought):
    import bm25s
    index = bm25s.BM25()
    index.index(bm25s.tokenize([line["text"] for line in messages], show_progress=False), show_progress=False)

    def call(number):
        words = bm25s.tokenize(questions[number % len(questions)]["text"], show_progress=False)
        return index.retrieve(words, k=HITS, show_progress=False)[0][0]
    return call


FLAT = {"faiss IndexFlatIP": faiss_flat, "numpy": numpy_flat}
FILTERED = {
    "faiss IDSelectorArray": faiss_filtered,
    "llama-index SimpleVectorStore": simple(True),
    "langgraph InMemoryStore": langgraph(True),
    "mem0, FAISS": mem0("faiss", True),
}
WORDS = {"bm25s": bm25}
HYBRID = {
    "llama-index SimpleVectorStore": simple(False),
    "langgraph InMemoryStore": langgraph(False),
    "langchain InMemoryVectorStore": langchain,
    "mem0, Qdrant local": mem0("qdrant", False),
    "mem0, FAISS": mem0("faiss", False),
}
