// Step two: how each quasi-identifier may be blurred. A hierarchy is made by looking at the column's own values.
import { api, attempt, choice, columns, count, edit, field, fill, h, problemsOf, recordsByValue, saved, say, state, watch } from "./core.js";
import { intervalsEditor } from "./cuts.js";
import { datesEditor } from "./dates.js";
import { levelTable, limitPart, readLimit } from "./levels.js";
import { expandHierarchy } from "./expand_hierarchy.js";
import { maskEditor } from "./mask.js";
import { height, readTree, walk, writeTree } from "./nested.js";
import { orderEditor, sorted } from "./order.js";
import { transferPart } from "./transfer.js";
import { TREE, treeEditor } from "./tree.js";

/** @import { Boundary, Column, ColumnFacts, Editor, HierarchyPage, Stop, Table, TreeGroup, TreeParts, View } from "./types" */

export const id = "hierarchies";
export const title = "Hierarchies";

const KINDS = [
  ["flat", "keep or hide the value, nothing in between"],
  ["tree", "groups of values: city, region, country"],
  ["intervals", "intervals of numbers: 37, 35 to 40, 20 to 40"],
  ["dates", "months, quarters, years of dates"],
  ["mask", "masked codes: 14248, 1424*, 142**"],
  ["order", "neighbours in an order: low, low to middle"],
];
/**
 * What was made before another kind was chosen, by column and kind; and what is known of columns. For one table only.
 * @type {{ table: Table | null, settings: Map<string, Record<string, { hierarchy?: any, boundary?: Boundary }>>, facts: Map<string, ColumnFacts> }}
 */
let memory = { table: null, settings: new Map(), facts: new Map() };

/** @type {ColumnFacts} */
const NOTHING_YET = { kind: "", distinct: 0, missing: 0, longest: 0, found: 0, values: [] };

function remembered() {
  if (memory.table !== state.table) memory = { table: state.table, settings: new Map(), facts: new Map() };
  return memory;
}

/** @param {HTMLElement} root @param {string[]} rest @returns {Stop} */
export function render(root, rest) {
  const known = [...columns("quasi"), ...columns("sensitive")];
  const name = known.includes(rest.join("/")) ? rest.join("/") : known[0];
  const parts = { list: h("nav", { "aria-label": "Columns" }), body: h("div") };
  fill(root, h("h1", {}, title),
    h("p", {}, "A hierarchy defines how a value is generalized step by step so that people look alike: a town becomes its county, an age an interval. The less values have to change, the more useful the release is."),
    parts.list, parts.body);
  if (name === undefined) {
    fill(parts.body, h("p", {}, "No column is a quasi-identifier yet. ", h("a", { href: "#/data" }, "Assign roles first.")));
    return () => {};
  }
  /** @type {HierarchyPage} */
  const page = { name, role: state.policy.columns[name].role, parts, facts: NOTHING_YET, values: new Map(), answer: null, view: {}, requests: 0, editors: {}, stale: false, gone: false };
  drawList(page);
  begin(page);
  const stop = watch((what) => {
    if (what !== "policy" && what !== "saved") return;
    if (column(page)?.role !== page.role) { leave(); leave = render(root, rest); return; }  // undone, or done in another window
    drawList(page);
    if (!page.boxes) return;
    if (what === "policy") { page.stale = true; drawBody(page); } else ask(page);
  });
  let leave = () => { page.gone = true; stop(); };
  return () => leave();
}

/** @param {HierarchyPage} page @returns {Column} */
const column = (page) => state.policy.columns?.[page.name];
/** @param {string} name @returns {any} */
const hierarchyOf = (name) => expandHierarchy(state.policy.columns?.[name]?.hierarchy);
/** @param {any} spec @returns {string} */
const kindOf = (spec) => Object.keys(spec ?? {})[0] ?? "flat";

/** @param {HierarchyPage} page */
function drawList(page) {
  const link = (/** @type {string} */ name) => {
    const wrong = problemsOf(name).length;
    return h("li", {}, h("a", { href: `#/hierarchies/${encodeURIComponent(name)}`, "aria-current": name === page.name ? "page" : null },
      name, h("span", { class: "soft" }, ` ${state.policy.columns[name]?.role === "sensitive" && !hierarchyOf(name) ? "none" : kindOf(hierarchyOf(name))}`), wrong ? h("span", { class: "badge bad" }, count(wrong, "problem")) : null));
  };
  const secret = columns("sensitive");
  fill(page.parts.list, h("ul", { class: "tabs" }, columns("quasi").map(link)),
    secret.length ? [h("p", { class: "soft" }, "Sensitive columns need a hierarchy only for distances between their values:"), h("ul", { class: "tabs" }, secret.map(link))] : null);
}

