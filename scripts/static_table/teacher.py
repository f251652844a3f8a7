"""all-MiniLM-L6-v2 with weights of 8 bits: the vectors that the static table learns from."""

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

# The model reads 126 pieces and two special ones.
LONGEST, BATCH = 126, 64


class Teacher:
    """The model in a file, and the tokenizer in another."""

    def __init__(self, model, tokenizer):
        self.session = onnxruntime.InferenceSession(model)
        self.names = [given.name for given in self.session.get_inputs()]
        self.tokenizer = Tokenizer.from_file(tokenizer)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.cls, self.sep = (self.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def pieces(self, texts):
        """Returns the word pieces of each text, without the special ones."""
        return [encoded.ids for encoded in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def vectors(self, pieces_of):
        """Returns the vector of each list of pieces: [n, 384], of length 1. Equal lengths go together, unpadded."""
        out = np.zeros((len(pieces_of), 384), "f4")
        by_length = {}
        for place, pieces in enumerate(pieces_of):
            by_length.setdefault(min(len(pieces), LONGEST), []).append(place)
        for length, places in sorted(by_length.items()):
            for first in range(0, len(places), BATCH):
                some = places[first:first + BATCH]
                mean = self.means([pieces_of[place][:length] for place in some])
                out[some] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out

    def means(self, pieces_of):
        """Returns the mean of the outputs for each list of pieces, all of one length, between the special ones: [n, 384]."""
        ids = np.array([[self.cls, *pieces, self.sep] for pieces in pieces_of], "i8")
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return self.session.run(None, {name: given[name] for name in self.names})[0].mean(1)
