"""A gateway over the protobuf stubs that the PyPI package `openshell` ships, independent of the Rust one.

It keeps the same buffers, broadcasts, cursors and statuses, and speaks the same control protocol: its
first line on standard output is its URL; then each line on standard input is a command in JSON and each
answer is a line. The generation is that of the stubs: 0.1.5 or 0.0.116.

usage: python gateway.py [SETTINGS_JSON]      (in a venv with `openshell`)
"""

import asyncio
import collections
import json
import os
import random
import re
import socket
import struct
import sys
import time
import uuid

import grpc
import openshell._proto.openshell_pb2 as pb
import openshell._proto.openshell_pb2_grpc as pb_grpc

TAIL_LINES_MAX = 2000
PLATFORM_EVENTS_MAX = 50
BROADCAST_MESSAGES_MAX = 1024
WATCH_QUEUE_MESSAGES_MAX = 256
PUSH_LINES_MAX = 100
IS_NEW = "resume_after_cursor" in pb.WatchSandboxRequest.DESCRIPTOR.fields_by_name
CURSOR = re.compile(r"v1:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([0-9]{20})")
RANKS = {"TRACE": 0, "DEBUG": 1, "INFO": 2, "OCSF": 2, "WARN": 3, "ERROR": 4}
SETTINGS = {
    "version": "0.1.5" if IS_NEW else "0.0.116", "warning_place": "before_following",
    "tail_with_floor": False, "opening_lines": True, "page_size_max": 100, "token": None,
    "refused_calls": 0, "replicas": 1, "spread": "per_connection",
}


def now():
    return time.time_ns() // 1000


class Lagged(Exception):
    pass


class Closed(Exception):
    pass


class Refused(Exception):
    """A status: its code and text."""


class Bus:
    """The last messages of one kind, and a broadcast in which slow readers lose the oldest."""

    def __init__(self, kept):
        self.kept = collections.deque(maxlen=kept)
        self.evicted_through = 0
        self.last = 0
        self.ring = collections.deque(maxlen=BROADCAST_MESSAGES_MAX)
        self.sent = 0
        self.is_closed = False

    def publish(self, held):
        if len(self.kept) == self.kept.maxlen:
            self.evicted_through = self.kept[0]["seq"]
        self.kept.append(held)
        self.ring.append(held)
        self.last = held["seq"]
        self.sent += 1

    def tail(self, count):
        return list(self.kept)[-count:] if count else []


class Receiver:
    def __init__(self, bus):
        self.bus = bus
        self.next = bus.sent

    def is_ready(self):
        return self.next < self.bus.sent or self.bus.is_closed

    def receive(self):
        """The next message, None when there is none yet."""
        oldest = self.bus.sent - len(self.bus.ring)
        if self.next < oldest:
            lost, self.next = oldest - self.next, oldest
            raise Lagged(lost)
        if self.next < self.bus.sent:
            held = self.bus.ring[self.next - oldest]
            self.next += 1
            return held
        if self.bus.is_closed:
            raise Closed
        return None


class Buffers:
    """One sandbox in one process: two buses that share one sequence."""

    def __init__(self):
        self.epoch = None
        self.seq = 0
        self.lines = Bus(TAIL_LINES_MAX)
        self.events = Bus(PLATFORM_EVENTS_MAX)

    def publish(self, kind, item):
        self.epoch = self.epoch or str(uuid.uuid4())
        self.seq += 1
        held = {"seq": self.seq, "cursor": f"v1:{self.epoch}:{self.seq:020}", "kind": kind, "item": item}
        (self.lines if kind == "line" else self.events).publish(held)
        return held

    def close(self):
        self.lines.is_closed = self.events.is_closed = True

    def after(self, epoch, seq, buses):
        """Everything that follows, by number."""
        out_of_range = grpc.StatusCode.OUT_OF_RANGE
        if epoch != self.epoch:
            raise Refused(out_of_range, "resume_after_cursor belongs to a cursor space that no longer exists")
        if seq > self.seq:
            raise Refused(out_of_range, "resume_after_cursor is ahead of every cursor this sandbox has issued")
        earliest = max((bus.evicted_through for bus in buses), default=0)
        if earliest > seq:
            raise Refused(out_of_range, f"resume cursor {seq} is no longer available; "
                                        f"earliest resumable cursor is {earliest}")
        replay = [held for bus in buses for held in bus.kept if held["seq"] > seq]
        return sorted(replay, key=lambda held: held["seq"])


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
        attachments = [{"sandbox_id": watch["sandbox_id"], "replica": watch["replica"],
                        "from": watch["attached"], "to": watch["ended"]} for watch in self.watches]
        return {"sandboxes": list(self.pages.values()), "attachments": attachments,
                "restarts": self.restarts}


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