/** @param {HierarchyPage} page */
async function begin(page) {
  const { facts } = remembered();
  const key = JSON.stringify([page.name, state.policy.data ?? null]);
  if (!facts.has(key)) {
    fill(page.parts.body, h("p", { class: "soft" }, `Reading ${page.name} …`));
    const found = await attempt(() => api.desk("column", { name: page.name }));
    if (!found) return;
    facts.set(key, found);
  }
  page.facts = /** @type {ColumnFacts} */ (facts.get(key));
  page.values = recordsByValue(page.facts);
  if (page.gone) return;
  frame(page);
  drawBody(page);
  page.known = ask(page);
}

/**
 * Ask what the hierarchy makes of the values; only the newest answer is shown.
 * @param {HierarchyPage} page
 */
async function ask(page) {
  const mine = page.requests += 1;
  await saved();
  const answer = await attempt(() => api.desk("hierarchy", { name: page.name, ...page.view }));
  if (!answer || answer.outdated || page.gone) return;
  page.proposals = answer.proposals;
  if (mine !== page.requests) return;
  page.answer = answer;
  page.stale = false;
  drawBody(page);
}

// --- the body -----------------------------------------------------------------------------------------------------

/**
 * The frame of the page, made once: what is in it is redrawn part by part, so that focus and scrolling stay.
 * @param {HierarchyPage} page
 */
function frame(page) {
  const boxes = { head: h("div"), editor: h("div"), levels: h("div"), limit: h("div") };
  page.boxes = boxes;
  const quasi = column(page).role === "quasi";
  fill(page.parts.body,
    h("section", { "aria-labelledby": "column-head" }, boxes.head, boxes.editor),
    h("section", { "aria-labelledby": "levels-head" }, h("h2", { id: "levels-head" }, "Levels"), boxes.levels),
    quasi ? h("section", { "aria-labelledby": "limit-head" }, h("h2", { id: "limit-head" }, "Boundary"), boxes.limit) : null,
    h("section", { "aria-labelledby": "files-head" }, h("h2", { id: "files-head" }, "Files"), transferPart(page.name, (tree) => take(page, tree))));
}

/** @param {HierarchyPage} page */
function drawBody(page) {
  const { name, facts, boxes } = page;
  if (!boxes) return;
  const own = column(page);
  const spec = hierarchyOf(name);
  const kind = spec === null && own.role === "sensitive" ? "" : kindOf(spec);
  if (page.kind !== kind && page.stale) page.answer = null;  // what is known is about another kind
  page.kind = kind;
  const pairs = [...(own.role === "sensitive" ? [["", "none: values are just different"]] : []), ...KINDS, ...(kind === "levels" ? [["levels", "in a separate file: import it below"]] : [])];
  fill(boxes.head, h("h2", { id: "column-head" }, name),
    h("p", { class: "soft" }, `${count(facts.distinct, "different value")}, ${facts.kind}; ${facts.missing ? `missing in ${count(facts.missing, "record")}` : "none missing"}.`,
      facts.values.length < facts.found ? ` Only the ${count(facts.values.length)} most frequent values are listed here.` : ""),
    field("Kind of hierarchy", choice("kind", pairs, kind, (next) => setKind(page, kind, next)), "Your settings for the other kinds are kept while this page is open."));
  drawEditor(page, kind, spec);
  boxes.levels.setAttribute("aria-busy", String(page.stale));
  fill(boxes.levels, page.stale && page.answer ? h("p", { class: "soft", role: "status" }, "Counting …") : null, levelTable(page.answer, page.view, (changes) => look(page, changes)));
  const high = kind === "tree" ? height(readTree(spec.tree)) : page.answer?.height ?? 0;
  fill(boxes.limit, limitPart({ answer: page.answer, height: high, limit: readLimit(own.boundary), set: (boundary) => setBoundary(page, boundary), view: page.view, look: (changes) => look(page, changes), inTree: kind === "tree" }));
}

/** @param {HierarchyPage} page @param {View} changes */
function look(page, changes) {
  page.view = Object.fromEntries(Object.entries({ ...page.view, ...changes }).filter(([, value]) => value !== undefined));
  ask(page);
}

/**
 * Change the column in the policy, in one step that can be undone.
 * @param {HierarchyPage} page
 * @param {(column: Column) => void} change
 * @returns {Promise<void>}
 */
function write(page, change) { return edit((policy) => change(policy.columns[page.name])); }

