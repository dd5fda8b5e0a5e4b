"""What the wire of this generation of the stubs looks like."""

import re

import openshell._proto.openshell_pb2 as pb

IS_NEW = "resume_after_cursor" in pb.WatchSandboxRequest.DESCRIPTOR.fields_by_name
CURSOR = re.compile(r"v1:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([0-9]{20})")
RANKS = {"TRACE": 0, "DEBUG": 1, "INFO": 2, "OCSF": 2, "WARN": 3, "ERROR": 4}


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
