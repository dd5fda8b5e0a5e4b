-- The journal, schema 2. One file, `journal.sqlite`, in WAL mode.
-- Times are microseconds since 1970-01-01T00:00:00Z; hashes and digests are raw bytes; a number is an
-- entry's place in the journal, from 1. Words are those of the record's columns.
--
-- In every later schema the header keeps this application id, `user_version` is the schema's number, and
-- the one row of `journal` keeps `written_by`, so that an old program can say who wrote a newer file.

PRAGMA application_id = 0x426e646c; -- "Bndl"
PRAGMA user_version = 2;

-- One row: what the journal is, how far it goes, its books in total.
CREATE TABLE journal (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  written_by    TEXT NOT NULL,    -- program and version that laid out this schema
  id            TEXT NOT NULL,    -- 32 lower-case hex digits, random
  created       INTEGER NOT NULL,
  why           TEXT NOT NULL,    -- new, enrolled, fork, salvaged, restored, state_lost
  machine_label TEXT NOT NULL,
  machine_hash  BLOB,             -- keyed hash of the machine id; null where the machine has none
  key_hash      BLOB NOT NULL,    -- hash of `digest.key`: another key voids marks and fingerprints
  size          INTEGER NOT NULL, -- entries, pruned ones included: the last number given
  edge          BLOB NOT NULL,    -- right edge of the tree at `size`: 8 bytes of size, then 32 a hash
  pruned        INTEGER NOT NULL, -- numbers through this one are gone from `blocks`
  stored_bytes  INTEGER NOT NULL, -- sum of the bodies in `blocks`
  lines_read    INTEGER NOT NULL,
  records       INTEGER NOT NULL,
  ignored       INTEGER NOT NULL,
  repeats       INTEGER NOT NULL,
  refused       INTEGER NOT NULL,
  waiting_entries INTEGER NOT NULL DEFAULT 0, -- in blocks that wait for a consumer, outside the last tenth
  waiting_bytes INTEGER NOT NULL DEFAULT 0, -- their part of the bodies
  tenth_entries INTEGER NOT NULL DEFAULT 0, -- the same within the last tenth
  tenth_bytes   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Consecutive entries of one commit: canonical bytes joined by newlines, none after the last.
CREATE TABLE blocks (
  first         INTEGER PRIMARY KEY,
  last          INTEGER NOT NULL,
  packed        INTEGER NOT NULL, -- 0: `body` is the bytes; 1: `body` is one zstd frame of them
  plain_bytes   INTEGER NOT NULL, -- length before packing
  observed_from INTEGER NOT NULL, -- least and greatest `observed`
  observed_to   INTEGER NOT NULL,
  time_from     INTEGER,          -- least and greatest `time`; null when no entry has one
  time_to       INTEGER,
  counts        TEXT NOT NULL,    -- `kind:outcome:entries`, space-separated; an absent outcome is empty
  streams       TEXT NOT NULL,    -- ids, space-separated, ascending; 0 is the journal itself
  checksum      BLOB NOT NULL,    -- first 16 bytes of SHA-256 over all the other columns
  body          BLOB NOT NULL
) STRICT;

-- Which blocks hold entries of a stream, so that one sandbox's log reads no other's; and what a block
-- gives back of a sandbox's share when nobody waits for it any more.
CREATE TABLE block_streams (
  stream        INTEGER NOT NULL,
  first         INTEGER NOT NULL,
  entries       INTEGER NOT NULL,
  stored_bytes  INTEGER NOT NULL DEFAULT 0, -- the body's bytes, divided as the plain bytes are; the rest is the first stream's
  tenth_entries INTEGER NOT NULL DEFAULT 0, -- of `entries`, those let into the last tenth
  tenth_bytes   INTEGER NOT NULL DEFAULT 0, -- of `stored_bytes`
  PRIMARY KEY (stream, first)
) STRICT, WITHOUT ROWID;

-- Hashes of complete 256-entry subtrees of the tree, kept after their entries are pruned.
CREATE TABLE subtrees (
  n    INTEGER PRIMARY KEY,       -- entries 256 n + 1 through 256 n + 256
  hash BLOB NOT NULL
) STRICT;

-- One row a stream: its checkpoint, its books.
CREATE TABLE streams (
  id             INTEGER PRIMARY KEY,
  stream         TEXT NOT NULL UNIQUE,
  sandbox        TEXT,
  sandbox_id     TEXT,
  workspace      TEXT,
  source         TEXT NOT NULL,
  version        INTEGER NOT NULL, -- of the checkpoint; grows by one a commit that moves it
  place          TEXT NOT NULL,    -- JSON, the source's own
  decode_state   TEXT NOT NULL,    -- JSON, the parser's own
  policy_version TEXT,
  policy_hash    TEXT,
  policy_known   INTEGER NOT NULL,
  entries        INTEGER NOT NULL,
  first          INTEGER,          -- its first and last number
  last           INTEGER,
  last_time      INTEGER,          -- greatest event time
  last_observed  INTEGER,          -- greatest `observed`
  lines_read     INTEGER NOT NULL,
  records        INTEGER NOT NULL,
  ignored        INTEGER NOT NULL,
  repeats        INTEGER NOT NULL,
  refused        INTEGER NOT NULL,
  waiting_entries INTEGER NOT NULL DEFAULT 0, -- as in `journal`, of this stream
  waiting_bytes  INTEGER NOT NULL DEFAULT 0,
  tenth_entries  INTEGER NOT NULL DEFAULT 0,
  tenth_bytes    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX streams_sandbox ON streams (sandbox);
CREATE INDEX streams_waiting ON streams (coalesce(sandbox_id, sandbox, stream))
  WHERE waiting_entries + tenth_entries > 0;

-- Entries by kind and outcome, for each stream (0: the journal itself). Pruning takes nothing away.
CREATE TABLE counts (
  stream  INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  outcome TEXT NOT NULL,          -- empty when absent
  entries INTEGER NOT NULL,
  PRIMARY KEY (stream, kind, outcome)
) STRICT, WITHOUT ROWID;

-- The same over all streams, so that `status` reads a few rows.
CREATE TABLE totals (
  kind    TEXT NOT NULL,
  outcome TEXT NOT NULL,
  entries INTEGER NOT NULL,
  PRIMARY KEY (kind, outcome)
) STRICT, WITHOUT ROWID;

-- Keyed digests of a file's first bytes, one every 1 MiB and one at the stored place.
CREATE TABLE marks (
  stream INTEGER NOT NULL,
  offset INTEGER NOT NULL,        -- decompressed bytes before the mark
  digest BLOB NOT NULL,           -- HMAC-SHA-256, 32 bytes
  PRIMARY KEY (stream, offset)
) STRICT, WITHOUT ROWID;

-- Keyed fingerprints of a stream's last lines, as they were appended.
CREATE TABLE fingerprints (
  stream  INTEGER NOT NULL,
  through INTEGER NOT NULL,       -- running number of the last line in this row
  digests BLOB NOT NULL,          -- 16 bytes a line, oldest first
  PRIMARY KEY (stream, through)
) STRICT, WITHOUT ROWID;

-- Losses that still grow and have no number yet.
CREATE TABLE open_losses (
  stream        INTEGER NOT NULL,
  kind          TEXT NOT NULL,    -- gap, drops
  cause         TEXT NOT NULL,
  extent        TEXT NOT NULL,
  lines         INTEGER,          -- null when the extent is unknown
  denied        INTEGER,          -- of drops
  "from"        INTEGER,
  "to"          INTEGER,
  after_cursor  TEXT,
  before_cursor TEXT,
  evidence      TEXT,
  opened        INTEGER NOT NULL, -- when the row was written first and last
  grown         INTEGER NOT NULL,
  PRIMARY KEY (stream, kind, cause)
) STRICT, WITHOUT ROWID;

-- Numbered losses that are still in `blocks`.
CREATE TABLE losses (
  seq      INTEGER PRIMARY KEY,
  stream   INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  cause    TEXT NOT NULL,
  extent   TEXT NOT NULL,
  lines    INTEGER,
  denied   INTEGER,
  observed INTEGER NOT NULL
) STRICT;
CREATE INDEX losses_observed ON losses (observed);

-- All numbered losses ever, by cause.
CREATE TABLE loss_totals (
  kind    TEXT NOT NULL,
  cause   TEXT NOT NULL,
  extent  TEXT NOT NULL,
  entries INTEGER NOT NULL,
  lines   INTEGER NOT NULL,
  denied  INTEGER NOT NULL,
  PRIMARY KEY (kind, cause, extent)
) STRICT, WITHOUT ROWID;

-- How far each consumer has taken the entries over. The least of them is what may be pruned.
CREATE TABLE acks (
  consumer TEXT PRIMARY KEY,      -- archiver, uploader
  through  INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  settling INTEGER NOT NULL DEFAULT 0, -- of the archiver: an earlier `through`, until it is old enough
  settling_at INTEGER NOT NULL DEFAULT 0,
  settled  INTEGER NOT NULL DEFAULT 0  -- everything through this may be pruned: no query looks for it here
) STRICT, WITHOUT ROWID;

-- The boot of the machine in which something was pruned last, and the wall clock's time of it.
CREATE TABLE boot (
  id     TEXT PRIMARY KEY,
  moment INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was pruned: the tree goes on from each edge.
CREATE TABLE prunes (
  through INTEGER PRIMARY KEY,
  first   INTEGER NOT NULL,
  root    BLOB NOT NULL,
  edge    BLOB NOT NULL,
  seq     INTEGER NOT NULL,       -- of the `pruned` entry
  at      INTEGER NOT NULL
) STRICT;

-- Bounds that every writer of this directory keeps, the unit in the name.
CREATE TABLE limits (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO limits (name, value) VALUES
  ('queued_entries_max', 10000000),
  ('queued_stored_bytes_max', 1073741824),
  ('kept_age_seconds_max', 604800),
  ('kept_stored_bytes_max', 1073741824);
INSERT INTO acks (consumer, through, at) VALUES ('archiver', 0, 0);
