"""Makes the static table of memory-models: one vector for each word piece, learnt from all-MiniLM-L6-v2 over neutral text.

    make.py MODEL.onnx TOKENIZER.json TEXTS_FOLDER OUT

The recipe is that of Model2Vec (MinishLab/model2vec, MIT): the model's output for each piece alone, fewer numbers by PCA,
weights by frequency. Then the rows learn: the mean of the rows of a sentence is moved towards the model's vector of it.
The same inputs give the same bytes on one machine. Another processor may sum in another order.
"""

import hashlib
import struct
import sys

import numpy as np
from scipy.sparse import csr_matrix

from teacher import Teacher
from texts import sentences

NUMBERS, PASSES, STEP, BATCH = 256, 12, 0.02, 512
FREQUENT = 1e-4


def alone(teacher):
    """The model's output for each piece alone: [V, 384]."""
    size = teacher.tokenizer.get_vocab_size()
    return np.concatenate([teacher.means([[piece] for piece in range(first, min(first + 256, size))]) for first in range(0, size, 256)])


def axes_of(vectors):
    """The directions in which sentences differ most: [numbers, 384]."""
    sample = np.random.RandomState(0).permutation(len(vectors))[:20_000]
    return np.linalg.svd((vectors - vectors.mean(0))[sample], full_matrices=False)[2][:NUMBERS]


def goals_of(vectors, axes):
    """The sentences' vectors along the axes, of length 1."""
    fewer = (vectors - vectors.mean(0)) @ axes.T
    return fewer / np.linalg.norm(fewer, axis=1, keepdims=True)


def rows_of(vectors, axes):
    """The pieces' vectors along the axes, rare ones longer: the number of a piece is its place by frequency."""
    size = len(vectors)
    frequency = 1 / ((np.arange(size) + 2) * np.log(1.78 * size))
    return ((vectors - vectors.mean(0)) @ axes.T * (FREQUENT / (FREQUENT + frequency))[:, None]).astype("f4")


def fit(rows, pieces_of, goals):
    """Moves the rows so that the mean of the rows of sentence i points along goals[i]. Steps shrink to 0 over the passes."""
    rows, second = rows / np.abs(rows).std(), np.zeros(len(rows), "f4")
    length = np.array([len(pieces) for pieces in pieces_of])
    share = np.repeat(1 / np.maximum(length, 1), length).astype("f4")
    starts = np.r_[0, np.cumsum(length)]
    means = csr_matrix((share, np.concatenate(pieces_of).astype(int), starts), shape=(len(length), len(rows)))
    some_pieces, random = np.flatnonzero(length), np.random.RandomState(1)
    for done in range(PASSES):
        order, lost = random.permutation(some_pieces), []
        for first in range(0, len(order), BATCH):
            some = order[first:first + BATCH]
            of = means[some]
            used = np.unique(of.indices)
            of = of[:, used]
            mean = of @ rows[used]
            size = np.linalg.norm(mean, axis=1, keepdims=True) + 1e-6
            unit = mean / size
            cosine = (unit * goals[some]).sum(1, keepdims=True)
            lost.append(1 - cosine.mean())
            move = of.T @ (-(goals[some] - cosine * unit) / size)
            second[used] = 0.95 * second[used] + 0.05 * (move**2).mean(1)
            rows[used] -= STEP * (1 - done / PASSES) * move / (np.sqrt(second[used])[:, None] + 1e-8)
        print(f"pass {done + 1}: loss {np.mean(lost):.4f}", flush=True)
    return rows


def is_known(piece, is_touched):
    """Whether a piece gets a row: if a sentence has it, or it is of plain letters, whose first direction says enough."""
    return is_touched or piece.removeprefix("##").isascii()


def pack(rows, pieces, touched):
    """Returns the file: pieces with rows first, 8 bits a number with one scale a row. See memory-models/src/table/file.rs."""
    usual = [place for place, piece in enumerate(pieces) if not (piece.startswith("[") and piece.endswith("]") and len(piece) > 2)]
    known = [place for place in usual if is_known(pieces[place], touched[place])]
    others = sorted(set(usual) - set(known))
    scales = np.abs(rows[known]).max(1).clip(1e-9) / 127
    eighths = np.round(rows[known] / scales[:, None]).astype("i1")
    vocabulary = "\n".join(pieces[place] for place in known + others).encode()
    body = struct.pack("<II", len(known), rows.shape[1]) + scales.astype("<f4").tobytes() + eighths.tobytes() + vocabulary
    return b"MEMTABL1" + hashlib.sha256(body).hexdigest()[:12].encode() + body


def main():
    model, tokenizer, folder, out = sys.argv[1:]
    teacher, texts = Teacher(model, tokenizer), sentences(folder)
    pieces_of = teacher.pieces(texts)
    print(f"{len(texts)} sentences", flush=True)
    vectors = teacher.vectors(pieces_of)
    axes = axes_of(vectors)
    rows = fit(rows_of(alone(teacher), axes), pieces_of, goals_of(vectors, axes))
    touched = np.zeros(len(rows), bool)
    touched[np.concatenate(pieces_of).astype(int)] = True
    names = sorted(teacher.tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    with open(out, "wb") as file:
        file.write(pack(rows, [name for name, _ in names], touched))


if __name__ == "__main__":
    main()
