// Runs side by side: what they reached, and in what their policies differ.
import { count, duration, h, table } from "./core.js";

/** @import { Child, ModelEntry, Policy, Run, Setting } from "./types" */

/**
 * The models of a policy in a line, by their titles: "k-anonymity k = 5; p-sensitivity p = 2 on condition".
 * @param {Policy} policy
 * @param {string[]} sensitive
 * @param {Map<string | undefined, string>} titles
 * @returns {string}
 */
export function modelsInShort(policy, sensitive, titles) {
  return entries(policy).map((entry) => inShort(entry, sensitive, titles)).join("; ");
}

/**
 * The models of a policy; one that was written by hand may hold anything there.
 * @param {Policy} policy
 * @returns {ModelEntry[]}
 */
const entries = (policy) => (Array.isArray(policy.privacy) ? policy.privacy : []).map((entry) => Object(entry));

/** @param {ModelEntry} entry @param {string[]} all @param {Map<string | undefined, string>} titles @returns {string} */
function inShort({ model, sensitive, ...rest }, all, titles) {
  const numbers = Object.entries(rest).map(([key, value]) => `${key} = ${typeof value === "object" ? JSON.stringify(value).replace(/\\u0000/g, "missing").replace(/[{}"]/g, "").replace(/:/g, " ").replace(/,/g, ", ") : value}`);
  const on = sensitive === undefined || all.length === 1 ? "" : ` on ${[sensitive].flat().join(", ")}`;
  return `${titles.get(model) ?? model} ${numbers.join(", ")}${on}`;
}

/** @param {number | null | undefined} value @returns {string} */
const number = (value) => value === undefined || value === null ? "–" : Number.isInteger(value) ? count(value) : value.toFixed(4);

/**
 * Measures side by side, the best of each row marked, and the differences of the policies.
 * @param {{ run: Run, policy: Policy, name: string }[]} runs
 * @param {Set<string>} higher
 * @param {Map<string | undefined, string>} titles
 * @returns {HTMLElement}
 */
export function comparison(runs, higher, titles) {
  const names = [...new Set(runs.flatMap(({ run }) => Object.keys(run.summary?.measures ?? {})))];
  const heads = ["", ...runs.map(({ name }) => name)];
  const rows = [
    ["verdict", ...runs.map(({ run }) => run.summary?.verdict?.text ?? "–")],
    ["released records", ...runs.map(({ run }) => number(run.summary?.released))],
    ["classes", ...runs.map(({ run }) => number(run.summary?.classes))],
    ["time", ...runs.map(({ run }) => run.seconds === undefined ? "–" : duration(run.seconds))],
    ...names.map((name) => [`${name === "suppressed" ? "records suppressed" : name} (${higher.has(name) ? "higher" : "lower"} is better)`, ...best(runs.map(({ run }) => run.summary?.measures?.[name]), higher.has(name))]),
  ];
  const differing = differences(runs.map(({ policy }) => policy), titles);
  return h("section", { id: "comparison", "aria-labelledby": "comparison-head" }, h("h3", { id: "comparison-head" }, "Side by side"),
    table("What the runs reached", heads, rows),
    differing.length ? table("Differences between their policies", heads, differing) : h("p", {}, "Their policies are identical."));
}

/** @param {(number | undefined)[]} values @param {boolean} higher @returns {Child[]} */
function best(values, higher) {
  const known = values.filter((value) => typeof value === "number");
  const top = higher ? Math.max(...known) : Math.min(...known);
  const marked = known.length > 1 && known.some((value) => value !== top);
  return values.map((value) => marked && value === top ? h("strong", {}, number(value), " (best)") : number(value));
}

/**
 * The settings of a policy, each with a name that a reader finds again; hierarchies and categories are one each.
 * @param {Policy} policy
 * @param {Map<string | undefined, string>} titles
 * @returns {Map<string, Setting>}
 */
function settings(policy, titles) {
  const found = new Map();
  for (const [key, value] of Object.entries(policy)) {
    if (key === "privacy") entries(policy).forEach((entry, index) => { const text = inShort(entry, [], titles); found.set(`model ${index + 1}`, { whole: text, shown: text }); });
    else if (key === "columns") for (const [name, column] of Object.entries(value ?? {})) for (const [part, each] of Object.entries(column ?? {})) found.set(`${name}: ${part}`, short(each));
    else if (typeof value === "object" && value !== null && !Array.isArray(value)) for (const [part, each] of Object.entries(value)) found.set(`${key}: ${part}`, short(each));
    else found.set(key, short(value));
  }
  return found;
}

const LONGEST = 160;

/** @param {unknown} value @returns {Setting} */
function short(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return { whole: text, shown: text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text };
}

/** @param {Policy[]} policies @param {Map<string | undefined, string>} titles @returns {Child[][]} */
function differences(policies, titles) {
  const all = policies.map((policy) => settings(policy, titles));
  const names = [...new Set(all.flatMap((each) => [...each.keys()]))];
  return names.filter((name) => new Set(all.map((each) => each.get(name)?.whole ?? "")).size > 1)
    .map((name) => [name, ...all.map((each) => each.get(name)?.shown ?? h("em", { class: "missing" }, "not set"))]);
}
