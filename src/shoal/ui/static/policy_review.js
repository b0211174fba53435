// The review of the policy: its problems with the data, what it can reach, how long a run takes.
// The old answer stays until the new one is there; the page never waits.
import { api, later, review, saved, state, update, watch } from "./core.js";

/** @import { ChangeKind, PolicyReview, Policy, Review, Stop, Table } from "./types" */

/** @type {PolicyReview} */
const EMPTY = { problems: [], forecast: null, estimate: null, trouble: "", renewing: false, of: null };
/** What is known of the policy. */
export const policyReview = { ...EMPTY };
/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Table | null} */
let about = null;
let turn = 0;

/** @param {Partial<PolicyReview>} changes */
function change(changes) {
  Object.assign(policyReview, changes);
  for (const listener of [...listeners]) listener();
}

const soon = later(ask, 200);

/**
 * Show the review that came with a saved change, or ask for one. What was said of another table goes at once.
 * @param {ChangeKind} [what]
 */
function refresh(what) {
  if (about !== state.table) { about = state.table; Object.assign(policyReview, EMPTY); }
  if (policyReview.of === state.policy && !policyReview.renewing) return;
  turn += 1;
  change({ renewing: true });
  const answer = state.reviewed?.policy === state.policy ? state.reviewed.answer : null;
  if (answer?.trouble) change({ ...EMPTY, trouble: answer.trouble.message, of: state.policy });
  else if (answer && "forecast" in answer) show(answer, state.policy);
  else if (what !== "policy") soon();  // a changed policy is being saved, and its review comes with the answer
}

async function ask() {
  const mine = turn;
  const policy = state.policy;
  try {
    await saved();
    const answer = await api.desk("review", { forecast: true });
    if (mine !== turn) return;
    if (answer.outdated) soon(); else show(answer, policy);  // outdated: another window asked after us
  } catch (error) {
    if (mine === turn) change({ ...EMPTY, trouble: error instanceof Error ? error.message : String(error), of: policy });
  }
}

/** @param {Review} answer @param {Policy} policy */
function show({ problems = [], forecast = null, estimate = null }, policy) {
  change({ problems, forecast, estimate, trouble: "", renewing: false, of: policy });
  if (state.policy === policy && state.problems !== problems) update({ problems }, "saved");
}

/**
 * Be notified of every change of the policyReview while a step is shown; returns how to stop.
 * @param {() => void} listener
 * @returns {Stop}
 */
export function watchReview(listener) {
  listeners.add(listener);
  review.wanted = true;
  const stop = watch((what) => { if (what === "policy" || what === "saved" || what === "table") refresh(what); });
  refresh();
  return () => { listeners.delete(listener); review.wanted = listeners.size > 0; stop(); };
}

/**
 * Replace a document that is being edited by another one.
 * @param {Policy} policy
 * @returns {(document: Policy) => void}
 */
export function replaceWith(policy) {
  return (document) => {
    for (const key of Object.keys(document)) delete document[key];
    Object.assign(document, structuredClone(policy));
  };
}
