-- A store of schema version 1: transpose and relu on one input, two operators. Made by the program that wrote that version
-- and sqlite3 store.sqlite .dump.
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE campaign (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  name TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  config TEXT NOT NULL
) STRICT;
INSERT INTO campaign VALUES(1,'transposes','a95793ee17216647cd621a10b9c56885','{"name":"transposes","seed":1,"max_operators":2,"max_elements":512,"instances":true,"inputs":[{"name":"x","shape":[2,3],"weight":false}],"operators":[{"choice":"transpose","no_weight_operands":0,"inputs_only":false,"distinct_operands":false,"operands_in_order":false,"operands_up_to":[]},{"choice":"relu","no_weight_operands":0,"inputs_only":false,"distinct_operands":false,"operands_in_order":false,"operands_up_to":[]}],"pruners":[{"name":"renaming","options":{}},{"name":"common_subgraph","options":{}}],"verifiers":[{"name":"evaluate","options":{}},{"name":"egraph","options":{}}],"work":10000000,"memory_bytes":1073741824,"cross_check":false,"trust":"solver","axioms":["axioms/layout.smt2","axioms/elementwise.smt2"]}');
CREATE TABLE ingredients (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO ingredients VALUES('axioms','axioms/elementwise.smt2','','a92d3c4ee0303b8096ee202f5e6c0bdb');
INSERT INTO ingredients VALUES('axioms','axioms/layout.smt2','','6f8a195332779984f9fa5530111fcca7');
INSERT INTO ingredients VALUES('plugin','operator.relu','1.0.0','b100b25227e57970b7ea3e8f02f3c415');
INSERT INTO ingredients VALUES('plugin','operator.transpose','1.0.0','26077d1a05a53baad1cba96dde1cdb06');
INSERT INTO ingredients VALUES('plugin','pruner.common_subgraph','1.0.0','83fe9b6bf5738427aca4b0f1a0c40273');
INSERT INTO ingredients VALUES('plugin','pruner.renaming','1.0.0','89133746083ab3d1b6120ba66ec3b0b7');
INSERT INTO ingredients VALUES('plugin','verifier.egraph','1.0.0','c8c9db73675a245a170ef3501af39aea');
INSERT INTO ingredients VALUES('plugin','verifier.evaluate','1.1.0','b82ad0f82f1567b379af213afc6afdd7');
INSERT INTO ingredients VALUES('program','librewright','0.1.0','614afba94ecf2c5b5c2539ca0a892ae1');
CREATE TABLE phases (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO phases VALUES('enumerate');
INSERT INTO phases VALUES('library');
INSERT INTO phases VALUES('prune');
INSERT INTO phases VALUES('verify');
CREATE TABLE levels (
  operators INTEGER PRIMARY KEY,
  graphs INTEGER NOT NULL,
  classes INTEGER NOT NULL,
  candidates INTEGER NOT NULL
) STRICT;
INSERT INTO levels VALUES(1,2,3,0);
INSERT INTO levels VALUES(2,4,4,3);
CREATE TABLE candidates (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  operators INTEGER NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL
) STRICT;
INSERT INTO candidates VALUES(0,'551002876b56219fb27b471bd598a68e',2,replace('x = input (2, 3)\ntranspose = transpose(x)\ntranspose_2 = transpose(transpose)\noutput transpose_2\n','\n',char(10)),replace('x = input (2, 3)\noutput x\n','\n',char(10)));
INSERT INTO candidates VALUES(1,'900ae147cf72ab44b6d399f06e956aac',2,replace('x = input (2, 3)\nrelu = relu(x)\nrelu_2 = relu(relu)\noutput relu_2\n','\n',char(10)),replace('x = input (2, 3)\nrelu = relu(x)\noutput relu\n','\n',char(10)));
INSERT INTO candidates VALUES(2,'e0ed74f7e4f01892cbb54ff375b16c52',2,replace('x = input (2, 3)\nrelu = relu(x)\ntranspose = transpose(relu)\noutput transpose\n','\n',char(10)),replace('x = input (2, 3)\ntranspose = transpose(x)\nrelu = relu(transpose)\noutput relu\n','\n',char(10)));
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
INSERT INTO goals VALUES(0,'a3f8a6f1eb740a94fede8993597b4a8e','(x:2) transpose(transpose(x)) => x','transpose-transpose','{"shapes":[[2,3]],"sizes":{}}','proved','(x:2) transpose(transpose(x)) => x','certificate',replace('certificate 1\noutput 0\n. > transpose-transpose@7e56a095 x=x\n','\n',char(10)));
INSERT INTO goals VALUES(1,'509a6c8ba35ebea912a3043486496696','(x:2) relu(relu(x)) => relu(x)','relu-relu-to-relu','{"shapes":[[2,3]],"sizes":{}}','proved','(x:2) relu(relu(x)) => relu(x)','certificate',replace('certificate 1\noutput 0\n. > relu-relu@2c8d2d48 x=x\n','\n',char(10)));
INSERT INTO goals VALUES(2,'5d4032716f16f54a9fed23a0c290c2f8','(x:2) relu(x) => relu(relu(x))','relu-to-relu-relu','{"shapes":[[2,3]],"sizes":{}}','proved','(x:2) relu(x) => relu(relu(x))','certificate',replace('certificate 1\noutput 0\n. < relu-relu@2c8d2d48 x=x\n','\n',char(10)));
INSERT INTO goals VALUES(3,'b5f8c340b8cf817781005c9612299bf9','(x:2) transpose(relu(x)) => relu(transpose(x))','transpose-relu-to-relu-transpose','{"shapes":[[2,3]],"sizes":{}}','proved','(x:2) transpose(relu(x)) => relu(transpose(x))','certificate',replace('certificate 1\noutput 0\n. > transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)));
INSERT INTO goals VALUES(4,'0c9263145913963b76f69037546a4a0c','(x:2) relu(transpose(x)) => transpose(relu(x))','relu-transpose-to-transpose-relu','{"shapes":[[2,3]],"sizes":{}}','proved','(x:2) relu(transpose(x)) => transpose(relu(x))','certificate',replace('certificate 1\noutput 0\n. < transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)));
CREATE TABLE proposals (
  candidate INTEGER NOT NULL REFERENCES candidates (position),
  reversed INTEGER NOT NULL,
  numbers INTEGER NOT NULL,
  goal INTEGER REFERENCES goals (position),
  reason TEXT NOT NULL,
  PRIMARY KEY (candidate, reversed, numbers)
) STRICT, WITHOUT ROWID;
INSERT INTO proposals VALUES(0,0,0,0,'');
INSERT INTO proposals VALUES(0,1,0,NULL,'rule input-to-transpose-transpose cannot be applied: an output of its source is a bare input, which matches anything');
INSERT INTO proposals VALUES(0,1,1,NULL,'rule input-to-transpose-transpose cannot be applied: an output of its source is a bare input, which matches anything');
INSERT INTO proposals VALUES(1,0,0,1,'');
INSERT INTO proposals VALUES(1,1,0,2,'');
INSERT INTO proposals VALUES(2,0,0,3,'');
INSERT INTO proposals VALUES(2,1,0,4,'');
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
INSERT INTO verdicts VALUES(0,0,'evaluate','1.1.0',10000000,1073741824,'unknown','equal at 8 shapes','','','','');
INSERT INTO verdicts VALUES(0,1,'egraph','1.0.0',10000000,1073741824,'proved','the axioms lead from one side to the other in 1 step','',replace('certificate 1\noutput 0\n. > transpose-transpose@7e56a095 x=x\n','\n',char(10)),'','transpose-transpose');
INSERT INTO verdicts VALUES(1,0,'evaluate','1.1.0',10000000,1073741824,'unknown','equal at 8 shapes','','','','');
INSERT INTO verdicts VALUES(1,1,'egraph','1.0.0',10000000,1073741824,'proved','the axioms lead from one side to the other in 1 step','',replace('certificate 1\noutput 0\n. > relu-relu@2c8d2d48 x=x\n','\n',char(10)),'','relu-relu');
INSERT INTO verdicts VALUES(2,0,'evaluate','1.1.0',10000000,1073741824,'unknown','equal at 8 shapes','','','','');
INSERT INTO verdicts VALUES(2,1,'egraph','1.0.0',10000000,1073741824,'proved','the axioms lead from one side to the other in 1 step','',replace('certificate 1\noutput 0\n. < relu-relu@2c8d2d48 x=x\n','\n',char(10)),'','relu-relu');
INSERT INTO verdicts VALUES(3,0,'evaluate','1.1.0',10000000,1073741824,'unknown','equal at 8 shapes','','','','');
INSERT INTO verdicts VALUES(3,1,'egraph','1.0.0',10000000,1073741824,'proved','the axioms lead from one side to the other in 1 step','',replace('certificate 1\noutput 0\n. > transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)),'','transpose-of-relu');
INSERT INTO verdicts VALUES(4,0,'evaluate','1.1.0',10000000,1073741824,'unknown','equal at 8 shapes','','','','');
INSERT INTO verdicts VALUES(4,1,'egraph','1.0.0',10000000,1073741824,'proved','the axioms lead from one side to the other in 1 step','',replace('certificate 1\noutput 0\n. < transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)),'','transpose-of-relu');
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
INSERT INTO rules VALUES(0,'a3f8a6f1eb740a94fede8993597b4a8e','transpose-transpose',0,'(x:2) transpose(transpose(x)) => x','certificate','{"shapes":[[2,3]],"sizes":{}}',replace('certificate 1\noutput 0\n. > transpose-transpose@7e56a095 x=x\n','\n',char(10)));
INSERT INTO rules VALUES(1,'509a6c8ba35ebea912a3043486496696','relu-relu-to-relu',1,'(x:2) relu(relu(x)) => relu(x)','certificate','{"shapes":[[2,3]],"sizes":{}}',replace('certificate 1\noutput 0\n. > relu-relu@2c8d2d48 x=x\n','\n',char(10)));
INSERT INTO rules VALUES(2,'5d4032716f16f54a9fed23a0c290c2f8','relu-to-relu-relu',2,'(x:2) relu(x) => relu(relu(x))','certificate','{"shapes":[[2,3]],"sizes":{}}',replace('certificate 1\noutput 0\n. < relu-relu@2c8d2d48 x=x\n','\n',char(10)));
INSERT INTO rules VALUES(3,'b5f8c340b8cf817781005c9612299bf9','transpose-relu-to-relu-transpose',3,'(x:2) transpose(relu(x)) => relu(transpose(x))','certificate','{"shapes":[[2,3]],"sizes":{}}',replace('certificate 1\noutput 0\n. > transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)));
INSERT INTO rules VALUES(4,'0c9263145913963b76f69037546a4a0c','relu-transpose-to-transpose-relu',4,'(x:2) relu(transpose(x)) => transpose(relu(x))','certificate','{"shapes":[[2,3]],"sizes":{}}',replace('certificate 1\noutput 0\n. < transpose-of-relu@5e9c74da k=[1, 0]; x=x\n','\n',char(10)));
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  started TEXT NOT NULL,
  threads INTEGER NOT NULL,
  resumed INTEGER NOT NULL
) STRICT;
INSERT INTO runs VALUES(1,'2026-11-21 06:29:36',2,0);
CREATE TABLE timings (
  run INTEGER NOT NULL REFERENCES runs (number),
  phase TEXT NOT NULL,
  seconds REAL NOT NULL,
  peak_memory_bytes INTEGER NOT NULL,
  PRIMARY KEY (run, phase)
) STRICT, WITHOUT ROWID;
INSERT INTO timings VALUES(1,'enumerate',0.0061174740000000003489,24645632);
INSERT INTO timings VALUES(1,'enumerate 1',0.0043087129999999996057,24645632);
INSERT INTO timings VALUES(1,'enumerate 2',0.00016216000000000000596,24645632);
INSERT INTO timings VALUES(1,'library',0.00020811000000000001155,24645632);
INSERT INTO timings VALUES(1,'prune',0.00018108999999999998904,24645632);
INSERT INTO timings VALUES(1,'verify',0.0019722720000000001742,24645632);
COMMIT;
