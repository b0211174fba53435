// Each column before and after, as bars with their figures.
import { api, count, displayValue, fill, h, percent, rounded, table } from "./core.js";

/** @import { BarSpread, Child, HistogramSpread, ViewParts } from "./types" */

/** @type {Record<string, string>} */
const ROLES = { quasi: "quasi-identifier", sensitive: "sensitive", insensitive: "insensitive, released unchanged", pseudonym: "released as a pseudonym" };

/** @param {ViewParts} parts */
export async function drawColumns({ run, body, alive }) {
  const answer = await api.desk("distributions", { run: run.number });
  if (!alive()) return;
  const share = percent(answer.suppressed / answer.records);
  fill(body,
    h("p", {}, "“Before” counts all records of your file. “After” is what readers of the release can conclude: a filled bar where the released label says it, an outlined bar where a label says less and its records are spread evenly over the values or the interval that it covers. The flatter the outlined bars, the more was lost."),
    h("p", {}, answer.suppressed
      ? `${count(answer.suppressed, "record")} of ${count(answer.records)} (${share}) ${answer.suppressed === 1 ? "was" : "were"} suppressed: counted before, not after.`
      : "No record was suppressed."),
    h("div", { class: "spreads" }, answer.columns.map(figure)),
    answer.not_released.length ? h("p", {}, "Not released: ", answer.not_released.map((name, at) => [at ? ", " : "", h("bdi", {}, name)]), ".") : null);
}

/** @param {BarSpread | HistogramSpread} column @param {number} index @returns {HTMLElement} */
function figure(column, index) {
  return h("figure", { class: "spread", "aria-labelledby": `spread-${index}` },
    h("figcaption", { id: `spread-${index}` }, h("strong", {}, column.name), ` – ${ROLES[column.role]}`, column.kind === "bars" ? `: ${narrowed(column)}${PUBLISHED[column.published ?? ""] ?? ""}.` : "."),
    column.kind === "bars" ? barTable(column) : histogram(column));
}

/** @type {Record<string, string>} */
const PUBLISHED = { categories: "; its categories are released", both: "; its values and their categories are released", values: "; its values are released", bins: "; its numbers are released in bins" };

/** @param {BarSpread} column @returns {string} */
function narrowed(column) {
  return column.role === "quasi" ? `${count(column.values, "value")}, released as ${count(column.labels, "label")}` : `${count(column.values ?? 0, "value")}`;
}

/** @param {BarSpread} column @returns {HTMLElement} */
function barTable({ bars }) {
  const most = Math.max(1, ...bars.flatMap((bar) => [bar.before, bar.after]));
  return h("table", { class: "bar-table" },
    h("thead", {}, h("tr", {}, ["Value", "Before", "After"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, bars.map((bar) => h("tr", {},
      h("th", { scope: "row" }, bar.others ? h("em", {}, `others (${count(bar.others, "value")})`) : displayValue(bar.label)),
      h("td", {}, measured(bar.before, [["before", bar.before]], most)),
      h("td", {}, measured(bar.after, [["full", bar.sure], ["hollow", bar.after - bar.sure]], most))))));
}

/**
 * A figure and its bar; the parts follow each other.
 * @param {number} value
 * @param {[string, number][]} parts
 * @param {number} most
 * @returns {HTMLElement}
 */
function measured(value, parts, most) {
  return h("div", { class: "measured" }, h("span", {}, amount(value)),
    h("span", { class: "track", "aria-hidden": "true" }, parts.filter(([, length]) => length > 0.0001).map(([kind, length]) =>
      h("span", { class: `length ${kind}`, style: { width: `${100 * length / most}%` } }))));
}

/** @param {number} value @returns {string} */
function amount(value) {
  return Number.isInteger(value) || value >= 10 ? count(Math.round(value)) : value < 0.1 && value > 0 ? "under 0.1" : value.toFixed(1);
}

/**
 * Pairs of bars over a line of numbers: left before, right after.
 * @param {HistogramSpread} column
 * @returns {HTMLElement}
 */
function histogram(column) {
  const { edges, before, sure, after } = column;
  const most = Math.max(1, ...before, ...after);
  const bins = before.length;
  const wide = 100 / bins;
  const tall = 100;
  /** @type {(at: number, side: number, from: number, value: number, kind: string) => Child} */
  const bar = (at, side, from, value, kind) => value > 0 ? h("svg:rect", { class: kind, x: `${at * wide + wide * (0.08 + 0.44 * side)}%`, width: `${wide * 0.4}%`, y: `${tall * (1 - (from + value) / most)}%`, height: `${tall * value / most}%` }) : null;
  const name = (/** @type {number} */ at) => `${rounded(edges[at], 12)} to under ${rounded(edges[at + 1], 12)}`;
  const every = Math.max(1, Math.ceil(bins / 6));
  return h("div", {},
    h("svg:svg", { class: "histogram", width: "100%", height: "9em", role: "img", "aria-label": `Histogram of ${column.name}; its figures are in the table below` },
      before.map((_, at) => h("svg:g", {}, h("svg:title", {}, `${name(at)}: ${count(before[at])} before, ${amount(after[at])} after`),
        bar(at, 0, 0, before[at], "before"), bar(at, 1, 0, sure[at], "full"), bar(at, 1, sure[at], after[at] - sure[at], "hollow")))),
    h("div", { class: "histogram-line", "aria-hidden": "true" }, edges.map((edge, at) => at % every === 0 ? h("span", { style: { left: `${at * wide}%` } }, rounded(edge, 12)) : null)),
    h("p", { class: "soft key" }, h("span", { class: "length before" }), " left: before ", h("span", { class: "length full" }), " right: after, as the label says ", h("span", { class: "length hollow" }), " after, spread over the interval"),
    column.missing ? h("p", { class: "soft" }, `Without a value: ${count(column.missing[0])} before, ${count(column.missing[1])} after.`) : null,
    h("details", {}, h("summary", {}, "As a table"),
      table(`${column.name} before and after`, ["From", "Before", "After", "Of these certain"], before.map((_, at) => [name(at), count(before[at]), amount(after[at]), amount(sure[at])]))));
}
