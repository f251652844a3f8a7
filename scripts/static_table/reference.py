"""Cuts 10,000 made-up texts in 20 scripts, 500 of each, by the tokenizer of the model, as the reference of the test in memory-models.

    reference.py TOKENIZER.json > memory-models/src/table/reference.txt

A line is the digest of the pieces of 20 texts. The test makes the same texts from the same numbers.
"""

import sys

from tokenizers import Tokenizer

# Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Bengali, Tamil, Telugu, Malayalam, Thai, Tibetan, Georgian,
# Ethiopic, Khmer, Hiragana, Katakana, ideographs, Hangul: letters from one to the number of them.
SCRIPTS = [
    (0x61, 26), (0x391, 0x39), (0x410, 0x50), (0x531, 0x26), (0x5D0, 27), (0x621, 26), (0x905, 0x35), (0x995, 0x14), (0xB95, 6), (0xC05, 8),
    (0xD05, 8), (0xE01, 0x3A), (0xF40, 8), (0x10D0, 0x21), (0x1200, 0x49), (0x1780, 0x34), (0x3041, 0x56), (0x30A1, 0x5A), (0x4E00, 0x5000), (0xAC00, 0x2BA4),
]
# Mixed into them: accented Latin, ideographs of two kinds of rare blocks, symbols, emoji, characters of private use.
OTHERS = [(0xC0, 0x170), (0xF900, 0x16E), (0x20000, 0xA000), (0x2010, 0x20), (0x1F600, 0x40), (0xE000, 0x10)]
# What stands between and within words now and then: punctuation, spaces, accents, marks that change places, and what is no text.
ODD = [
    0x20, 0x2E, 0x27, 0x2D, 0x24, 0x5F, 0x41, 0x5A, 0x130, 0x301, 0x308, 0x327,
    0xA0, 0x3000, 0x2028, 0x200B, 0xAD, 0x7F, 0xFFFD, 0x3001, 0x302E, 0x1D16D, 0x1D165, 0x85,
]
WORDS = ["the", "dentist", "Vertriebsmitarbeiter", "naïve", "unaffordable", "don't", "café", "MEMORY", "x" * 101, "tokenization", "Здравствуйте", "περισσότερα", "İstanbul", "الكتاب", "日本語テスト", "ประเทศไทย", "한국어", "שלום"]


def numbers(seed):
    """A linear congruential generator of 31-bit numbers."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


def text(number):
    """Makes a text: words of its script, mixed with others, with words of real languages, digits and what is odd."""
    draw = numbers(number)
    pick = lambda count: next(draw) % count
    words = []
    for _ in range(2 + pick(8)):
        kind = pick(10)
        if kind < 3:
            words.append(WORDS[pick(len(WORDS))])
        elif kind < 4:
            words.append(str(pick(10_000)))
        else:
            ranges = SCRIPTS + OTHERS
            first, count = ranges[pick(len(ranges)) if kind == 4 else number % len(SCRIPTS)]
            letters = range(1 + pick(9))
            words.append("".join(chr(ODD[pick(len(ODD))]) if pick(9) == 0 else chr(first + pick(count)) for _ in letters))
    return " ".join(words)


def digest(pieces, value):
    """FNV-1a over the pieces, each with a space behind it."""
    for byte in "".join(piece + " " for piece in pieces).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for first in range(0, 10_000, 20):
        value = 0xCBF29CE484222325
        for number in range(first, first + 20):
            value = digest(tokenizer.encode(text(number), add_special_tokens=False).tokens, value)
        print(f"{value:016x}")


if __name__ == "__main__":
    main()
