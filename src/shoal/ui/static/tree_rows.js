// The tree as rows: clicked, moved through by keys, dragged; and beside it the values that are not in it.
import { around, count, displayValue, h, markDragged, say } from "./core.js";
import { isGroup, nodeAt, parentPath } from "./nested.js";
import { chosen, keyOf, put, rename, rowId, shifted, takeOut } from "./tree_actions.js";

/** @import { Child, TreeAmount, TreeEditor, TreeNode, TreeRow, Value } from "./types" */

export const ROWS = 400;
const OPEN_UP_TO = 300;

/**
 * @param {string} id
 * @param {string | undefined} text
 * @param {unknown} usable
 * @param {() => void} action
 * @returns {HTMLElement}
 */
export function button(id, text, usable, action) {
  return h("button", { type: "button", id, disabled: !usable, onclick: action }, text);
}

/**
 * The rows that can be seen: under open groups, and with a search only what it finds and what leads there.
 * @param {TreeEditor} editor
 * @returns {TreeRow[]}
 */
function rows(editor) {
  const { own, root } = editor;
  const wanted = own.search.toLowerCase();
  const hit = (/** @type {TreeNode} */ node) => (node.label ?? "missing").toLowerCase().includes(wanted);
  /** @type {TreeRow[]} */
  const all = [];
  const open = amountAt(editor, "").values <= OPEN_UP_TO;
  /** @type {(node: TreeNode, path: string, depth: number, above: boolean) => boolean} */
  const add = (node, path, depth, above) => {
    const here = wanted !== "" && hit(node);
    const row = { node, path, depth, open: isGroup(node) && (wanted !== "" ? !own.flipped.has(`search ${path}`) : path === "" || open !== own.flipped.has(path)) };
    const at = all.push(row);
    let found = here || wanted === "" || above;
    if (isGroup(node) && (row.open || wanted !== "")) {
      let below = false;
      node.kids.forEach((kid, index) => { if (row.open) below = add(kid, path === "" ? String(index) : `${path}.${index}`, depth + 1, here || above) || below; });
      found = found || below;
    }
    if (!found) all.length = at - 1;
    return found;
  };
  if (editor.given.flat) root.kids.forEach((kid, index) => add(kid, String(index), 0, false)); else add(root, "", 0, false);
  return all;
}

/** @param {TreeEditor} editor @param {string} path @returns {TreeAmount} */
const amountAt = (editor, path) => editor.amounts.get(path) ?? { records: 0, values: 0 };

/** @param {HTMLElement} row @returns {string} */
const pathOf = (row) => row.dataset.path ?? "";

/** @param {string} text @param {string} wanted @returns {Child} */
function marked(text, wanted) {
  const at = wanted === "" ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase());
  return at < 0 ? text : [text.slice(0, at), h("mark", {}, text.slice(at, at + wanted.length)), text.slice(at + wanted.length)];
}

/**
 * Whether values under a node stop here: it is named, or stands on the level that is.
 * @param {TreeEditor} editor
 * @param {TreeNode} node
 * @param {number} depth
 * @returns {boolean}
 */
function stops(editor, node, depth) {
  const limit = editor.given.limit?.();
  if (!limit) return false;
  if (limit.level === null) return limit.labels.includes(node.label);
  const at = editor.height - limit.level;
  return depth === at || (!isGroup(node) && depth < at);
}

