"""Makes what both sides read: a conversation of our own words, questions, and a vector of each. Same seed, same bytes.

A text's vector is the mean of its words', so that what is near by meaning shares words, as it does in real text.

usage: data.py FOLDER N
Writes FOLDER/N/{messages,questions}.{jsonl,f32}; does nothing if they are there.
"""

import json
import re
import sys
from pathlib import Path

import numpy

DIMENSION = 384
QUESTIONS = 64
OWNERS = 10
SEED = 7
# So many messages are about one topic, which is so many words; every other word is one of them.
TALK = 200
TOPIC = 12


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


def mean(meanings, chosen):
    """The unit vector of a text of these words."""
    vector = meanings[chosen].sum(axis=0)
    return vector / numpy.linalg.norm(vector)


def write(folder, name, lines, vectors):
    with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    numpy.array(vectors, dtype="<f4").tofile(folder / f"{name}.f32")


def make(folder, count):
    random = numpy.random.default_rng(SEED)
    words = vocabulary(random, 12_000)
    # As in real text: few words make up most of it.
    weights = 1.0 / numpy.arange(2, len(words) + 2)
    weights /= weights.sum()
    meanings = random.standard_normal((len(words), DIMENSION), dtype=numpy.float32)
    meanings /= numpy.linalg.norm(meanings, axis=1, keepdims=True)
    # Neither the most frequent words nor the rarest.
    topics = random.integers(20, 4_000, (-(-count // TALK), TOPIC))
    # A mean of 278 bytes, as ordinary chat has.
    lengths = numpy.clip(random.lognormal(3.53, 0.7, count).astype(int), 3, 170)
    total = lengths.sum()
    of_topic = topics[numpy.repeat(numpy.arange(count) // TALK, lengths), random.integers(0, TOPIC, total)]
    others = random.choice(len(words), total, p=weights)
    all_chosen = numpy.where(random.random(total) < 0.5, of_topic, others)
    lines, vectors = [], []
    for number, chosen in enumerate(numpy.split(all_chosen, numpy.cumsum(lengths)[:-1])):
        role = "assistant" if number % 2 else "user"
        text = " ".join(words[chosen]) + f" n{number}"
        lines.append({"id": number, "owner": number % OWNERS, "role": role, "text": text})
        vectors.append(mean(meanings, chosen))
    write(folder, "messages", lines, vectors)
    lines, vectors = [], []
    for number in range(QUESTIONS):
        chosen = random.choice(topics[number % len(topics)], 8, replace=False)
        lines.append({"id": number, "text": " ".join(words[chosen]) + f" q{number}"})
        vectors.append(mean(meanings, chosen))
    write(folder, "questions", lines, vectors)


def read(folder):
    """Returns messages, their vectors, questions, their vectors."""
    def lines(name):
        with open(folder / name, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def rows(name):
        return numpy.fromfile(folder / name, dtype="<f4").reshape(-1, DIMENSION)

    return lines("messages.jsonl"), rows("messages.f32"), lines("questions.jsonl"), rows("questions.f32")


if __name__ == "__main__":
    target = Path(sys.argv[1]) / sys.argv[2]
    if not (target / "questions.f32").exists():
        target.mkdir(parents=True, exist_ok=True)
        make(target, int(sys.argv[2]))
