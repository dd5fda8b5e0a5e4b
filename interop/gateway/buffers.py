"""What a gateway keeps of a sandbox: tails, broadcasts, cursors."""

import collections
import uuid

import grpc

TAIL_LINES_MAX = 2000
PLATFORM_EVENTS_MAX = 50
BROADCAST_MESSAGES_MAX = 1024


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
