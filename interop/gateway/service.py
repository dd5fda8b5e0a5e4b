"""The calls of the gateway."""

import asyncio

import grpc
import openshell._proto.openshell_pb2 as pb
import openshell._proto.openshell_pb2_grpc as pb_grpc

from buffers import TAIL_LINES_MAX, Refused
from watch import Watch
from wire import CURSOR, IS_NEW, is_in_scope, log_line, passes, record


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