/** @param {TreeEditor} editor @param {TreeRow} row @param {number} total @returns {HTMLElement} */
function rowElement(editor, row, total) {
  const { own, given } = editor;
  const { node, path, depth } = row;
  const amount = amountAt(editor, path);
  const key = `t:${path}`;
  const selected = own.selected.has(key);
  const double = !isGroup(node) && editor.doubled.has(node.label);
  const lacking = !isGroup(node) && !given.partial?.() && !editor.values.has(node.label);
  const stop = depth > 0 || given.flat ? stops(editor, node, depth) : false;
  const note = given.note?.(node, path);
  return h("div", {
    role: "treeitem", id: rowId(path), class: `row ${isGroup(node) ? "is-group" : "is-value"}${own.cut?.has(key) ? " is-cut" : ""}`, "data-path": path,
    "aria-level": depth + 1, "aria-expanded": isGroup(node) ? String(row.open) : null, "aria-selected": String(selected),
    tabindex: own.focus === path ? "0" : "-1", draggable: path !== "" ? "true" : null, style: { "--depth": String(depth), "--share": `${total ? (100 * amount.records) / total : 0}%` },
  },
    h("span", { class: "twisty", "aria-hidden": "true" }, isGroup(node) ? (row.open ? "▾" : "▸") : ""),
    h("span", { class: "tick", "aria-hidden": "true" }, selected ? "☑" : "☐"),
    h("span", { class: "row-label" }, path === "" ? (node.label === "*" ? "* (everything)" : node.label) : node.label === null || node.label === "" ? displayValue(node.label) : marked(node.label, own.search)),
    note ? h("span", { class: "badge" }, note) : null,
    stop ? h("span", { class: "badge limit" }, "boundary") : null,
    double ? h("span", { class: "badge bad" }, "twice") : null,
    lacking ? h("span", { class: "badge" }, "not in the data") : null,
    isGroup(node) && !node.kids.length && path !== "" ? h("span", { class: "badge" }, "empty") : null,
    h("span", { class: "row-amount" }, isGroup(node) ? `${count(amount.values, "value")}, ` : "", count(amount.records, "record")));
}

/** @param {TreeEditor} editor @returns {HTMLElement} */
export function treeBox(editor) {
  const { own } = editor;
  const all = rows(editor);
  if (!all.some((row) => row.path === own.focus)) own.focus = all[0]?.path ?? "";
  const total = amountAt(editor, "").records;
  const list = h("div", { role: "tree", class: "rows", "aria-multiselectable": "true", "aria-label": editor.given.label ?? "Tree", "data-scroll": "tree", "aria-describedby": "tree-keys" },
    all.slice(0, own.rows).map((row) => rowElement(editor, row, total)));
  list.addEventListener("click", (event) => { const row = around(event, ".row"); if (row) clicked(editor, pathOf(row), event, all); });
  list.addEventListener("keydown", (event) => keyed(editor, event, all));
  dragging(editor, list);
  return h("div", { class: "tree-box" }, list,
    all.length > own.rows ? button("tree-more", `Show more of ${count(all.length)} rows`, true, () => { own.rows += ROWS; editor.draw(); }) : null,
    !all.length ? h("p", { class: "soft" }, own.search ? "Nothing found." : "Nothing here yet.") : null,
    h("p", { class: "soft", id: "tree-keys" }, "Click to select, drag onto a group to move. Keys: arrows, Space selects, Enter opens and closes, F2 renames, Delete removes, Ctrl+X and Ctrl+V move."));
}

/** @param {TreeEditor} editor @param {string} path */
function toggleOpen(editor, path) {
  const key = editor.own.search ? `search ${path}` : path;
  if (!editor.own.flipped.delete(key)) editor.own.flipped.add(key);
  editor.draw();
}

/** @param {TreeEditor} editor @param {string} key */
function toggleSelected(editor, key) {
  if (!editor.own.selected.delete(key)) editor.own.selected.add(key);
  editor.draw();
}

/** @param {TreeEditor} editor @param {string} path @param {MouseEvent} event @param {TreeRow[]} all */
function clicked(editor, path, event, all) {
  const { own } = editor;
  const before = own.focus;
  own.focus = path;
  if (around(event, ".twisty") && isGroup(nodeAt(editor.root, path))) toggleOpen(editor, path);
  else if (event.shiftKey) {
    const ends = [before, path].map((each) => all.findIndex((row) => row.path === each)).sort((a, b) => a - b);
    for (const row of all.slice(ends[0], ends[1] + 1)) own.selected.add(`t:${row.path}`);
    editor.draw();
  } else toggleSelected(editor, `t:${path}`);
  document.getElementById(rowId(path))?.focus({ preventScroll: true });
}

