"""An endpoint that makes vectors, on this machine: it knows what two topics are."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOPICS = {"money": [1, 0, 0], "cash": [0.9, 0.1, 0], "stock": [0, 1, 0], "shelf": [0, 0.9, 0.1]}


class Server:
    """An endpoint whose vectors say which topic a text is about; `answer` replaces what it says."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.headers: list[str | None] = []
        self.answer = None
        self.status = 200
        self.dimension = 3
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(question)
                outer.headers.append(self.headers["Authorization"])
                body = outer.answer if outer.answer is not None else outer.vectors(self.path, question)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def vectors(self, path, question):
        rows = [self.vector(text) for text in question["input"]]
        if path.endswith("/api/embed"):
            return {"embeddings": rows}
        data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
        return {"data": data[::-1]}

    def vector(self, text):
        for word, vector in TOPICS.items():
            if word in text:
                return [*vector, 0, 0][: self.dimension]
        return [0.1] * (self.dimension - 1) + [1]

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
