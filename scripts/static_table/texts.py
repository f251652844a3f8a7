"""The neutral sentences that the static table is trained on, from Debian packages that have been unpacked into a folder."""

import html
import pathlib
import random
import re
import zlib

SHORTEST, LONGEST = 12, 300


def sentences(folder):
    """Returns all sentences, in an order that depends on nothing but the packages."""
    folder = pathlib.Path(folder)
    definitions, examples = wordnet(folder)
    random.Random(0).shuffle(definitions)
    texts = definitions[:50_000] + examples + fortunes(folder) + novels(folder) + help_pages(folder)[:12_000]
    plain = (" ".join(text.split()) for text in texts)
    return list(dict.fromkeys(text for text in plain if SHORTEST <= len(text) <= LONGEST))


def wordnet(folder):
    """WordNet's definitions as "words: definition", and its examples."""
    definitions, examples = [], []
    for path in sorted(folder.glob("usr/share/wordnet/data.*")):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(" ") or "|" not in line:
                continue
            fields, gloss = line.split("|", 1)
            fields = fields.split()
            words = [fields[4 + 2 * place].replace("_", " ") for place in range(int(fields[3], 16))]
            definition = gloss.split('"')[0].strip(" ;")
            definitions.append(", ".join(words) + ": " + definition)
            examples += re.findall(r'"([^"]+)"', gloss)
    return definitions, examples


def fortunes(folder):
    """Sayings and short stories."""
    texts = []
    for path in sorted(folder.glob("usr/share/games/fortunes/*")):
        if path.is_symlink() or path.suffix in (".dat", ".u8"):
            continue
        for saying in path.read_text("utf-8", errors="replace").split("\n%\n"):
            texts += [saying] if len(saying) <= LONGEST else split(saying)
    return texts


def novels(folder):
    """The sentences of six novels. R keeps the lines of a text as packed strings, each behind its length."""
    texts = []
    for path in sorted(folder.glob("usr/lib/R/site-library/janeaustenr/data/*.rdb")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            # Four bytes of the length once unpacked, then what zlib packed.
            unpack = zlib.decompressobj()
            plain = unpack.decompress(data[at + 4:])
            at = len(data) - len(unpack.unused_data)
            lines = strings(plain)
            paragraphs = "\n".join(lines).split("\n\n")
            texts += [text for paragraph in paragraphs for text in split(paragraph)]
    return texts


def strings(plain):
    """Returns the strings of a serialised R vector."""
    found, mark = [], re.compile(rb"\x00[\x04\x00\x02\x01][\x00\x10]\x09(....)", re.DOTALL)
    at = 0
    while match := mark.search(plain, at):
        length = int.from_bytes(match[1], "big")
        at = match.end()
        if length < 4096:
            found.append(plain[at:at + length].decode("utf-8", errors="replace"))
            at += length
    return found


def help_pages(folder):
    """The paragraphs of the help of LibreOffice."""
    texts = []
    for path in sorted(folder.glob("usr/share/libreoffice/help/en-US/**/*.html")):
        page = path.read_text("utf-8", errors="replace")
        for paragraph in re.findall(r"<p\b[^>]*>(.*?)</p>", page, re.DOTALL):
            texts += split(html.unescape(re.sub(r"<[^>]+>", "", paragraph)))
    random.Random(0).shuffle(texts)
    return texts


def split(text):
    """Splits a paragraph into its sentences."""
    return re.split(r"(?<=[.!?])[\"”']?\s+(?=[\"“A-Z])", " ".join(text.split()))
