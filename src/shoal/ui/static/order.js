// Values in an order of your own, joined with their neighbours level by level.
import { around, byId, count, displayValue, field, fill, h, markDragged, say } from "./core.js";

/** @import { Editor, OrderEditor, OrderParts, OrderSpec, Value } from "./types" */

const ROWS = 400;

/**
 * The editor for {order: spec}: a list that is put in order by dragging, buttons and keys. Returns { element, draw }.
 * @param {OrderParts} given
 * @returns {Editor}
 */
export function orderEditor(given) {
  /** @type {OrderEditor} */
  const editor = { given, own: { at: 0, rows: ROWS, search: "", dragged: null, late: false }, element: h("div", { class: "order-editor" }), draw: () => draw(editor) };
  return editor;
}

/** @param {unknown} value @returns {Value} */
const text = (value) => (value === null ? null : String(value));

/** @param {OrderEditor} editor */
function draw(editor) {
  const { given, own } = editor;
  if (own.dragged !== null) { own.late = true; return; }  // another element in its place would end the dragging
  const spec = given.spec();
  const values = (spec.values ?? []).map(text);
  const data = given.values();
  const placed = new Set(values);
  const seen = new Set();
  const twice = values.filter((value) => seen.size === seen.add(value).size);
  const unplaced = [...data.keys()].filter((value) => value !== null && !placed.has(value));
  own.at = Math.min(own.at, Math.max(0, values.length - 1));
  fill(editor.element,
    sizes(spec, given.change),
    h("div", { class: "buttons", role: "toolbar", "aria-label": "Actions for the selected value" },
      h("span", { class: "soft" }, values.length ? ["Selected: ", displayValue(values[own.at])] : "No value yet"),
      /** @type {[string, string, number][]} */ ([["order-up", "Earlier", own.at - 1], ["order-down", "Later", own.at + 1], ["order-first", "To the start", 0], ["order-last", "To the end", values.length - 1]]).map(([id, name, to]) =>
        h("button", { type: "button", id, disabled: !values.length || to < 0 || to >= values.length || to === own.at, onclick: () => moveValue(editor, values, own.at, to) }, name)),
      h("button", { type: "button", id: "order-remove", disabled: !values.length, onclick: () => given.change({ ...spec, values: values.filter((_, index) => index !== own.at) }) }, "Remove"),
      h("button", { type: "button", id: "order-sort", disabled: values.length < 2, onclick: () => given.change({ ...spec, values: sorted(values) }) }, "Sort"),
      h("button", { type: "button", id: "order-reverse", disabled: values.length < 2, onclick: () => given.change({ ...spec, values: [...values].reverse() }) }, "Reverse")),
    twice.length ? h("p", { class: "warning" }, `${count(twice.length, "value is", "values are")} listed twice: `, twice.slice(0, 12).map((value) => [displayValue(value), " "])) : null,
    h("div", { class: "field" }, h("label", { for: "order-search" }, "Search"), h("input", { id: "order-search", type: "search", value: own.search, oninput: (event) => { own.search = event.target.value; editor.draw(); } })),
    h("div", { class: "tree-halves" }, list(editor, values, data), rest(editor, spec, values, unplaced, data)));
}

/**
 * Numbers by size, then texts by alphabet, the missing value last.
 * @param {Value[]} values
 * @returns {Value[]}
 */
export function sorted(values) {
  return values.map((value) => ({ value, rank: rankOf(value) })).sort(({ rank: a }, { rank: b }) => a.kind - b.kind || a.number - b.number || a.text.localeCompare(b.text)).map(({ value }) => value);
}

/** @param {Value} value */
function rankOf(value) {
  if (value === null) return { kind: 2, number: 0, text: "" };
  return value.trim() !== "" && Number.isFinite(Number(value)) ? { kind: 0, number: Number(value), text: value } : { kind: 1, number: 0, text: value };
}

/** @param {OrderSpec} spec @param {OrderParts["change"]} change @returns {HTMLElement} */
function sizes(spec, change) {
  const input = h("input", { id: "order-groups", value: (spec.groups ?? []).join(", "), placeholder: "2, 4, 8, …", autocomplete: "off", onchange: (event) => {
    const given = event.target.value.split(/[,;\s]+/).filter((part) => part !== "").map(Number);
    const fine = given.every((size) => Number.isInteger(size) && size > 1);
    event.target.setAttribute("aria-invalid", String(!fine));
    if (!fine) { say("Enter whole numbers from 2 on, separated by commas."); return; }
    const { groups: _, ...rest } = spec;
    change(given.length ? { ...rest, groups: given } : rest);
  } });
  return field("Neighbours per group at each level", input, "Such as 2, 6: pairs at the first level, six at the second. Each must be a multiple of the previous one. If empty, each level doubles.");
}

