// A tree that is edited by looking: values and groups are selected, dragged, grouped, renamed, moved; all by keys too.
import { count, fill, h, say, someOf, state } from "./core.js";
import { amounts, dissolve, findings, height, isGroup, nodeAt, remove } from "./nested.js";
import { change, chosen, makeGroup, moveTo, newGroup, rename, shiftedOn, takeOut, toggleLimit } from "./tree_actions.js";
import { ROWS, button, spareBox, treeBox } from "./tree_rows.js";

/** @import { TreeEditor, TreeGroup, TreeParts, Value } from "./types" */

/**
 * An editor of one tree.
 * @param {TreeParts} given
 * @returns {TreeEditor}
 */
export function treeEditor(given) {
  const element = h("div", { class: "tree-editor" });
  const root = { label: "*", kids: [] };
  /** @type {TreeEditor} */
  const editor = {
    given, element, draw: () => draw(editor), ...treeFacts(root, new Map()),
    own: { selected: new Set(), flipped: new Set(), search: "", rows: ROWS, spare: ROWS, focus: "", cut: null, dragged: null, late: false, seen: null },
  };
  return editor;
}

export const TREE = {
  group: "group", groups: "groups", top: "everything", unplaced: "Not placed yet",
  unplacedHelp: "Values of the data that are not in the tree. The policy cannot run until each of them is placed.",
  make: "Group …", newGroup: "New group",
};

/** @param {TreeEditor} editor */
function draw(editor) {
  const { given, own, element } = editor;
  if (own.dragged) { own.late = true; return; }  // another element in its place would end the dragging
  if (own.seen !== state.policy || editor.values !== given.values()) look(editor);
  fill(element, toolbar(editor), notices(editor), h("div", { class: "tree-halves" }, treeBox(editor), spareBox(editor)));
}

/**
 * Read the tree of another policy; paths mean something else in it, so nothing stays selected.
 * @param {TreeEditor} editor
 */
function look(editor) {
  const { given, own } = editor;
  Object.assign(editor, treeFacts(given.read(), given.values()));
  if (given.partial?.()) editor.found.absent = [];
  own.selected.clear();
  own.seen = state.policy;
}

/** @param {TreeGroup} root @param {Map<Value, number>} values */
function treeFacts(root, values) {
  const found = findings(root, values);
  return { root, values, found, amounts: amounts(root, values), doubled: new Set(found.doubled.map((each) => each.label)), height: height(root) };
}

/** @param {TreeEditor} editor @returns {HTMLElement} */
function toolbar(editor) {
  const { own, given } = editor;
  const { paths, labels } = chosen(editor);
  const nodes = paths.map((path) => nodeAt(editor.root, path));
  const one = paths.length === 1 && !labels.length ? nodes[0] : null;
  const some = paths.length + labels.length;
  const inner = paths.filter((path) => path !== "");
  const search = h("input", { type: "search", id: "tree-search", value: own.search, autocomplete: "off", oninput: (event) => { own.search = event.target.value; own.rows = own.spare = ROWS; editor.draw(); } });
  const limited = given.limit?.()?.labels ?? [];
  return h("div", {},
    h("div", { class: "field" }, h("label", { for: "tree-search" }, "Search values and names"), search),
    h("div", { class: "buttons", role: "toolbar", "aria-label": "Actions for the selection" },
      h("span", { class: "soft tree-chosen" }, some ? `${count(some)} selected` : "Nothing selected"),
      button("tree-group", given.words.make, some && !nodes.some((node) => given.flat && isGroup(node)) && inner.length === paths.length, () => makeGroup(editor)),
      button("tree-new", `${given.words.newGroup} …`, !some || (one && isGroup(one) && !given.flat), () => newGroup(editor, one ? paths[0] : "")),
      button("tree-move", "Move to …", some && inner.length === paths.length && !(given.flat && nodes.some(isGroup)), () => moveTo(editor)),
      button("tree-rename", "Rename …", one && isGroup(one) && (paths[0] !== "" || !given.flat), () => rename(editor, paths[0])),
      given.flat ? null : button("tree-dissolve", "Dissolve group", one && isGroup(one) && paths[0] !== "", () => change(editor, (root) => dissolve(root, paths[0]), `${one?.label} dissolved`)),
      given.ordered ? [
        button("tree-up", given.words.up, one && isGroup(one), () => shiftedOn(editor, paths[0], -1)),
        button("tree-down", given.words.down, one && isGroup(one), () => shiftedOn(editor, paths[0], 1))] : null,
      button("tree-remove", "Remove", inner.length && !labels.length, () => takeOut(editor, inner)),
      given.setLimit ? button("tree-limit", nodes.length && nodes.every((node) => limited.includes(node.label)) ? "Remove this boundary" : "Set as boundary", paths.length && !labels.length && inner.length === paths.length, () => toggleLimit(editor, paths)) : null,
      button("tree-none", "Clear selection", some, () => { own.selected.clear(); editor.draw(); })),
    h("p", { class: "warning tree-said", role: "alert" }));
}

const LISTED = 12;

/** @param {TreeEditor} editor @returns {HTMLElement} */
function notices(editor) {
  const { doubled, absent, empty } = editor.found;
  return h("ul", { class: "tree-notices" },
    doubled.length ? h("li", { class: "warning" }, `${count(doubled.length, "value is", "values are")} listed twice: `, someOf(doubled.map((each) => each.label), LISTED), ". ",
      h("button", { type: "button", id: "tree-doubled", onclick: () => { editor.own.selected = new Set(doubled.flatMap((each) => each.paths.slice(1).map((path) => `t:${path}`))); editor.draw(); say("The duplicates are selected. Remove or move them."); } }, "Select the duplicates")) : null,
    absent.length ? h("li", { class: "soft" }, `${count(absent.length, "value is", "values are")} in the tree and not in the data, which is fine: `, someOf(absent, LISTED), ".") : null,
    empty.length ? h("li", { class: "soft" }, `${count(empty.length, `${editor.given.words.group} is`, `${editor.given.words.groups} are`)} empty. `,
      h("button", { type: "button", id: "tree-empty", onclick: () => change(editor, (root) => remove(root, editor.found.empty), "Empty groups deleted") }, "Delete empty groups")) : null);
}
