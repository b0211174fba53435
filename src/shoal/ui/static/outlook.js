// What the desk says of the policy as it stands: its problems with the data, what it can reach, how long a run takes.
// The old answer stays until the new one is there; the page never waits.
import { api, later, saved, state, watch } from "./core.js";

/** @import { Change, Outlook, Policy, Stop, Table } from "./types" */

/** @type {Outlook} */
const EMPTY = { problems: [], forecast: null, estimate: null, trouble: "", renewing: false, of: null };
/** What is known of the policy as it stands. */
export const outlook = { ...EMPTY };
/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Table | null} */
let about = null;
let turn = 0;

/** @param {Partial<Outlook>} changes */
function tell(changes) {
  Object.assign(outlook, changes);
  for (const listener of [...listeners]) listener();
}

const soon = later(renew, 200);

/** Ask anew, unless the answers are about the policy as it stands. What was said of another table goes at once. */
function refresh() {
  if (about !== state.table) { about = state.table; Object.assign(outlook, EMPTY); }
  if (outlook.of === state.policy && !outlook.renewing) return;
  turn += 1;
  tell({ renewing: true });
  soon();
}

async function renew() {
  const mine = turn;
  const policy = state.policy;
  /**
   * @template {"check" | "forecast" | "estimate"} Question
   * @param {Question} question
   */
  const ask = async (question) => {
    const answer = await api.desk(question);
    if (mine !== turn) throw new Late();
    if (answer.outdated) { soon(); throw new Late(); }  // another window asked after us
    return answer;
  };
  try {
    await saved();
    const { problems } = await ask("check");
    if (problems.length) { tell({ problems, forecast: null, estimate: null, trouble: "", renewing: false, of: policy }); return; }
    tell({ problems, trouble: "", forecast: await ask("forecast") });
    tell({ estimate: await ask("estimate"), renewing: false, of: policy });
  } catch (error) {
    if (error instanceof Late) return;
    tell({ trouble: error instanceof Error ? error.message : String(error), forecast: null, estimate: null, renewing: false, of: policy });
  }
}

class Late extends Error {}

/**
 * Be told of every change of the outlook while a page is shown; returns how to stop.
 * @param {() => void} listener
 * @returns {Stop}
 */
export function watchOutlook(listener) {
  listeners.add(listener);
  const stop = watch((what) => { if (["policy", "saved", "table"].includes(what)) refresh(); });
  refresh();
  return () => { listeners.delete(listener); stop(); };
}

/**
 * Put a suggested change into the policy, or into that of a run, and give the changed document.
 * @param {Change} change
 * @param {string} [run]
 * @returns {Promise<Policy>}
 */
export async function withChange(change, run) {
  await saved();
  const { policy } = await api.desk("relax", { where: change.where, value: change.value, text: change.text, ...(run ? { run } : {}) });
  return policy;
}

/**
 * Put a whole document in place of another one that is being edited.
 * @param {Policy} policy
 * @returns {(document: Policy) => void}
 */
export function replaceWith(policy) {
  return (document) => {
    for (const key of Object.keys(document)) delete document[key];
    Object.assign(document, structuredClone(policy));
  };
}