def passes(line, sources, min_level):
    source = line["source"] or "gateway"
    if sources and source not in sources:
        return False
    if not min_level:
        return True
    level, least = RANKS.get(line["level"].upper()), RANKS.get(min_level.upper())
    return level >= least if None not in (level, least) else level is least


def record(sandbox):
    made = pb.Sandbox()
    meta = made.metadata
    meta.id, meta.name, meta.workspace = sandbox["id"], sandbox["name"], sandbox["workspace"]
    meta.labels.update(sandbox["labels"])
    if IS_NEW:
        meta.created_time.FromMilliseconds(sandbox["created_ms"])
    else:
        meta.created_at_ms = sandbox["created_ms"]
    made.status.phase = pb.SANDBOX_PHASE_READY
    made.status.current_policy_version = 1
    return made


def stamp(message, time_ms):
    if not IS_NEW:
        message.timestamp_ms = time_ms or 0
    elif time_ms is not None:
        message.event_time.FromMilliseconds(time_ms)


def log_line(sandbox_id, line):
    made = pb.SandboxLogLine(sandbox_id=sandbox_id, level=line["level"], target=line["target"],
                             message=line["message"], source=line["source"], fields=line["fields"])
    stamp(made, line["time_ms"])
    return made


def shape(sandbox_id, held, cursor, request):
    """The event as the wire has it, None when a filter takes it out."""
    item = held["item"]
    if held["kind"] == "line":
        if not passes(item, request.log_sources, request.log_min_level):
            return None
        event = pb.SandboxStreamEvent(log=log_line(sandbox_id, item))
    else:
        made = pb.PlatformEvent(source=item["source"], type=item["kind"], reason=item["reason"],
                                message=item["message"])
        stamp(made, item["time_ms"])
        event = pb.SandboxStreamEvent(event=made)
    if IS_NEW:
        event.cursor = cursor
    return event


def is_in_scope(request, workspace):
    if not IS_NEW:
        return getattr(request, "all_workspaces", False) or (request.workspace or "default") == workspace
    scope = request.workspace_scope
    return scope.HasField("all_workspaces") or (scope.workspace or "default") == workspace


