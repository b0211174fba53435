// What can be done to the tree that an editor shows: each is one change of the policy, said aloud.
import { count, fill, say } from "./core.js";
import { askName, askChoice } from "./dialogs.js";
import { group, groupAt, isGroup, move, nodeAt, parentPath, remove, shift, uppermost, walk } from "./nested.js";

/** @import { Selection, TreeEditor, TreeGroup, Value } from "./types" */

/** @param {string} path @returns {string} */
export const rowId = (path) => `node-${path.replaceAll(".", "-") || "top"}`;
/**
 * What is selected is known by keys: "t:" and a path in the tree, "u:" and a value that is not in the tree.
 * @param {Value} label
 * @returns {string}
 */
export const keyOf = (label) => `u:${label === null ? "null" : `=${label}`}`;
/** @param {string} key @returns {Value} */
const valueOf = (key) => (key === "u:null" ? null : key.slice(3));

/**
 * The paths in the tree and the unplaced values that are selected.
 * @param {TreeEditor} editor
 * @param {string[]} [only]
 * @returns {Selection}
 */
export function chosen(editor, only) {
  const keys = only ?? [...editor.own.selected];
  return { paths: keys.filter((key) => key.startsWith("t:")).map((key) => key.slice(2)), labels: keys.filter((key) => key.startsWith("u:")).map(valueOf) };
}

/**
 * Change the tree; `focus` is the label whose row has the focus afterwards.
 * @param {TreeEditor} editor
 * @param {(root: TreeGroup) => string | void} action
 * @param {string} said
 * @param {Value} [focus]
 */
export function change(editor, action, said, focus) {
  const root = editor.given.read();
  const why = action(root);
  if (why) { say(why); fill(/** @type {HTMLElement} */ (editor.element.querySelector(".tree-said")), why); return; }
  editor.own.selected.clear();
  editor.own.cut = null;
  editor.given.write(root);
  say(said);
  if (focus !== undefined) focusLabel(editor, focus);
}

/** @param {TreeEditor} editor @param {Value} label */
function focusLabel(editor, label) {
  /** @type {string[]} */
  const paths = [];
  walk(editor.root, (node, at) => { if (node.label === label) paths.push(at); });
  if (paths.length) { editor.own.focus = paths[0]; document.getElementById(rowId(paths[0]))?.focus(); }
}

/**
 * Why a group cannot have a name; one that it shares with a value is judged by the policy, which allows some.
 * @param {TreeEditor} editor
 * @param {string} [own]
 * @returns {(name: string) => string}
 */
const nameProblem = (editor, own) => (name) => {
  let found = false;
  walk(editor.root, (node) => { found ||= isGroup(node) && node.label === name && name !== own; });
  return found ? "This name is already in use." : "";
};

/** @param {TreeEditor} editor */
export async function makeGroup(editor) {
  const { paths, labels } = chosen(editor);
  const { words } = editor.given;
  const name = await askName(words.newGroup, `Name of the ${words.group}`, "", "Create", nameProblem(editor));
  if (name) change(editor, (root) => group(root, paths, labels, name, editor.given.flat), `${words.group} ${name} made`, name);
}

/**
 * An empty group to put things into: in the selected group, else on top.
 * @param {TreeEditor} editor
 * @param {string} path
 */
export async function newGroup(editor, path) {
  const { words } = editor.given;
  const name = await askName(words.newGroup, `Name of the ${words.group}`, "", "Create", nameProblem(editor));
  if (name) change(editor, (root) => { groupAt(root, path).kids.push({ label: name, kids: [] }); }, `${words.group} ${name} made`, name);
}

/**
 * Every group but those that would have to move into themselves.
 * @param {TreeEditor} editor
 * @param {string[]} paths
 * @returns {string[][]}
 */
function targets(editor, paths) {
  /** @type {string[][]} */
  const all = [];
  /** @type {string[]} */
  const trail = [];
  walk(editor.root, (node, path, depth) => {
    if (!isGroup(node) || (editor.given.flat && path === "")) return;
    trail.length = depth;
    trail[depth] = path === "" ? editor.given.words.top : node.label;
    if (!paths.some((each) => path === each || path.startsWith(`${each}.`))) all.push([path, trail.filter((each) => each !== undefined).slice(depth ? 1 : 0).join(" › ")]);
  });
  return all;
}

/** @param {TreeEditor} editor */
export async function moveTo(editor) {
  const { paths, labels } = chosen(editor);
  const to = await askChoice("Move to", targets(editor, paths));
  if (to !== null) put(editor, { paths, labels }, to);
}

/** @param {TreeEditor} editor @param {Selection} selection @param {string} to */
export function put(editor, { paths, labels }, to) {
  const moved = editor.given.flat ? paths.filter((path) => !isGroup(nodeAt(editor.root, path))) : paths;
  if (!moved.length && !labels.length) return;
  const goal = nodeAt(editor.root, to);
  const first = moved.length ? nodeAt(editor.root, moved[0]).label : labels[0];
  change(editor, (root) => move(root, moved, labels, to), `${count(moved.length + labels.length, "entry", "entries")} moved to ${goal.label}`, first);
}

/** @param {TreeEditor} editor @param {string} path */
export async function rename(editor, path) {
  const node = groupAt(editor.root, path);
  const name = await askName(`Rename ${node.label}`, "New name", node.label, "Rename", nameProblem(editor, node.label));
  if (name && name !== node.label) change(editor, (root) => { nodeAt(root, path).label = name; editor.given.renamed?.(node.label, name); }, `Renamed to ${name}`, name);
}

/** @param {TreeEditor} editor @param {string[]} paths */
export function takeOut(editor, paths) {
  const labels = uppermost(paths).map((path) => nodeAt(editor.root, path).label);
  change(editor, (root) => remove(root, paths), `${labels.map(String).join(", ")} removed`, nodeAt(editor.root, parentPath(paths[0]))?.label);
}

/** @param {TreeEditor} editor @param {string[]} paths */
export function toggleLimit(editor, paths) {
  const labels = new Set(editor.given.limit?.()?.labels ?? []);
  for (const path of paths) {
    const { label } = nodeAt(editor.root, path);
    if (!labels.delete(label)) labels.add(label);
  }
  editor.given.setLimit?.([...labels]);
}

/** @param {TreeEditor} editor @param {string} path @param {number} by */
export function shifted(editor, path, by) {
  const { label } = nodeAt(editor.root, path);
  change(editor, (root) => { shift(root, path, by); }, `${label} moved`, label);
}

/**
 * Move a group by a button, and keep it in hand for the next press.
 * @param {TreeEditor} editor
 * @param {string} path
 * @param {number} by
 */
export function shiftedOn(editor, path, by) {
  const { label } = nodeAt(editor.root, path);
  shifted(editor, path, by);
  walk(editor.root, (node, at) => { if (node.label === label && isGroup(node)) editor.own.selected.add(`t:${at}`); });
  editor.draw();
}
