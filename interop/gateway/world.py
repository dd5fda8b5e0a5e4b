"""Everything the gateway knows, and the book of what happened."""

import asyncio
import time
import uuid

from buffers import Buffers
from wire import IS_NEW

SETTINGS = {
    "version": "0.1.5" if IS_NEW else "0.0.116", "warning_place": "before_following",
    "tail_with_floor": False, "opening_lines": True, "page_size_max": 100, "token": None,
    "refused_calls": 0, "replicas": 1, "spread": "per_connection",
}


def now():
    return time.time_ns() // 1000


class World:
    """Everything the gateway knows."""

    def __init__(self, settings):
        self.settings = SETTINGS | settings
        self.is_running = True
        self.sandboxes = []
        self.replicas = [{} for _ in range(self.settings["replicas"])]
        self.routes = []
        self.calls = 0
        self.watches = []
        self.pages = {}
        self.restarts = []
        self.bell = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    def ring(self):
        """Wakes everybody who waits for a change."""
        self.bell.set()
        self.bell = asyncio.Event()

    async def until(self, ready, ms=None):
        deadline = None if ms is None else time.monotonic() + ms / 1000
        while not ready():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            try:
                await asyncio.wait_for(self.bell.wait(), left)
            except asyncio.TimeoutError:
                pass
        return True

    def named(self, name):
        return next((one for one in self.sandboxes if one["name"] == name), None)

    def buffers(self, replica, sandbox_id):
        return self.replicas[replica].setdefault(sandbox_id, Buffers())

    def create(self, name, workspace, labels):
        made = {"id": str(uuid.uuid4()), "name": name, "workspace": workspace, "labels": labels,
                "created_ms": now() // 1000}
        self.sandboxes.append(made)
        self.pages[made["id"]] = {"id": made["id"], "name": name, "workspace": workspace,
                                  "created": now(), "deleted": None, "lines": []}
        if self.settings["opening_lines"]:
            for message in ("sandbox created", "sandbox ready"):
                self.publish(made["id"], 0, {
                    "time_ms": now() // 1000, "level": "INFO", "source": "gateway", "fields": {},
                    "target": "openshell_server::grpc::sandbox", "message": message})
        return made["id"]

    def delete(self, sandbox):
        self.sandboxes.remove(sandbox)
        self.pages[sandbox["id"]]["deleted"] = now()
        for replica in self.replicas:
            if gone := replica.pop(sandbox["id"], None):
                gone.close()
        self.ring()

    def publish(self, sandbox_id, replica, line):
        at, cursor = now(), None
        if self.is_running:
            cursor = self.buffers(replica, sandbox_id).publish("line", line)["cursor"]
        published = {"line": line, "cursor": cursor, "at": at, "replica": replica}
        self.pages[sandbox_id]["lines"].append(published)
        self.ring()
        return published

    def forget(self):
        for replica in self.replicas:
            for gone in replica.values():
                gone.close()
            replica.clear()
        self.restarts.append(now())
        self.ring()

    def next_replica(self):
        if self.routes:
            return self.routes.pop(0)
        if self.settings["spread"] != "per_call":
            return 0
        self.calls += 1
        return (self.calls - 1) % len(self.replicas)

    def is_idle(self, watch):
        buffers = self.replicas[watch["replica"]].get(watch["sandbox_id"])
        return (buffers is not None and watch["stage"] == "following" and watch["queued"] == 0
                and watch["seen"] >= buffers.lines.last)

    def are_idle(self):
        opened = [watch for watch in self.watches if watch["ended"] is None]
        watched = {watch["sandbox_id"] for watch in opened}
        return all(map(self.is_idle, opened)) and all(one["id"] in watched for one in self.sandboxes)

    def book(self):
        # One that was refused, or that had nothing to say, tells a follower nothing of its replica.
        heard = [watch for watch in self.watches if watch["ended"] is None or watch["delivered_lines"] > 0]
        attachments = [{"sandbox_id": watch["sandbox_id"], "replica": watch["replica"],
                        "from": watch["attached"], "to": watch["ended"]} for watch in heard]
        return {"sandboxes": list(self.pages.values()), "attachments": attachments,
                "restarts": self.restarts}