class Service(pb_grpc.OpenShellServicer):
    def __init__(self, world):
        self.world = world

    async def admit(self, context):
        settings = self.world.settings
        if settings["refused_calls"] > 0:
            settings["refused_calls"] -= 1
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "grpc rate limit exceeded")
        if settings["token"] is not None:
            given = dict(context.invocation_metadata()).get("authorization")
            if given is None:
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "missing authorization header")
            if given != f"Bearer {settings['token']}":
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "invalid token: InvalidSignature")

    async def found(self, context, is_it):
        one = next(filter(is_it, self.world.sandboxes), None)
        return one or await context.abort(grpc.StatusCode.NOT_FOUND, "sandbox not found")

    def asked_for(self, request):
        if IS_NEW:
            return lambda one: one["name"] == request.sandbox and is_in_scope(request, one["workspace"])
        wanted = request.id if hasattr(request, "id") else request.sandbox_id
        return lambda one: one["id"] == wanted

    async def Health(self, request, context):
        return pb.HealthResponse(status=pb.SERVICE_STATUS_HEALTHY, version=self.world.settings["version"])

    async def GetSandbox(self, request, context):
        await self.admit(context)
        is_it = lambda one: one["name"] == request.name and is_in_scope(request, one["workspace"])
        return pb.SandboxResponse(sandbox=record(await self.found(context, is_it)))

    async def ListSandboxes(self, request, context):
        await self.admit(context)
        terms = [term.split("=", 1) for term in request.label_selector.split(",") if term]
        if any(len(term) != 2 for term in terms):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "label_selector: expected key=value")
        key = lambda one: f"{one['workspace']}/{one['name']}"
        every = sorted((one for one in self.world.sandboxes if is_in_scope(request, one["workspace"])
                        and all(one["labels"].get(name) == value for name, value in terms)), key=key)
        most = self.world.settings["page_size_max"]
        if not IS_NEW:
            page = every[request.offset:][: min(request.limit or most, most)]
            return pb.ListSandboxesResponse(sandboxes=map(record, page))
        if request.page_token and not request.page_token.startswith("after:"):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "invalid page_token")
        left = [one for one in every if key(one) > request.page_token.removeprefix("after:")]
        page = left[: min(request.page_size or most, most)]
        token = f"after:{key(page[-1])}" if len(page) < len(left) else ""
        return pb.ListSandboxesResponse(sandboxes=map(record, page), next_page_token=token)

    async def GetSandboxLogs(self, request, context):
        await self.admit(context)
        sandbox = await self.found(context, self.asked_for(request))
        count = request.lines or TAIL_LINES_MAX
        bus = self.world.buffers(self.world.next_replica(), sandbox["id"]).lines
        lines = [held["item"] for held in bus.tail(count)]
        logs = [log_line(sandbox["id"], line) for line in lines
                if passes(line, request.sources, request.min_level)]
        return pb.GetSandboxLogsResponse(logs=logs, buffer_total=min(count, len(bus.kept)))

    async def WatchSandbox(self, request, context):
        await self.admit(context)
        if not IS_NEW and not request.id:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "id is required")
        if IS_NEW and request.resume_after_cursor:
            after = CURSOR.fullmatch(request.resume_after_cursor)
            if after is None or not 0 < int(after[2]) < 2**64:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT,
                                    "resume_after_cursor is not a valid watch cursor")
        sandbox = await self.found(context, self.asked_for(request))
        watch = Watch(self.world, sandbox, request, context.peer())
        task = asyncio.create_task(watch.run())
        try:
            while True:
                await self.world.until(lambda: not watch.view["stalled"])
                event = await watch.queue.get()
                if isinstance(event, Refused):
                    await context.abort(*event.args)
                # Waited again: what a stall finds in the hand is not given either.
                await self.world.until(lambda: not watch.view["stalled"])
                watch.view["queued"] -= 1
                watch.view["delivered_lines"] += event.HasField("log")
                self.world.ring()
                yield event
        finally:
            task.cancel()
            watch.end("client gone")


class Door:
    """The port, in front of the gRPC server: what that library does not let one do to its sockets."""

    def __init__(self, inner):
        self.inner = inner
        self.server = None
        self.placeholder = None
        self.port = free_port()
        self.connections = {}

    async def open(self):
        if self.placeholder:
            self.placeholder.close()
            self.placeholder = None
        if self.server is None:
            self.server = await asyncio.start_server(self.join, "127.0.0.1", self.port, reuse_address=True)

    async def shut(self):
        if self.server is not None:
            self.server.close()
            self.server = None
            # Bound and not listening: refused, and nobody else gets the port.
            self.placeholder = socket.socket()
            self.placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.placeholder.bind(("127.0.0.1", self.port))

    async def join(self, reader, writer):
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.inner)
        peer = "ipv4:{}:{}".format(*inner_writer.get_extra_info("sockname"))
        self.connections[peer] = (writer, inner_writer)
        try:
            await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))
        except OSError:
            pass
        finally:
            self.connections.pop(peer, None)
            writer.close()
            inner_writer.close()

    def cut(self, how, peers=None):
        for peer, (writer, inner) in list(self.connections.items()):
            if peers is None or peer in peers:
                if how == "reset":
                    sock = writer.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                inner.transport.abort()


async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def free_port():
    """Below the ports that clients are given: one that retries a shut port there can meet itself."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


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


async def main():
    world = World(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", 1 << 20),
               ("grpc.keepalive_time_ms", 20_000), ("grpc.keepalive_timeout_ms", 10_000),
               ("grpc.http2.min_ping_interval_without_data_ms", 100), ("grpc.http2.max_ping_strikes", 0)]
    server = grpc.aio.server(options=options)
    pb_grpc.add_OpenShellServicer_to_server(Service(world), server)
    door = Door(server.add_insecure_port("127.0.0.1:0"))
    await server.start()
    await door.open()
    print(f"http://127.0.0.1:{door.port}", flush=True)
    control = Control(world, door)
    commands = asyncio.StreamReader(limit=1 << 30)
    protocol = asyncio.StreamReaderProtocol(commands)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    while line := await commands.readline():
        print(json.dumps(await control.obey(json.loads(line))), flush=True)
    # Not a graceful end: whoever drives this wants it gone.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
