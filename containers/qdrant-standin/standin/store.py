"""The folder of all collections, and their aliases."""

import json
import os
import shutil
import threading
import urllib.parse

from .collection import Collection, write_json
from .failure import Code, Failure, invalid, missing, unknown


class Store:
    def __init__(self, root):
        self.root, self.lock, self.collections, self.aliases = root, threading.RLock(), {}, {}
        os.makedirs(root, exist_ok=True)
        for folder in sorted(os.listdir(root)):
            path = os.path.join(root, folder)
            if os.path.exists(os.path.join(path, "meta.json")):
                self.collections[urllib.parse.unquote(folder)] = Collection.load(path)
            elif os.path.isdir(path):
                shutil.rmtree(path)  # created half or deleted half
        if os.path.exists(self.alias_file()):
            with open(self.alias_file()) as file:
                self.aliases = json.load(file)

    def alias_file(self):
        return os.path.join(self.root, "aliases.json")

    def path(self, name):
        return os.path.join(self.root, urllib.parse.quote(name, safe=""))

    def name(self, name):
        return self.aliases.get(name, name)

    def exists(self, name):
        return self.name(name) in self.collections

    def get(self, name):
        collection = self.collections.get(self.name(name))
        if not collection:
            raise missing(f"Collection `{name}` doesn't exist!")
        return collection

    def create(self, message):
        name = message.collection_name
        with self.lock:
            if message.sharding_method == 1:
                raise unknown("custom sharding")
            if not name or len(name) > 255 or any(letter in '<>:"/\\|?*\0' for letter in name):
                raise invalid("Validation error in body: [collection_name]")
            if self.exists(name):
                raise Failure(Code.ALREADY_EXISTS, f"Wrong input: Collection `{name}` already exists!")
            os.makedirs(self.path(name))
            try:
                self.collections[name] = Collection.new(self.path(name), message)
            except BaseException:
                shutil.rmtree(self.path(name))
                raise

    def delete(self, name):
        with self.lock:
            collection = self.collections.pop(name, None)
            if not collection:
                return False
            os.remove(os.path.join(collection.path, "meta.json"))
            collection.close()
            shutil.rmtree(collection.path, ignore_errors=True)
            self.set_aliases({alias: target for alias, target in self.aliases.items() if target != name})
            return True

    def change_aliases(self, actions):
        with self.lock:
            aliases = dict(self.aliases)
            for action in actions:
                kind = action.WhichOneof("action")
                found = getattr(action, kind)
                if kind == "create_alias":
                    self.get(found.collection_name)
                    aliases[found.alias_name] = found.collection_name
                elif kind == "delete_alias":
                    aliases.pop(found.alias_name, None)
                else:
                    aliases[found.new_alias_name] = aliases.pop(found.old_alias_name)
            self.set_aliases(aliases)

    def set_aliases(self, aliases):
        write_json(self.alias_file(), aliases)
        self.aliases = aliases

    def close(self):
        for collection in self.collections.values():
            collection.close()
