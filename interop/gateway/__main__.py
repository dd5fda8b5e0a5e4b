"""A gateway over the protobuf stubs that the PyPI package `openshell` ships, independent of the Rust one.

It keeps the same buffers, broadcasts, cursors and statuses, and speaks the same control protocol: its
first line on standard output is its URL; then each line on standard input is a command in JSON and each
answer is a line. The generation is that of the stubs: 0.1.5 or 0.0.116.

usage: python interop/gateway [SETTINGS_JSON]      (in a venv with `openshell`)
"""

import asyncio
import json
import os
import sys

import grpc
import openshell._proto.openshell_pb2_grpc as pb_grpc

from control import Control
from door import Door
from service import Service
from world import World


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