/** @param {HierarchyPage} page @param {Boundary | undefined} boundary */
function setBoundary(page, boundary) {
  write(page, (own) => { if (boundary === undefined) delete own.boundary; else own.boundary = boundary; });
  say(boundary === undefined ? "No boundary." : "The boundary is set.");
}

/**
 * Another kind: what was made under it before, else what suits the values. Limits belong to the kind.
 * @param {HierarchyPage} page
 * @param {string} from
 * @param {string} to
 */
async function setKind(page, from, to) {
  const { settings } = remembered();
  if (!settings.get(page.name)?.[to] && !page.proposals) await page.known;  // it brings what suits the values
  if (page.gone) return;
  const own = settings.get(page.name) ?? {};
  settings.set(page.name, own);
  own[from] = { hierarchy: hierarchyOf(page.name) ?? undefined, boundary: column(page).boundary };
  const next = own[to] ?? { hierarchy: begun(page, to) };
  page.view = {};
  write(page, (spec) => {
    if (next.hierarchy === undefined || to === "") delete spec.hierarchy; else spec.hierarchy = structuredClone(next.hierarchy);
    if (next.boundary === undefined) delete spec.boundary; else spec.boundary = structuredClone(next.boundary);
  });
}

/** @param {HierarchyPage} page @param {string} kind @returns {any} */
function begun(page, kind) {
  const proposed = page.proposals?.[kind];
  /** @type {Record<string, any>} */
  const plain = { flat: { flat: true }, tree: { tree: [] }, intervals: { intervals: { widths: [10, 20] } }, dates: { dates: { units: ["month", "year"] } }, mask: { mask: { side: "right" } } };
  if (kind === "order") return { order: { values: sorted([...page.values.keys()].filter((value) => value !== null)) } };
  return proposed ?? plain[kind];
}

/** @param {HierarchyPage} page @param {string} kind @param {any} spec */
function drawEditor(page, kind, spec) {
  const { boxes, editors } = page;
  if (!boxes) return;
  const change = (/** @type {any} */ next) => write(page, (own) => { own.hierarchy = { [kind]: next }; });
  const given = { spec: spec?.[kind] ?? {}, facts: page.facts, answer: page.answer, stale: page.stale, change, forms: editors.forms ??= {} };
  const stays = (/** @type {Editor} */ editor) => { if (boxes.editor.firstChild !== editor.element) fill(boxes.editor, editor.element); editor.draw(); };
  if (kind === "tree" && typeof spec.tree !== "string") stays(editors.tree ??= treeEditor(treeParts(page)));
  else if (kind === "tree") fill(boxes.editor, h("p", { class: "warning" }, "The tree is in a separate file: import it below."));
  else if (kind === "order") stays(editors.order ??= orderEditor({ spec: () => hierarchyOf(page.name)?.order ?? {}, values: () => page.values, change }));
  else if (kind === "intervals") fill(boxes.editor, intervalsEditor(given));
  else if (kind === "dates") fill(boxes.editor, datesEditor(given));
  else if (kind === "mask") fill(boxes.editor, maskEditor(given));
  else fill(boxes.editor);
}

// --- trees --------------------------------------------------------------------------------------------------------

/** @param {HierarchyPage} page @returns {TreeParts} */
function treeParts(page) {
  /** @type {Map<string, string>} */
  const renamed = new Map();
  return {
    words: TREE, label: `Tree of ${page.name}`, values: () => page.values, partial: () => page.facts.values.length < page.facts.found,
    read: () => readTree(hierarchyOf(page.name)?.tree),
    write: (root) => write(page, (own) => {
      own.hierarchy = { tree: writeTree(root) };
      keepLimits(own, root, renamed);
      renamed.clear();
    }),
    renamed: (from, to) => renamed.set(from, to),
    limit: () => readLimit(column(page).boundary),
    setLimit: column(page).role === "quasi" ? (labels) => setBoundary(page, labels.length ? labels : undefined) : null,
  };
}

/**
 * Limits follow the names of their groups, and go when their group goes.
 * @param {Column} own
 * @param {TreeGroup} root
 * @param {Map<string, string>} renamed
 */
function keepLimits(own, root, renamed) {
  const limit = readLimit(own.boundary);
  if (!limit || limit.level !== null) return;
  const labels = new Set();
  walk(root, (node) => labels.add(node.label));
  const remaining = limit.labels.map((label) => (label === null ? null : renamed.get(label) ?? label)).filter((label) => labels.has(label));
  if (remaining.length) own.boundary = remaining; else delete own.boundary;
}

/** @param {HierarchyPage} page @param {any} tree */
function take(page, tree) {
  write(page, (own) => { own.hierarchy = { tree }; keepLimits(own, readTree(tree), new Map()); });
  document.getElementById("kind")?.focus();
}
