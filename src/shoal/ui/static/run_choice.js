// Which run a page is about.
import { choice, state } from "./core.js";

/** @import { Run } from "./types" */

/**
 * The finished runs of a kind, the last first.
 * @param {Run["kind"]} [kind]
 * @returns {Run[]}
 */
export function finished(kind = "release") {
  return state.runs.filter((run) => run.kind === kind && run.state === "done").reverse();
}

/**
 * The run that an address names, or the last one; undefined where there is none.
 * @param {string | undefined} number
 * @returns {Run | undefined}
 */
export function runAt(number) {
  return finished().find((run) => run.number === number) ?? (number && number !== "-" ? undefined : finished()[0]);
}

/**
 * A run by its number and name.
 * @param {Run} run
 * @returns {string}
 */
export function runName(run) {
  const algorithm = run.summary?.algorithm ?? "";
  return `Run ${Number(run.number)}${run.name ? `: ${run.name}` : ""}${algorithm ? ` (${algorithm})` : ""}`;
}

/**
 * A select of the finished runs that leads to the same page of another.
 * @param {string} id
 * @param {Run} run
 * @param {(number: string) => string} address
 * @returns {HTMLSelectElement}
 */
export function runChoice(id, run, address) {
  return choice(id, finished().map((each) => [each.number, runName(each)]), run.number, (number) => { location.hash = address(number); });
}
