"""Calls the profile `graph` and the reference memory server alike, and compares each answer:
graph.py PROGRAM SEQUENCES NODE REFERENCE, where NODE runs the script REFERENCE. Where they are meant to differ, nothing is generated:
a call that names an entity or a relation twice."""

import json
import os
import random
import subprocess
import sys
import tempfile

program, sequences, node, reference = sys.argv[1:]
NAMES = ["Ada", "Bob", "ada", "Größe 🦀", "x y"]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "kit", "version": "1"}}


class Server:
    """A server on the standard streams."""

    def __init__(self, command, more):
        self.process = subprocess.Popen(
            command, env={**os.environ, **more}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.calls = 0
        self.ask("initialize", HELLO)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.calls += 1
        self.send({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.calls:
                return answer

    def tool(self, name, arguments):
        """Returns what is compared: whether it failed, the structured answer, and the text as JSON if it is JSON."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        if result.get("isError"):
            return "an error"
        text = result["content"][0]["text"]
        try:
            text = json.loads(text)
        except ValueError:
            pass
        return result["structuredContent"], text

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def call(chance):
    one, other = chance.choice(NAMES), chance.choice(NAMES)
    relations = [{"from": one, "to": other, "relationType": chance.choice(["knows", "Likes"])}]
    observation = f"fact {chance.randrange(6)}"
    kind = chance.randrange(10)
    if kind < 2:
        entities = [{"name": one, "entityType": "person", "observations": [observation]}]
        if one != other:
            entities.append({"name": other, "entityType": "Place", "observations": []})
        return "create_entities", {"entities": entities}
    if kind == 2:
        back = {"from": other, "to": one, "relationType": "knows"}
        return "create_relations", {"relations": relations + ([back] if back != relations[0] else [])}
    if kind == 3:
        added = [{"entityName": one, "contents": [observation, "fact 0"]}, {"entityName": other, "contents": ["both"]}]
        return "add_observations", {"observations": added}
    if kind == 4 and chance.random() < 0.4:
        return "delete_entities", {"entityNames": [one]}
    if kind == 5:
        return "delete_observations", {"deletions": [{"entityName": one, "observations": [observation]}]}
    if kind == 6 and chance.random() < 0.5:
        return "delete_relations", {"relations": relations}
    if kind == 7:
        return "search_nodes", {"query": chance.choice(["ADA", "fact 3", "größe", "place", "nothing"])}
    if kind == 8:
        return "open_nodes", {"names": [one, other]}
    return "read_graph", {}


with tempfile.TemporaryDirectory() as folder:
    ours = Server([program, "mcp", "--tools", "graph"], {"MEMORY_URL": f"sqlite:{folder}/memory.sqlite"})
    theirs = Server([node, reference], {"MEMORY_FILE_PATH": f"{folder}/memory.jsonl"})
    chance = random.Random(19)
    compared = 0

    def both(name, arguments):
        global compared
        answers = [server.tool(name, arguments) for server in (ours, theirs)]
        assert answers[0] == answers[1], f"{name} {json.dumps(arguments)}:\n{answers[0]}\nand not\n{answers[1]}"
        compared += 1
        return answers[0]

    for _ in range(int(sequences)):
        for _ in range(12):
            both(*call(chance))
        graph, _ = both("read_graph", {})
        both("delete_relations", {"relations": graph["relations"]})
        both("delete_entities", {"entityNames": [entity["name"] for entity in graph["entities"]]})
    ours.end()
    theirs.end()
    print(f"{sequences} sequences, {compared} calls are answered alike")
