"""`python3 -m standin [FOLDER [GRPC_PORT [HTTP_PORT]]]`

Environment: STANDIN_HOST (0.0.0.0), the address it listens on; STANDIN_LAG_MS (20), how late a write without `wait` is
applied; QDRANT__SERVICE__API_KEY, the key that calls must carry.
"""

import os
import signal
import sys
import threading

from . import TITLE, VERSION
from .server import http_server, serve_grpc
from .store import Store

DEFAULTS = ["/qdrant/storage", "6334", "6333"]


def main():
    folder, grpc_port, http_port = (sys.argv[1:] + DEFAULTS[len(sys.argv) - 1:])[:3]
    host = os.environ.get("STANDIN_HOST", "0.0.0.0")
    store = Store(folder)
    server, port = serve_grpc(store, f"{host}:{grpc_port}")
    pages = http_server((host, int(http_port)))
    # The first process of a container ignores SIGTERM without a handler.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=pages.shutdown).start())
    count = len(store.collections)
    print(f"{TITLE} {VERSION}: {count} collections, gRPC on {port}, HTTP on {pages.server_port}", flush=True)
    pages.serve_forever()
    server.stop(1).wait()
    store.close()


if __name__ == "__main__":
    main()
