"""DuckDB and pyarrow read a local archive and agree with `boundlane query` on counts, times and text.

usage: agree.py BOUNDLANE SCRATCH_DIR
"""

import collections
import datetime
import json
import pathlib
import subprocess
import sys

import duckdb
import pyarrow.dataset
import pyarrow.parquet

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
SCRATCH = pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent.parent

CHECKS = 0


def same(what, ours, theirs):
    """Ends the run when the two readers differ, naming the first difference."""
    global CHECKS
    CHECKS += 1
    if ours == theirs:
        return
    print(f"disagreement on {what}")
    if isinstance(ours, list) and isinstance(theirs, list):
        print(f"  rows: {len(ours)} by boundlane, {len(theirs)} by the other reader")
        for number, (one, other) in enumerate(zip(ours, theirs)):
            if one != other:
                print(f"  row {number}:\n    boundlane {one!r}\n    other     {other!r}")
                break
    else:
        print(f"  boundlane {ours!r}\n  other     {theirs!r}")
    sys.exit(1)


def boundlane(*arguments, stdin=None):
    state = ["--state-dir", str(SCRATCH / "state")]
    done = subprocess.run(
        [BINARY, *state, *arguments], input=stdin, capture_output=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"boundlane {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr.decode()}")
    return done.stdout


def query(sql):
    lines = boundlane("query", sql, "-o", "jsonl").decode("utf-8").splitlines()
    return [tuple(json.loads(line).values()) for line in lines]


def hostile_lines():
    """Lines that a sandbox can make: every one must come back from every reader as it was stored."""
    prefix = "[1791291700.{:03}] [sandbox] [OCSF ] [ocsf] "
    bodies = [
        "NET:OPEN [MED] DENIED /opt/a \"b\" 'c',d;e(7) -> evil.example:443 [policy:-] [reason:x,\"y\"]",
        "PROC:LAUNCH [INFO] sh(9) [cmd:=cmd|' /C calc'!A0 \t \u202e\u2028 \x1b[2J \x7f]",
        "HTTP:GET [MED] DENIED GET http://h:1/\u4e2d\u6587/\U0001f600 [policy:p engine:l7] [reason:a [b]] c]",
        "EVENT [INFO] nul \x00 here",
        "NET:OPEN [MED] DENIED /usr/bin/curl(7) -> 2001:4860:4860::8888:443 [policy:-]",
    ]
    text = "".join(prefix.format(n) + body + "\n" for n, body in enumerate(bodies))
    return text.encode() + b"[1791291700.100] [sandbox] [OCSF ] [ocsf] EVENT [INFO] bad \xff\xc3\x28 bytes \\ end\n"


def rfc3339(moment):
    """A timestamp as boundlane prints it: microseconds and Z."""
    if moment is None:
        return None
    moment = moment.astimezone(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def main():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    boundlane("ingest", str(HERE / "samples" / "checkout-fix.log"), "--sandbox", "checkout-fix")
    boundlane("ingest", "-", "--sandbox", "hostile", stdin=hostile_lines())
    fixture = HERE / "ingest" / "tests" / "fixtures" / "openshell-lines.txt"
    boundlane("ingest", str(fixture), "--sandbox", "public-lines")

    root = SCRATCH / "state" / "archive"
    files = sorted(root.glob("v=1/date=*/*.parquet"))
    if not files:
        sys.exit(f"no Parquet files below {root}")
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    table = f"read_parquet('{root}/v=1/date=*/*.parquet', union_by_name = true, hive_partitioning = true)"
    arrow = pyarrow.dataset.dataset([str(file) for file in files], format="parquet").to_table()

    same("the number of entries", query("SELECT count(*) AS n FROM entries")[0][0], arrow.num_rows)
    counts = "SELECT kind, outcome, count(*) AS n FROM {} GROUP BY kind, outcome ORDER BY kind, outcome NULLS LAST"
    same("counts by kind and outcome", query(counts.format("entries")), duck.execute(counts.format(table)).fetchall())

    columns = "journal, seq, kind, sandbox, host, port, path, rule, reason, message, attributes, raw"
    text = "SELECT {} FROM {} ORDER BY journal, seq"
    ours = query(text.format(columns, "entries"))
    same("text, by DuckDB", ours, duck.execute(text.format(columns, table)).fetchall())
    rows = arrow.sort_by([("journal", "ascending"), ("seq", "ascending")])
    picked = rows.select([name.strip() for name in columns.split(",")]).to_pylist()
    same("text, by pyarrow", ours, [tuple(row.values()) for row in picked])

    ours = query('SELECT seq, "time", observed FROM entries ORDER BY journal, seq')
    theirs = duck.execute(f'SELECT seq, "time", observed FROM {table} ORDER BY journal, seq').fetchall()
    same("times, by DuckDB", ours, [(seq, rfc3339(at), rfc3339(seen)) for seq, at, seen in theirs])
    theirs = zip(rows["seq"].to_pylist(), rows["time"].to_pylist(), rows["observed"].to_pylist())
    same("times, by pyarrow", ours, [(seq, rfc3339(at), rfc3339(seen)) for seq, at, seen in theirs])

    denied = collections.Counter(
        (row["host"], row["rule"]) for row in rows.to_pylist() if row["outcome"] == "denied"
    )
    ours = query("SELECT host, rule, count(*) AS n FROM decisions WHERE outcome = 'denied' GROUP BY host, rule")
    same("denials by host and rule, by pyarrow", {(h, r): n for h, r, n in ours}, dict(denied))

    for file in files:
        footer = pyarrow.parquet.ParquetFile(file)
        metadata = {key.decode(): value.decode() for key, value in footer.schema_arrow.metadata.items()} if footer.schema_arrow.metadata else {}
        metadata.update({k.decode(): v.decode() for k, v in (footer.metadata.metadata or {}).items() if k != b"ARROW:schema"})
        same(f"rows in the footer of {file.name}", int(metadata["boundlane.rows"]), footer.metadata.num_rows)
        for number in range(footer.metadata.num_columns):
            column = footer.metadata.row_group(0).column(number)
            same(f"compression of {column.path_in_schema}", "ZSTD", column.compression)
    print(f"{CHECKS} passed, 0 failed")


main()
