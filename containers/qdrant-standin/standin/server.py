"""Both ports of the server."""

import concurrent.futures
import http.server
import json

import grpc
from qdrant_client import grpc as proto
from qdrant_client.grpc import collections_service_pb2_grpc as collections_grpc
from qdrant_client.grpc import points_service_pb2_grpc as points_grpc
from qdrant_client.grpc import qdrant_pb2_grpc as health_grpc

from . import TITLE, VERSION
from .collections_service import Collections
from .points_service import Points

PAGES = {
    "/": json.dumps({"title": TITLE, "version": VERSION}),
    "/readyz": "all shards are ready",
    "/healthz": "healthz check passed",
    "/livez": "livez check passed",
}
LIMITS = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", -1)]


class Health(health_grpc.QdrantServicer):
    def HealthCheck(self, request, context):
        return proto.HealthCheckReply(title=TITLE, version=VERSION)


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGES.get(self.path, "")
        self.send_response(200 if body else 404)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


def serve_grpc(store, address):
    """Starts the gRPC server; returns it with the port it was given."""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=LIMITS)
    collections_grpc.add_CollectionsServicer_to_server(Collections(store), server)
    points_grpc.add_PointsServicer_to_server(Points(store), server)
    health_grpc.add_QdrantServicer_to_server(Health(), server)
    port = server.add_insecure_port(address)
    server.start()
    return server, port


def http_server(address):
    return http.server.ThreadingHTTPServer(address, Pages)