/** @param {OrderEditor} editor @param {Value[]} values @param {number} from @param {number} to */
function moveValue(editor, values, from, to) {
  const next = [...values];
  next.splice(to, 0, ...next.splice(from, 1));
  editor.own.at = to;
  editor.given.change({ ...editor.given.spec(), values: next });
  say(`${values[from] ?? "the missing value"} is now number ${to + 1} of ${values.length}.`);
  document.getElementById(`order-${to}`)?.scrollIntoView({ block: "nearest" });
}

/** @param {OrderEditor} editor @param {Value[]} values @param {Map<Value, number>} data @returns {HTMLElement} */
function list(editor, values, data) {
  const { own } = editor;
  const wanted = own.search.toLowerCase();
  const found = values.map((value, index) => ({ value, index })).filter(({ value }) => (value ?? "missing").toLowerCase().includes(wanted));
  const rows = h("div", { class: "rows", role: "listbox", id: "order-list", tabindex: "0", "aria-label": "Values from first to last", "aria-activedescendant": `order-${own.at}`, "data-scroll": "order" },
    found.slice(0, own.rows).map(({ value, index }) => h("div", { class: "row", role: "option", id: `order-${index}`, "aria-selected": String(index === own.at), draggable: "true", "data-index": index },
      h("span", { class: "soft" }, `${index + 1}.`), h("span", { class: "row-label" }, displayValue(value)), data.has(value) ? null : h("span", { class: "badge" }, "not in the data"), h("span", { class: "row-amount" }, count(data.get(value) ?? 0, "record")))));
  const rowIndex = (/** @type {Event} */ event) => { const row = around(event, ".row"); return row ? Number(row.dataset.index) : null; };
  rows.addEventListener("click", (event) => { const at = rowIndex(event); if (at !== null) { own.at = at; editor.draw(); byId("order-list").focus({ preventScroll: true }); } });
  rows.addEventListener("keydown", (event) => keyed(editor, event, values));
  rows.addEventListener("dragstart", (event) => { own.dragged = rowIndex(event); markDragged(event); });
  rows.addEventListener("dragend", () => { own.dragged = null; if (own.late) { own.late = false; editor.draw(); } });
  rows.addEventListener("dragover", (event) => { if (own.dragged !== null && rowIndex(event) !== null) event.preventDefault(); });
  rows.addEventListener("drop", (event) => { const to = rowIndex(event); const from = own.dragged; own.dragged = null; event.preventDefault(); if (from !== null && to !== null && to !== from) moveValue(editor, values, from, to); });
  return h("div", { class: "tree-box" }, rows, found.length > own.rows ? h("button", { type: "button", id: "order-more", onclick: () => { own.rows += ROWS; editor.draw(); } }, `Show more of ${count(found.length)}`) : null,
    h("p", { class: "soft" }, "Click a value to select it, or drag it. Keys: arrows select, Alt with arrows moves, Delete removes."));
}

/** @param {OrderEditor} editor @param {KeyboardEvent} event @param {Value[]} values */
function keyed(editor, event, values) {
  const { own } = editor;
  const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
  if (event.key === "Delete") editor.given.change({ ...editor.given.spec(), values: values.filter((_, index) => index !== own.at) });
  else if (by && own.at + by >= 0 && own.at + by < values.length) {
    if (event.altKey) moveValue(editor, values, own.at, own.at + by);
    else { own.at += by; if (own.at >= own.rows) own.rows += ROWS; editor.draw(); document.getElementById(`order-${own.at}`)?.scrollIntoView({ block: "nearest" }); }
  } else return;
  event.preventDefault();
}

/**
 * @param {OrderEditor} editor
 * @param {OrderSpec} spec
 * @param {Value[]} values
 * @param {Value[]} unplaced
 * @param {Map<Value, number>} data
 * @returns {HTMLElement}
 */
function rest(editor, spec, values, unplaced, data) {
  const add = (/** @type {Value[]} */ more) => editor.given.change({ ...spec, values: [...values, ...more] });
  const missing = data.has(null) && !values.includes(null);
  const found = unplaced.filter((value) => (value ?? "").toLowerCase().includes(editor.own.search.toLowerCase()));
  return h("div", { class: "tree-box spare", id: "order-unplaced" }, h("h3", {}, "Not in the order yet ", h("span", { class: `badge ${unplaced.length ? "bad" : "good"}` }, unplaced.length ? count(unplaced.length, "value") : "none")),
    unplaced.length ? h("div", { class: "buttons" }, h("button", { type: "button", id: "order-add-all", onclick: () => add(sorted(unplaced)) }, "Add all, sorted")) : null,
    h("ul", { class: "rows" }, found.slice(0, ROWS).map((value) => h("li", {}, h("button", { type: "button", class: "row", onclick: () => add([value]) }, h("span", { class: "row-label" }, "Add ", displayValue(value)), h("span", { class: "row-amount" }, count(data.get(value) ?? 0, "record"))))),
      found.length > ROWS ? h("li", { class: "soft" }, `${count(found.length - ROWS)} more: search for them.`) : null),
    missing ? h("p", {}, "The missing value stays missing unless it is part of the order. ", h("button", { type: "button", id: "order-add-missing", onclick: () => add([null]) }, "Add it at the end")) : null);
}