/** @param {TreeEditor} editor @param {KeyboardEvent} event @param {TreeRow[]} all */
function keyed(editor, event, all) {
  const { own } = editor;
  own.focus = around(event, ".row")?.dataset.path ?? own.focus;
  const index = all.findIndex((row) => row.path === own.focus);
  const row = all[index];
  if (!row) return;
  const go = (/** @type {TreeRow | undefined} */ to) => {
    if (!to) return;
    own.focus = to.path;
    if (all.indexOf(to) >= own.rows) own.rows = all.indexOf(to) + ROWS;
    editor.draw();
    document.getElementById(rowId(to.path))?.focus();
  };
  const control = event.ctrlKey || event.metaKey;
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowDown: () => go(all[index + 1]), ArrowUp: () => go(all[index - 1]), Home: () => go(all[0]), End: () => go(all.at(-1)),
    ArrowRight: () => { if (isGroup(row.node) && !row.open) toggleOpen(editor, row.path); else if (isGroup(row.node)) go(all[index + 1]); },
    ArrowLeft: () => { if (isGroup(row.node) && row.open) toggleOpen(editor, row.path); else go(all.find((each) => each.path === parentPath(row.path) && each !== row)); },
    Enter: () => { if (isGroup(row.node)) toggleOpen(editor, row.path); }, " ": () => toggleSelected(editor, `t:${row.path}`),
    F2: () => { if (isGroup(row.node)) rename(editor, row.path); },
    Delete: () => { if (row.path !== "") takeOut(editor, [row.path]); },
    Escape: () => { own.cut = null; own.selected.clear(); editor.draw(); },
  };
  if (control && event.key.toLowerCase() === "x") {
    own.cut = new Set(own.selected.size ? own.selected : [`t:${row.path}`]);
    editor.draw();
    say(`${own.cut.size} cut. Go to a group and press Ctrl+V.`);
  } else if (control && event.key.toLowerCase() === "v" && own.cut) put(editor, chosen(editor, [...own.cut]), isGroup(row.node) ? row.path : parentPath(row.path));
  else if (!control && actions[event.key]) actions[event.key]();
  else return;
  event.preventDefault();
}

// --- dragging -----------------------------------------------------------------------------------------------------

/** @param {TreeEditor} editor @param {HTMLElement} list */
function dragging(editor, list) {
  const { own } = editor;
  /** @type {HTMLElement | null} */
  let over = null;
  const mark = (/** @type {HTMLElement | null} */ row) => { over?.classList.remove("over"); over = row; over?.classList.add("over"); };
  list.addEventListener("dragstart", (event) => { const row = around(event, ".row"); if (row) grabbed(editor, event, `t:${pathOf(row)}`); });
  list.addEventListener("dragend", () => { mark(null); letGo(editor); });
  list.addEventListener("dragover", (event) => {
    const row = around(event, ".row");
    if (!own.dragged || !row) return;
    event.preventDefault();
    mark(row);
  });
  list.addEventListener("dragleave", (event) => { if (!(event.relatedTarget instanceof Node && list.contains(event.relatedTarget))) mark(null); });
  list.addEventListener("drop", (event) => {
    const row = around(event, ".row");
    if (!own.dragged || !row) return;
    event.preventDefault();
    const keys = own.dragged;
    own.dragged = null;
    dropped(editor, keys, pathOf(row));
  });
}

/**
 * What was dragged lands on a row: in that group or that value's group; a category on another moves to its position.
 * @param {TreeEditor} editor
 * @param {string[]} keys
 * @param {string} path
 */
