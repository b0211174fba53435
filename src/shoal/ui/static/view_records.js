// Before and after: each record as it was, and what is released of it, by class.
import { api, attempt, choice, count, displayValue, field, fill, h, later, say } from "./core.js";

/** @import { Child, RecordsAnswer, RecordsView, ReleasedRecord, Value, ViewParts } from "./types" */

const PAGE = 25;
const NARROW = matchMedia("(max-width: 44rem)");
/** @type {{ run: string | null, search: string, column: string, offset: number }} */
const filter = { run: null, search: "", column: "", offset: 0 };

/** @param {ViewParts} parts */
export async function drawRecords({ run, body, rest, alive, address }) {
  if (filter.run !== run.number) Object.assign(filter, { run: run.number, search: "", column: "", offset: 0 });
  const only = rest[0] === "class" ? Number(rest[1]) : rest[0] === "left-out" ? 0 : null;
  filter.offset = 0;
  const box = h("div");
  const view = { run, box, only, alive, address };
  const again = (/** @type {Partial<typeof filter>} */ changes) => { Object.assign(filter, { offset: 0 }, changes); attempt(() => page(view)); };
  const search = h("input", { id: "records-search", type: "search", value: filter.search, oninput: later((event) => again({ search: event.target.value })) });
  const first = await api.desk("before_after", question(view));
  if (!alive()) return;
  fill(body,
    h("p", {}, "On the left each record as in your file, on the right as released. Records that are released alike form a class. ",
      h("span", { class: "changed-mark" }, "≈"), " marks values that are less exact than the original. Click a record's number to see why."),
    h("div", { class: "columns-2" },
      field("Search the original values", search, "Any part of a value."),
      field("In", choice("records-column", [["", "any column"], ...first.before.map((each) => [each.name, each.name])], filter.column, (column) => again({ column })))),
    filters(view, first), box);
  drawPage(view, first);
  const turned = () => { if (alive()) attempt(() => page(view)); else NARROW.removeEventListener("change", turned); };
  NARROW.addEventListener("change", turned);
}

/** @param {RecordsView} view @param {RecordsAnswer} first @returns {HTMLElement} */
function filters({ only, address }, first) {
  const link = (/** @type {string} */ to, /** @type {string} */ text, /** @type {boolean} */ here) => h("a", { href: address(to), "aria-current": here ? "true" : null }, text);
  return h("p", { class: "filters" },
    link("records", "All records", only === null), " ",
    first.suppressed ? link("records/left-out", `Suppressed only (${count(first.suppressed)})`, only === 0) : "No record was suppressed.", " ",
    only ? link(`records/class/${only}`, `Class ${only} only`, true) : null);
}

/** @param {RecordsView} view */
function question({ run, only }) {
  return { run: run.number, offset: filter.offset, limit: PAGE, search: filter.search, column: filter.column, ...(only === null ? {} : { class: only }) };
}

/** @param {RecordsView} view */
async function page(view) {
  const wanted = JSON.stringify(question(view));
  const answer = await api.desk("before_after", question(view));
  if (view.alive() && wanted === JSON.stringify(question(view))) drawPage(view, answer);
}

/** @param {RecordsView} view @param {RecordsAnswer} answer */
function drawPage(view, answer) {
  const end = answer.offset + answer.rows.length;
  const said = answer.found ? `Records ${count(answer.offset + 1)} to ${count(end)} of ${count(answer.found)}, by class` : "No matching records";
  const move = (/** @type {number} */ offset) => { filter.offset = offset; attempt(() => page(view)); };
  fill(view.box,
    answer.found ? pairs(view, answer, said) : h("p", {}, "No matching records."),
    h("div", { class: "buttons" },
      h("button", { type: "button", id: "records-before", disabled: answer.offset === 0, onclick: () => move(Math.max(0, answer.offset - PAGE)) }, "Previous records"),
      h("button", { type: "button", id: "records-after", disabled: end >= answer.found, onclick: () => move(end) }, "Next records")));
  say(said);
}

/**
 * Side by side where there is room: two tables whose rows stand on one line. On a narrow screen one under the other.
 * @param {RecordsView} view
 * @param {RecordsAnswer} answer
 * @param {string} said
 * @returns {HTMLElement}
 */
function pairs(view, answer, said) {
  return NARROW.matches ? cards(view, answer) : panes(view, answer, said);
}

