"""The control protocol: a command in JSON, an answer in JSON."""

import asyncio

from world import SETTINGS, now

PUSH_LINES_MAX = 100


class Control:
    def __init__(self, world, door):
        self.world, self.door = world, door

    async def obey(self, command):
        name = command.get("name")
        if command["do"] != "create" and name is not None and self.world.named(name) is None:
            return {"error": f"no sandbox `{name}`"}
        if command["do"] == "create" and self.world.named(name) is not None:
            return {"error": f"there is a sandbox `{name}`"}
        return await getattr(self, "do_" + command.pop("do"))(**command) or "done"

    async def do_create(self, name, workspace="default", labels=None):
        return {"id": self.world.create(name, workspace, labels or {})}

    async def do_delete(self, name):
        self.world.delete(self.world.named(name))

    async def do_publish(self, name, lines, replica=0, burst=False):
        sandbox_id, published = self.world.named(name)["id"], []
        for line in lines:
            published.append(self.world.publish(sandbox_id, replica, whole(line)))
            if not burst:
                await asyncio.sleep(0)
        return {"published": published}

    async def do_push(self, name, lines):
        return await self.do_publish(name, lines[:PUSH_LINES_MAX])

    async def do_publish_events(self, name, events):
        for event in events:
            whole_event = {"time_ms": now() // 1000, "source": "kubelet", "kind": "Normal",
                           "reason": "Scheduled", "message": ""} | event
            if self.world.is_running:
                self.world.buffers(0, self.world.named(name)["id"]).publish("event", whole_event)
                self.world.ring()

    async def do_stall(self, name, stalled):
        for watch in self.world.watches:
            if watch["sandbox_id"] == self.world.named(name)["id"]:
                watch["stalled"] = stalled
        self.world.ring()

    async def do_gate(self, is_open):
        (self.world.gate.set if is_open else self.world.gate.clear)()

    async def do_cut(self, how, name=None):
        peers = None
        if name is not None:
            sandbox_id = self.world.named(name)["id"]
            peers = {watch["peer"] for watch in self.world.watches
                     if watch["sandbox_id"] == sandbox_id and watch["ended"] is None}
        self.door.cut(how, peers)

    async def do_refuse(self, refusing):
        await (self.door.shut() if refusing else self.door.open())

    async def do_stop(self):
        await self.door.shut()
        self.door.cut("close")
        self.world.is_running = False
        self.world.forget()
        await self.world.until(lambda: all(watch["ended"] for watch in self.world.watches), 5_000)

    async def do_start(self, version=None):
        self.world.is_running = True
        self.world.settings["version"] = version or self.world.settings["version"]
        await self.door.open()

    async def do_route(self, replicas):
        self.world.routes += replicas

    async def do_refuse_calls(self, calls):
        self.world.settings["refused_calls"] = calls

    async def do_settings(self, settings):
        self.world.settings = SETTINGS | settings

    async def do_wait_idle(self, ms):
        return {"came": await self.world.until(self.world.are_idle, ms)}

    async def do_wait_delivered(self, name, lines, ms):
        sandbox_id = self.world.named(name)["id"]
        views = self.world.watches
        delivered = lambda: sum(one["delivered_lines"] for one in views if one["sandbox_id"] == sandbox_id)
        return {"came": await self.world.until(lambda: delivered() >= lines, ms)}

    async def do_book(self):
        return {"book": self.world.book()}


def whole(line):
    return {"time_ms": now() // 1000, "level": "OCSF", "target": "ocsf", "message": "",
            "source": "sandbox", "fields": {}} | line
