// What a hierarchy does level by level, and how far values may go: the table of levels and the limits.
import { choice, count, displayValue, field, h, problemList, table } from "./core.js";

/** @import { Boundary, HierarchyAnswer, Limit, Value, View } from "./types" */

/**
 * The table of levels, built by the same code as the release. `view` holds what is looked at; `look(changes)` asks anew.
 * @param {HierarchyAnswer | null} answer
 * @param {View} view
 * @param {(changes: View) => unknown} look
 * @returns {HTMLElement}
 */
export function levelTable(answer, view, look) {
  if (!answer) return h("p", { class: "soft" }, "Loading the levels …");
  const examples = answer.examples;
  const rows = answer.levels.map((level) => [
    level.level === 0 ? "0: the value" : level.level === answer.height ? `${level.level}: everything (*)` : String(level.level),
    count(level.groups), count(level.smallest, "record"),
    ...examples.map((each) => [displayValue(each.path[level.level]), each.limited && level.level > 0 && each.path[level.level] === each.path[level.level - 1] && each.path[level.level] === each.path.at(-1) ? h("span", { class: "soft" }, " (stops here)") : null]),
  ]);
  return h("div", {},
    answer.problems.length ? problemList(answer.problems) : null,
    answer.built ? [
      table("Values at each level", ["Level", "Groups", "Smallest group", ...examples.map((each) => [displayValue(each.value), h("br"), h("span", { class: "soft" }, count(each.records, "record"))])], rows),
      answer.reach < answer.height ? h("p", { class: "soft" }, `Because of the boundary, no value goes above level ${answer.reach}.`) : null,
      h("div", { class: "buttons" }, h("label", { for: "example-value" }, "Show another value"), h("input", { id: "example-value", value: view.value ?? "", autocomplete: "off", onchange: (event) => look({ value: event.target.value === "" ? undefined : event.target.value }) }),
        view.value !== undefined && !examples.some((each) => each.value === view.value) ? h("span", { class: "warning" }, "The data has no such value.") : null),
    ] : h("p", { class: "soft" }, "The levels are shown once the problems are fixed."));
}

/**
 * A boundary as {level, labels}; null where there is none.
 * @param {Boundary | undefined} boundary
 * @returns {Limit | null}
 */
export function readLimit(boundary) {
  if (boundary === undefined || boundary === null) return null;
  if (typeof boundary === "number") return { level: boundary, labels: [] };
  return { level: null, labels: (Array.isArray(boundary) ? boundary : [boundary]).map((label) => (label === null ? null : String(label))) };
}

/**
 * The limits of a column: by level, or by groups that are named. `set(boundary)` writes, undefined for none.
 * @param {{ answer: HierarchyAnswer | null, height: number, limit: Limit | null, set: (boundary: Boundary | undefined) => unknown, view: View, look: (changes: View) => unknown, inTree: boolean }} parts
 * @returns {HTMLElement}
 */
export function limitPart({ answer, height, limit, set, view, look, inTree }) {
  const levels = Array.from({ length: height }, (_, level) => [String(level), level === 0 ? "level 0: values are never generalized" : `level ${level}${answer?.built && answer.examples[0] && !limit ? `, such as ${answer.examples[0].path[level] ?? "missing"}` : ""}`]);
  const options = [["", "no boundary: up to * (everything)"], ...levels, ...(limit?.labels.length ? [["labels", "the groups listed below"]] : [])];
  const chosen = limit === null ? "" : limit.level === null ? "labels" : String(limit.level);
  if (limit?.level !== null && limit && limit.level >= height) options.push([chosen, `level ${limit.level}`]);
  return h("div", {},
    h("p", { class: "soft" }, "A boundary limits how far values may be generalized. Records that would need more are suppressed, so a boundary keeps data useful at the cost of records."),
    field("Generalize at most to", choice("limit-level", options, chosen, (value) => { if (value !== "labels") set(value === "" ? undefined : Number(value)); })),
    limit?.labels.length ? h("ul", { class: "chips", "aria-label": "Boundary groups" }, limit.labels.map((label, index) => h("li", {}, displayValue(label), " ",
      h("button", { type: "button", id: `limit-remove-${index}`, "aria-label": `Remove the boundary ${label ?? "missing"}`, onclick: () => set(without(limit.labels, label)) }, "Remove")))) : null,
    inTree ? h("p", { class: "soft" }, "Or select a group in the tree above and press “Set as boundary”.") : browser(answer, limit, set, view, look));
}

/** @param {Value[]} labels @param {Value} label @returns {Value[] | undefined} */
const without = (labels, label) => { const rest = labels.filter((each) => each !== label); return rest.length ? rest : undefined; };

/**
 * The groups of one level, each with a button that makes it a limit.
 * @param {HierarchyAnswer | null} answer
 * @param {Limit | null} limit
 * @param {(boundary: Boundary | undefined) => unknown} set
 * @param {View} view
 * @param {(changes: View) => unknown} look
 * @returns {HTMLElement | null}
 */
function browser(answer, limit, set, view, look) {
  if (!answer?.built) return null;
  const listed = answer.listed;
  const levels = answer.levels.slice(0, -1).map((level) => [String(level.level), `level ${level.level}: ${count(level.groups, "group")}`]);
  const labels = limit?.labels ?? [];
  return h("details", { open: view.level !== undefined, id: "limit-browser" }, h("summary", { onclick: (event) => { if (view.level === undefined) { event.preventDefault(); look({ level: Math.min(1, answer.height - 1) }); } } }, "Boundaries for single groups"),
    listed ? h("div", {},
      h("div", { class: "buttons" }, h("label", { for: "browse-level" }, "Groups of"), choice("browse-level", levels, String(listed.level), (level) => look({ level: Number(level), offset: 0 })),
        h("label", { for: "browse-search" }, "Search"), h("input", { id: "browse-search", type: "search", value: view.search ?? "", onchange: (event) => look({ search: event.target.value, offset: 0 }) })),
      h("ul", { class: "rows", "data-scroll": "browse" }, listed.groups.map(([label, records], index) => h("li", { class: "row" }, h("span", { class: "row-label" }, displayValue(label)), labels.includes(label) ? h("span", { class: "badge limit" }, "boundary") : null,
        h("span", { class: "row-amount" }, count(records, "record")),
        h("button", { type: "button", id: `browse-${index}`, "aria-label": `${labels.includes(label) ? "Remove the boundary" : "Set as boundary"}: ${label ?? "missing"}`, onclick: () => set(labels.includes(label) ? without(labels, label) : [...labels, label]) }, labels.includes(label) ? "Remove the boundary" : "Set as boundary")))),
      h("div", { class: "buttons" },
        h("button", { type: "button", id: "browse-before", disabled: listed.offset === 0, onclick: () => look({ offset: Math.max(0, listed.offset - 100) }) }, "Previous groups"),
        h("button", { type: "button", id: "browse-after", disabled: listed.offset + listed.groups.length >= listed.found, onclick: () => look({ offset: listed.offset + listed.groups.length }) }, "Next groups"),
        h("span", { class: "soft" }, `${count(listed.offset + Math.min(1, listed.groups.length))} to ${count(listed.offset + listed.groups.length)} of ${count(listed.found)}`))) : null);
}
