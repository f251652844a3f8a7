"""Serves a model by llama.cpp's own server on a free port, says its address in a line, and ends with its stdin.

serve.py FILE chat|embeddings
"""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = 4096
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
if sys.argv[2] == "embeddings":
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
