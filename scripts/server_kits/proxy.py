"""Adds a token to what passes, for a kit that cannot send one: proxy.py PORT TO TOKEN"""

import http.client
import http.server
import sys

port, target, token = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
OWN = {"connection", "transfer-encoding", "content-length", "host"}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def passed(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OWN}
        # The names that a client claims to reach are judged by the server.
        headers["Host"] = self.headers.get("host", "").replace(f":{port}", f":{target}")
        headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", target, timeout=30)
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OWN | {"date"}:
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = passed

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Proxy).serve_forever()
