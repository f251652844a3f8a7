"""Makes what both sides read: a conversation of our own words, clustered unit vectors, questions. Same seed, same bytes.

usage: data.py FOLDER N
Writes FOLDER/N/{messages.jsonl,vectors.f32,questions.jsonl,questions.f32}; does nothing if they are there.
"""

import json
import re
import sys
from pathlib import Path

import numpy

DIMENSION = 384
CLUSTERS = 200
QUESTIONS = 64
OWNERS = 10
SEED = 7


def vocabulary(random, count):
    """Words: three in four of one token each, frequent ones first, the others invented."""
    import window
    table = window.encoding()
    known = []
    for number in range(table.n_vocab):
        try:
            word = table.decode_single_token_bytes(number).decode("ascii")
        except (KeyError, UnicodeDecodeError):
            continue
        if re.fullmatch(" [a-z]{2,12}", word):
            known.append(word[1:])
    syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "er", "il", "or", "um")]
    invented = ["".join(random.choice(syllables, random.integers(2, 5))) for _ in range(count)]
    return numpy.array([invented[place] if place % 4 == 3 else known[place] for place in range(count)])


def vectors(random, centres, count):
    """Unit vectors around the centres."""
    drawn = centres[random.integers(0, len(centres), count)] + 0.6 * random.standard_normal(
        (count, DIMENSION), dtype=numpy.float32) / numpy.sqrt(DIMENSION)
    return (drawn / numpy.linalg.norm(drawn, axis=1, keepdims=True)).astype("<f4")


def make(folder, count):
    random = numpy.random.default_rng(SEED)
    words = vocabulary(random, 12_000)
    # As in real text: few words make up most of it.
    weights = 1.0 / numpy.arange(2, len(words) + 2)
    weights /= weights.sum()
    centres = random.standard_normal((CLUSTERS, DIMENSION), dtype=numpy.float32)
    centres /= numpy.linalg.norm(centres, axis=1, keepdims=True)
    # A mean of 278 bytes, as ordinary chat has.
    lengths = numpy.clip(random.lognormal(3.3, 0.7, count).astype(int), 3, 170)
    with open(folder / "messages.jsonl", "w", encoding="utf-8") as out:
        for number, length in enumerate(lengths):
            text = " ".join(random.choice(words, length, p=weights)) + f" n{number}"
            role = "assistant" if number % 2 else "user"
            out.write(json.dumps({"id": number, "owner": number % OWNERS, "role": role, "text": text}) + "\n")
    vectors(random, centres, count).tofile(folder / "vectors.f32")
    with open(folder / "questions.jsonl", "w", encoding="utf-8") as out:
        for number in range(QUESTIONS):
            # Neither the most frequent words nor the rarest.
            text = " ".join(random.choice(words[20:2_000], 8)) + f" q{number}"
            out.write(json.dumps({"id": number, "text": text}) + "\n")
    vectors(random, centres, QUESTIONS).tofile(folder / "questions.f32")


def read(folder):
    """Returns messages, their vectors, questions, their vectors."""
    def lines(name):
        with open(folder / name, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def rows(name):
        return numpy.fromfile(folder / name, dtype="<f4").reshape(-1, DIMENSION)

    return lines("messages.jsonl"), rows("vectors.f32"), lines("questions.jsonl"), rows("questions.f32")


if __name__ == "__main__":
    target = Path(sys.argv[1]) / sys.argv[2]
    if not (target / "questions.f32").exists():
        target.mkdir(parents=True, exist_ok=True)
        make(target, int(sys.argv[2]))
