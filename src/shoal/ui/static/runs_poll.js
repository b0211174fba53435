// Looks at the runs twice a second while one of them goes on, and never else. Whoever watches "runs" is notified.
import { api, saved, say, state, tellOthers, update, watch } from "./core.js";

/** @import { Estimate, Run } from "./types" */

const OFTEN = 500;
const SELDOM = 3000;
/** @type {number | null} */
let timer = null;
/** @type {Map<string, Estimate>} */
const promised = new Map();

/**
 * What tells a run from one of another table that had the same number.
 * @param {Run} run
 * @returns {string}
 */
export const keyOf = (run) => `${run.number}/${run.started}`;

/**
 * The estimate with which a run was started here, if it was.
 * @param {Run} run
 * @returns {Estimate | undefined}
 */
export const promisedTo = (run) => promised.get(keyOf(run));

/**
 * What a reader calls a run.
 * @param {Run} run
 * @returns {string}
 */
export const called = (run) => `Run ${Number(run.number)}${run.name ? `, ${run.name}` : ""}`;

const goingOn = () => state.runs.some((run) => run.state === "running");

function poll(after = OFTEN) {
  if (timer === null && goingOn()) timer = setTimeout(look, after);
}

async function look() {
  let after = OFTEN;
  try { await fetchRuns(); } catch { after = SELDOM; }  // the server is away for the moment
  timer = null;
  poll(after);
}

/** Ask for the runs now. */
export async function fetchRuns() {
  const before = new Map(state.runs.map((run) => [keyOf(run), run.state]));
  const { runs } = await api.get("/api/runs");
  for (const run of runs) if (before.get(keyOf(run)) === "running" && run.state !== "running") say(`${called(run)}: ${run.state}.`);
  update({ runs }, "runs");
}

/**
 * Start a run of the policy as it stands, once that is written. `kind` is "release" or "lattice".
 * @param {Run["kind"]} kind
 * @param {string} [name]
 * @param {Estimate | null} [estimate]
 * @returns {Promise<Run>}
 */
export async function startRun(kind, name = "", estimate = null) {
  await saved();
  const run = await api.post("/api/runs", { kind, name });
  if (estimate) promised.set(keyOf(run), estimate);
  await fetchRuns();
  tellOthers();
  return run;
}

watch(() => poll());
