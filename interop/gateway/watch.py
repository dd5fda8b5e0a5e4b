"""One watch, in both generations."""

import asyncio

import grpc
import openshell._proto.openshell_pb2 as pb

from buffers import Closed, Lagged, Receiver, Refused
from wire import CURSOR, IS_NEW, record, shape
from world import now

WATCH_QUEUE_MESSAGES_MAX = 256


class Watch:
    """One watch: subscribes, reads what is kept, goes live."""

    def __init__(self, world, sandbox, request, peer):
        self.world, self.sandbox, self.request = world, sandbox, request
        replica = world.next_replica()
        self.queue = asyncio.Queue(WATCH_QUEUE_MESSAGES_MAX)
        buffers = world.buffers(replica, sandbox["id"])
        self.buses = [bus for bus, wanted in ((buffers.lines, request.follow_logs),
                                              (buffers.events, request.follow_events)) if wanted]
        self.receivers = [Receiver(bus) for bus in self.buses]
        self.buffers = buffers
        self.view = {"id": len(world.watches) + 1, "peer": peer, "replica": replica,
                     "sandbox_id": sandbox["id"], "stage": "attaching", "delivered_lines": 0, "queued": 0,
                     "seen": 0, "stalled": False, "attached": now(), "ended": None}
        world.watches.append(self.view)

    async def run(self):
        try:
            await self.follow()
        except Refused as status:
            self.end(status.args[1])
            await self.queue.put(status)

    def end(self, how):
        if self.view["ended"] is None:
            self.view.update(stage={"ended": how}, ended=now())
            self.world.ring()

    async def follow(self):
        await self.send(pb.SandboxStreamEvent(sandbox=record(self.sandbox)))
        await self.world.gate.wait()
        joint, replay = self.kept()
        for held, cursor in replay:
            if self.is_since(held["item"]):
                await self.say(held, cursor)
        self.view["stage"] = "following"
        self.view["seen"] = max(self.view["seen"], joint)
        self.world.ring()
        await (self.live_new(joint) if IS_NEW else self.live_old())

    def kept(self):
        """The number up to which the replay has everything, and the replay."""
        joint = self.buffers.seq if IS_NEW else 0
        after = CURSOR.fullmatch(self.request.resume_after_cursor) if IS_NEW else None
        if after:
            replay = self.buffers.after(after[1], int(after[2]), self.buses)
            return joint, [(held, held["cursor"]) for held in replay]
        tail = []
        if self.request.follow_logs:
            tail += self.buffers.lines.tail(self.request.log_tail_lines or 200)
        if self.request.follow_events:
            tail += self.buffers.events.tail(self.request.event_tail)
        has_floor = self.world.settings["tail_with_floor"]
        return joint, [(held, "" if has_floor else held["cursor"]) for held in tail]

    def is_since(self, item):
        if IS_NEW:
            since = self.request.since_time.ToMilliseconds() if self.request.HasField("since_time") else None
        else:
            since = self.request.log_since_ms or None
        return since is None or (item["time_ms"] is not None and item["time_ms"] >= since)

    async def say(self, held, cursor):
        if event := shape(self.sandbox["id"], held, cursor, self.request):
            await self.send(event)
        self.view["seen"] = max(self.view["seen"], held["seq"])
        self.world.ring()

    async def send(self, event):
        self.view["queued"] += 1
        await self.queue.put(event)

    async def ready(self):
        await self.world.until(lambda: any(one.is_ready() for one in self.receivers))

    def closed(self):
        return Refused(grpc.StatusCode.CANCELLED, "stream closed")

    async def live_old(self):
        while True:
            await self.ready()
            for receiver in self.receivers:
                try:
                    held = receiver.receive()
                except Lagged as lost:
                    raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, lagged(lost)) from lost
                except Closed as closed:
                    raise self.closed() from closed
                if held:
                    await self.say(held, "")

    async def live_new(self, joint):
        """Rounds: nothing is published while one drains, so nothing has to be held back."""
        while True:
            await self.ready()
            pieces, is_closed = self.drain(joint)
            if self.world.settings["warning_place"] == "after_drain":
                pieces.sort(key=lambda piece: isinstance(piece[1], str))
            for _, piece in pieces:
                if isinstance(piece, str):
                    warning = pb.SandboxStreamWarning(message=piece)
                    await self.send(pb.SandboxStreamEvent(warning=warning))
                else:
                    await self.say(piece, piece["cursor"])
            if is_closed:
                raise self.closed()

    def drain(self, joint):
        pieces, is_closed = [], False
        for receiver in self.receivers:
            warning = None
            while True:
                try:
                    held = receiver.receive()
                except Lagged as lost:
                    warning = lagged(lost)
                    continue
                except Closed:
                    is_closed = True
                    break
                if held is None:
                    break
                if warning:
                    pieces.append((held["seq"] - 0.5, warning))
                    warning = None
                if held["seq"] > joint:
                    pieces.append((held["seq"], held))
        return sorted(pieces, key=lambda piece: piece[0]), is_closed


def lagged(lost):
    return f"watch stream lagged; dropped {lost} messages"
