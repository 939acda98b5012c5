#include "store/store_schema.h"

#include <array>

namespace rewright {
namespace {

constexpr std::string_view kFirst = R"sql(
CREATE TABLE campaign (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  name TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  config TEXT NOT NULL
) STRICT;
CREATE TABLE ingredients (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE phases (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE levels (
  operators INTEGER PRIMARY KEY,
  graphs INTEGER NOT NULL,
  classes INTEGER NOT NULL,
  candidates INTEGER NOT NULL
) STRICT;
CREATE TABLE candidates (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  operators INTEGER NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL
) STRICT;
CREATE TABLE removals (
  candidate INTEGER PRIMARY KEY REFERENCES candidates (position),
  pruner TEXT NOT NULL,
  by TEXT REFERENCES candidates (id),
  reason TEXT NOT NULL,
  reinstated INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE goals (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  name TEXT NOT NULL,
  example TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'proved', 'refuted', 'unknown')),
  rule TEXT NOT NULL,
  trust TEXT NOT NULL,
  certificate TEXT NOT NULL
) STRICT;
CREATE TABLE proposals (
  candidate INTEGER NOT NULL REFERENCES candidates (position),
  reversed INTEGER NOT NULL,
  numbers INTEGER NOT NULL,
  goal INTEGER REFERENCES goals (position),
  reason TEXT NOT NULL,
  PRIMARY KEY (candidate, reversed, numbers)
) STRICT, WITHOUT ROWID;
CREATE TABLE verdicts (
  goal INTEGER NOT NULL REFERENCES goals (position),
  place INTEGER NOT NULL,
  verifier TEXT NOT NULL,
  version TEXT NOT NULL,
  work INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('proved', 'refuted', 'unknown')),
  reason TEXT NOT NULL,
  counterexample TEXT NOT NULL,
  certificate TEXT NOT NULL,
  conditions TEXT NOT NULL,
  axioms TEXT NOT NULL,
  PRIMARY KEY (goal, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE rules (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  goal INTEGER NOT NULL REFERENCES goals (position),
  text TEXT NOT NULL,
  trust TEXT NOT NULL CHECK (trust IN ('solver', 'certificate')),
  example TEXT NOT NULL,
  certificate TEXT NOT NULL
) STRICT;
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  started TEXT NOT NULL,
  threads INTEGER NOT NULL,
  resumed INTEGER NOT NULL
) STRICT;
CREATE TABLE timings (
  run INTEGER NOT NULL REFERENCES runs (number),
  phase TEXT NOT NULL,
  seconds REAL NOT NULL,
  peak_memory_bytes INTEGER NOT NULL,
  PRIMARY KEY (run, phase)
) STRICT, WITHOUT ROWID;
)sql";

// Names by id, conditions as a column of their own, uses of rules, times of verdicts, and where a merged store's rows
// come from.
constexpr std::string_view kSecond = R"sql(
UPDATE rules SET name = CASE WHEN rtrim(name, '0123456789') LIKE '%-'
  THEN rtrim(name, '0123456789') ELSE name || '-' END || substr(id, 1, 8);
UPDATE goals SET name = name || '-' || substr(id, 1, 8);
ALTER TABLE rules ADD COLUMN precondition TEXT GENERATED ALWAYS AS (
  CASE WHEN instr(text, ' where ') > 0 THEN substr(text, instr(text, ' where ') + 7) ELSE '' END
) VIRTUAL;
CREATE TABLE verdict_times (
  goal INTEGER NOT NULL,
  place INTEGER NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (goal, place),
  FOREIGN KEY (goal, place) REFERENCES verdicts (goal, place) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE uses (
  rule TEXT NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
  model_hash TEXT NOT NULL,
  search TEXT NOT NULL,
  cost TEXT NOT NULL,
  model TEXT NOT NULL,
  times INTEGER NOT NULL,
  gain_us REAL NOT NULL,
  model_before_us REAL NOT NULL,
  model_after_us REAL NOT NULL,
  recorded TEXT NOT NULL,
  PRIMARY KEY (rule, model_hash, search, cost)
) STRICT, WITHOUT ROWID;
CREATE TABLE campaigns (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  config TEXT NOT NULL,
  ingredients TEXT NOT NULL,
  levels TEXT NOT NULL,
  UNIQUE (config_hash, ingredients)
) STRICT;
CREATE TABLE candidate_origins (
  candidate INTEGER NOT NULL REFERENCES candidates (position),
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  position INTEGER NOT NULL,
  pruner TEXT,
  by TEXT,
  reason TEXT,
  reinstated INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (candidate, campaign)
) STRICT, WITHOUT ROWID;
CREATE TABLE goal_origins (
  goal INTEGER NOT NULL REFERENCES goals (position),
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  position INTEGER NOT NULL,
  PRIMARY KEY (goal, campaign)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_by_goal ON proposals (goal);
CREATE INDEX removals_by_candidate ON removals (by);
)sql";

constexpr std::array kStoreSchema = {kFirst, kSecond};

}  // namespace

Migrations store_schema() { return kStoreSchema; }

}  // namespace rewright
