// How much faster a result is than the original in ONNX Runtime with all optimisations: both in turn, A B B A, and of
// each the least of the round; A B, then B A, where a run takes long. The interval of the median ratio is that of the sign test at 99.9 %, of a number of
// rounds that is chosen beforehand.
//
// Source  Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Session } from "./runtime.mjs";
import { countNodes, readModel } from "./proto.mjs";

const kDoubt = 0.001, kBatchUs = 1000, kSlowUs = 3e5, kFewestRounds = 11;

const nowUs = () => Number(process.hrtime.bigint()) / 1000;

function timeUs(run, runs) {
  const start = nowUs();
  for (let i = 0; i < runs; ++i) run();
  return (nowUs() - start) / runs;
}

/// How many of the smallest of `count` values the interval leaves out.
function leftOut(count) {
  let share = 0.5 ** count, total = share, heads = 0;
  while (total <= kDoubt / 2) {
    share *= (count - heads) / (heads + 1);
    total += share;
    ++heads;
  }
  return Math.max(heads - 1, 0);
}

export function compareTimes(before, after, feeds, seconds) {
  const files = [before, after], least = [[], []], ratios = [];
  const measureRound = (first) => {
    const round = [Infinity, Infinity], runs = [];
    for (const which of [first, 1 - first]) {
      runs[which] = new Session(files[which], "all").prepared(feeds);
      if (!(least[0][0] > kSlowUs)) runs[which]();
    }
    const order = [first, 1 - first];
    if (!(least[0][0] > kSlowUs)) order.push(1 - first, first);
    for (const which of order) {
      const onceUs = timeUs(runs[which], 1), count = Math.min(Math.ceil(kBatchUs / onceUs), 1000);
      round[which] = Math.min(round[which], ...(count > 1 ? [timeUs(runs[which], count), timeUs(runs[which], count)] : [onceUs]));
    }
    least.forEach((times, which) => times.push(round[which]));
    ratios.push(round[0] / round[1]);
  };
  const start = nowUs();
  measureRound(0);
  const rounds = Math.min(Math.max(Math.floor(seconds * 1e6 / (nowUs() - start)), kFewestRounds), 61);
  for (let i = 1; i < rounds; ++i) measureRound(i % 2);
  ratios.sort((a, b) => a - b);
  const out = leftOut(rounds), median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  return { beforeUs: median(least[0]), afterUs: median(least[1]), ratio: median(ratios), low: ratios[out],
    high: ratios[rounds - 1 - out], rounds };
}

/// The nodes that ONNX Runtime's optimisations leave.
export function optimisedNodes(file) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "corpus-"));
  try {
    const optimised = path.join(folder, "model.onnx");
    new Session(file, "all", optimised);
    return countNodes(readModel(readFileSync(optimised)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
