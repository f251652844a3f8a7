"""Writes a model of llama.cpp's format with random weights: it says nothing sensible, on the wire of a real server.

make.py FILE
"""

import sys

import gguf
import numpy

WIDTH, HEADS, INNER, CONTEXT = 64, 4, 128, 8192

words = "the a is of and capital memory tea boat harbour red blue".split()
pieces = ["\u2581" + word for word in words] + list("abcdefghijklmnopqrstuvwxyz\u2581.,?")
tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
# Unknown, control, bytes, words.
kinds = [2, 3, 3] + [6] * 256 + [1] * len(pieces)

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list([token.encode() for token in tokens])
writer.add_token_scores([-float(place) for place in range(len(tokens))])
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")

random = numpy.random.default_rng(7)


def weights(*shape):
    return (random.standard_normal(shape) * 0.2).astype(numpy.float32)


writer.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
writer.add_tensor("output.weight", weights(len(tokens), WIDTH))
for norm in ["attn_norm", "ffn_norm"]:
    writer.add_tensor(f"blk.0.{norm}.weight", numpy.ones(WIDTH, numpy.float32))
for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
    writer.add_tensor(f"blk.0.{name}.weight", weights(WIDTH, WIDTH))
for name, shape in [("ffn_gate", (INNER, WIDTH)), ("ffn_up", (INNER, WIDTH)), ("ffn_down", (WIDTH, INNER))]:
    writer.add_tensor(f"blk.0.{name}.weight", weights(*shape))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