function dropped(editor, keys, path) {
  const node = nodeAt(editor.root, path);
  const to = isGroup(node) ? path : parentPath(path);
  const lone = keys.length === 1 && keys[0].startsWith("t:") ? keys[0].slice(2) : null;
  if (editor.given.ordered && lone !== null && isGroup(nodeAt(editor.root, lone))) {
    if (lone !== to) shifted(editor, lone, Number(to.split(".").at(-1)) - Number(lone.split(".").at(-1)));
  } else put(editor, chosen(editor, keys), to);
}

/** @param {TreeEditor} editor */
function letGo(editor) {
  editor.own.dragged = null;
  if (editor.own.late) { editor.own.late = false; editor.draw(); }
}

/** @param {TreeEditor} editor @param {DragEvent} event @param {string} key */
function grabbed(editor, event, key) {
  const { own } = editor;
  own.dragged = own.selected.has(key) ? [...own.selected] : [key];
  markDragged(event);
}

// --- what is not in the tree ---------------------------------------------------------------------------------------

/** @param {TreeEditor} editor @returns {HTMLElement} */
export function spareBox(editor) {
  const { own, given, found } = editor;
  const wanted = own.search.toLowerCase();
  const spare = found.unplaced.filter((label) => label !== null || given.missingMustBePlaced).filter((label) => (label ?? "missing").toLowerCase().includes(wanted));
  const optional = found.unplaced.includes(null) && !given.missingMustBePlaced;
  const items = optional ? [...spare, null] : spare;
  const records = spare.reduce((sum, label) => sum + (editor.values.get(label) ?? 0), 0);
  const rowsOf = items.slice(0, own.spare).map((label) => spareRow(editor, label));
  const list = h("ul", { class: "rows", "data-scroll": "spare", "aria-label": given.words.unplaced }, rowsOf);
  const box = h("div", { class: "tree-box spare", id: "tree-unplaced" },
    h("h3", {}, given.words.unplaced, " ", h("span", { class: `badge ${!spare.length ? "good" : given.flat && !editor.root.kids.length ? "" : "bad"}`, id: "tree-unplaced-count" }, spare.length ? `${count(spare.length, "value")}, ${count(records, "record")}` : "none")),
    h("p", { class: "soft" }, given.words.unplacedHelp),
    spare.length ? h("div", { class: "buttons" }, button("tree-all-unplaced", "Select all", true, () => { for (const label of spare) own.selected.add(keyOf(label)); editor.draw(); })) : null,
    list, items.length > own.spare ? button("tree-more-unplaced", `Show more of ${count(items.length)}`, true, () => { own.spare += ROWS; editor.draw(); }) : null);
  box.addEventListener("dragover", (event) => { if (own.dragged?.some((key) => key.startsWith("t:"))) { event.preventDefault(); box.classList.add("over"); } });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    const paths = chosen(editor, own.dragged ?? []).paths.filter((path) => path !== "");
    box.classList.remove("over");
    own.dragged = null;
    if (paths.length) { event.preventDefault(); takeOut(editor, paths); }
  });
  return box;
}

/** @param {TreeEditor} editor @param {Value} label @returns {HTMLElement} */
function spareRow(editor, label) {
  const key = keyOf(label);
  const selected = editor.own.selected.has(key);
  const toggle = h("button", { type: "button", class: "row", id: `spare-${key}`, "aria-pressed": String(selected), draggable: "true", onclick: () => toggleSelected(editor, key) },
    h("span", { class: "tick", "aria-hidden": "true" }, selected ? "☑" : "☐"),
    h("span", { class: "row-label" }, label === null || label === "" ? displayValue(label) : marked(label, editor.own.search)),
    label === null && !editor.given.missingMustBePlaced ? h("span", { class: "badge" }, "can stay here as missing") : null,
    h("span", { class: "row-amount" }, count(editor.values.get(label) ?? 0, "record")));
  toggle.addEventListener("dragstart", (event) => grabbed(editor, event, key));
  toggle.addEventListener("dragend", () => letGo(editor));
  return h("li", {}, toggle);
}