/** @param {RecordsView} view @param {RecordsAnswer} answer @param {string} said @returns {HTMLElement} */
function panes(view, answer, said) {
  const { after } = answer;
  const order = facing(answer);
  const before = order.map((at) => answer.before[at]);
  const releasedNames = new Set(after.flatMap(({ name, of }) => [name, of]));
  /** @type {(name: string, columns: { name: string }[], row: (record: ReleasedRecord) => Child) => HTMLElement} */
  const pane = (name, columns, row) => h("div", { class: "table", tabindex: "0", role: "region", "aria-label": `${name}. ${said}`, "data-scroll": name },
    h("table", {}, h("caption", {}, h("strong", {}, name)),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Record"), columns.map((each) => h("th", { scope: "col" }, each.name, releasedNames.has(each.name) ? null : h("span", { class: "soft" }, " (not released)"))))),
      h("tbody", {}, answer.rows.map((each, at) => [classRow(view, answer, each, answer.rows[at - 1], columns.length + 1), row(each)]))));
  return h("div", { class: "panes" },
    pane("Original", before, (row) => h("tr", {}, h("th", { scope: "row" }, recordLink(view, row)), order.map((at) => cell(row.before[at])))),
    pane("Released", after, (row) => h("tr", { class: row.after ? null : "left-out" }, h("th", { scope: "row" }, count(row.record)),
      row.after ? row.after.map((value, at) => cell(value, row.changed?.[at])) : h("td", { colspan: after.length }, "suppressed"))));
}

/**
 * The indices of the original columns: first those that are released, in the same order, so that they face each other.
 * @param {RecordsAnswer} answer
 * @returns {number[]}
 */
function facing({ before, after }) {
  const released = new Set(after.map(({ of }) => of));
  const indices = before.map((_, at) => at);
  return [...indices.filter((at) => released.has(before[at].name)), ...indices.filter((at) => !released.has(before[at].name))];
}

/** @param {Value} value @param {boolean} [changed] @returns {HTMLElement} */
function cell(value, changed) {
  return h("td", { class: changed === true ? "changed" : null, title: value ?? "missing" }, changed === true ? changedMark() : null, displayValue(value));
}

/** @param {RecordsView} view @param {ReleasedRecord} row @returns {HTMLElement} */
function recordLink({ address }, { record }) {
  return h("a", { href: address(`why/${record}`), "aria-label": `Record ${record}: why` }, count(record));
}

/**
 * A line above the first record of each class, in both tables.
 * @param {RecordsView} view
 * @param {RecordsAnswer} answer
 * @param {ReleasedRecord} row
 * @param {ReleasedRecord | undefined} previous
 * @param {number} width
 * @returns {HTMLElement | null}
 */
function classRow(view, answer, row, previous, width) {
  if (previous && previous.class === row.class) return null;
  return h("tr", { class: "class-head" }, h("th", { colspan: width, scope: "rowgroup" }, h("span", {}, classWords(view, answer, row))));
}

/** @param {RecordsView} view @param {RecordsAnswer} answer @param {ReleasedRecord} row @returns {Child} */
function classWords({ address }, { starred }, row) {
  if (row.class === null) return starred ? "Suppressed: in the release as a row of *" : "Suppressed: not in the release";
  return [h("a", { href: address(`records/class/${row.class}`) }, `Class ${count(row.class)}`), `: ${count(row.size, "record")} released alike. `,
    h("a", { href: address(`why/class/${row.class}`) }, "Why?")];
}

/** @param {RecordsView} view @param {RecordsAnswer} answer @returns {HTMLElement} */
function cards(view, answer) {
  const { before, after } = answer;
  const released = (/** @type {ReleasedRecord} */ row, /** @type {string} */ name) => after.map((each, at) => each.of === name ? h("dd", { class: row.changed?.[at] ? "changed" : null }, "→ ", row.changed?.[at] ? changedMark() : null, each.name === name ? null : `${each.name}: `, displayValue(row.after?.[at])) : null);
  return h("ol", { class: "cards pair-cards" }, answer.rows.map((row, at) => h("li", { class: "card" },
    answer.rows[at - 1]?.class === row.class && at ? null : h("p", { class: "class-words" }, classWords(view, answer, row)),
    h("h4", {}, "Record ", recordLink(view, row), row.after ? null : h("span", { class: "badge bad" }, "suppressed")),
    h("dl", {}, before.map((each, column) => h("div", {}, h("dt", {}, each.name), h("dd", {}, displayValue(row.before[column])),
      !row.after ? null : after.some(({ of }) => of === each.name) ? released(row, each.name) : h("dd", { class: "soft" }, "→ not released")))))));
}

/** @returns {Child} */
function changedMark() {
  return [h("span", { class: "changed-mark", "aria-hidden": "true" }, "≈ "), h("span", { class: "visually-hidden" }, "less exact: ")];
}
