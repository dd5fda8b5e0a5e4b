"""The port in front of the gRPC server."""

import asyncio
import random
import socket
import struct


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
                # One that has just ended has no socket any more.
                if how == "reset" and not writer.is_closing():
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
