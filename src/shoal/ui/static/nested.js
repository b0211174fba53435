// Trees as the policy nests them, as nodes that can be moved about, and back. No page and no server in here.
// A node is { label, kids }: kids is null for a value, a list for a group; the missing value's label is null.
import { MISSING } from "./core.js";

/** @import { Column, TreeAmount, TreeFindings, TreeGroup, TreeNode, TreeValue, Value } from "./types" */

const ROOT = "*";

/** @param {unknown} node @returns {node is Record<string, unknown>} */
const isMap = (node) => node !== null && typeof node === "object" && !Array.isArray(node);
/** @param {unknown} below @returns {boolean} */
const isEmpty = (below) => below === null || below === undefined || (Array.isArray(below) && !below.length) || (isMap(below) && !Object.keys(below).length);
/**
 * Names that JavaScript would put first as keys, whatever their order.
 * @param {string} name
 * @returns {boolean}
 */
const likeIndex = (name) => /^(0|[1-9][0-9]*)$/.test(name);

/** @param {Value} label @returns {TreeValue} */
export const value = (label) => ({ label, kids: null });
/** @param {TreeNode} node @returns {node is TreeGroup} */
export const isGroup = (node) => node.kids !== null;

/**
 * The tree of a policy as nodes under one root. What is no tree (a path, nothing) is a root without anything.
 * @param {unknown} tree
 * @returns {TreeGroup}
 */
export function readTree(tree) {
  if (!isMap(tree) && !Array.isArray(tree)) return { label: ROOT, kids: [] };
  const keys = isMap(tree) ? Object.keys(tree) : [];
  const sole = isMap(tree) && keys.length === 1 ? tree[keys[0]] : null;
  if (!isEmpty(sole)) return { label: keys[0], kids: kidsOf(sole) };
  return { label: ROOT, kids: kidsOf(tree) };
}

/** @param {unknown} node @returns {TreeNode[]} */
function kidsOf(node) {
  if (Array.isArray(node)) return node.flatMap((each) => (isMap(each) ? kidsOf(each) : Array.isArray(each) ? kidsOf(each) : [value(text(each))]));
  if (isMap(node)) return Object.entries(node).map(([key, below]) => named(key, below));
  return [value(text(node))];
}

/** @param {string} key @param {unknown} below @returns {TreeNode} */
function named(key, below) {
  if (key === MISSING) return value(null);
  if (below === null || below === undefined) return value(key);
  return { label: key, kids: isEmpty(below) ? [] : kidsOf(below) };
}

/** @param {unknown} scalar @returns {Value} */
const text = (scalar) => (scalar === null ? null : String(scalar));

/**
 * The tree as a policy nests it; `readTree` reads it back.
 * @param {TreeGroup} root
 * @returns {any}
 */
export function writeTree(root) {
  const below = writeKids(root.kids);
  if (!root.kids.length) return [];
  const sole = isMap(below) && Object.keys(below).length === 1 && !isEmpty(Object.values(below)[0]);
  return root.label === ROOT && !sole ? below : { [root.label]: below };
}

/** @param {TreeNode[]} kids @returns {any} */
function writeKids(kids) {
  if (kids.every((kid) => !isGroup(kid))) return kids.map((kid) => kid.label);
  if (kids.every(isGroup)) {
    const names = kids.map((kid) => kid.label);
    const mapping = new Set(names).size === names.length && !(names.length > 1 && names.some(likeIndex));
    if (mapping) return Object.fromEntries(kids.map((kid) => [kid.label, writeKids(kid.kids)]));
  }
  return kids.map((kid) => (isGroup(kid) ? { [kid.label]: writeKids(kid.kids) } : kid.label));
}

/**
 * The node at a path of indices ("" is the root, "0.2" the third below the first).
 * @param {TreeGroup} root
 * @param {string} path
 * @returns {TreeNode}
 */
export function nodeAt(root, path) {
  /** @type {any} */
  let node = root;
  for (const index of steps(path)) node = node?.kids?.[index];
  return node;
}

/**
 * The group at a path.
 * @param {TreeGroup} root
 * @param {string} path
 * @returns {TreeGroup}
 */
export function groupAt(root, path) { return /** @type {TreeGroup} */ (nodeAt(root, path)); }

/** @param {string} path @returns {number[]} */
const steps = (path) => (path === "" ? [] : path.split(".").map(Number));
/** @param {string} path @returns {number} */
const lastStep = (path) => Number(path.split(".").at(-1));
/** @param {string} path @returns {string} */
export const parentPath = (path) => path.split(".").slice(0, -1).join(".");

/**
 * Call for every node: with its path and its depth, parents first.
 * @param {TreeNode} root
 * @param {(node: TreeNode, path: string, depth: number) => unknown} visit
 * @param {string} [path]
 * @param {number} [depth]
 */
export function walk(root, visit, path = "", depth = 0) {
  visit(root, path, depth);
  root.kids?.forEach((kid, index) => walk(kid, visit, path === "" ? String(index) : `${path}.${index}`, depth + 1));
}

/**
 * Steps from the root to the deepest node: the level of the root.
 * @param {TreeGroup} root
 * @returns {number}
 */
export function height(root) {
  let most = 0;
  walk(root, (_, __, depth) => { most = Math.max(most, depth); });
  return most;
}

/**
 * What a tree lacks of a column's values (a Map to their records), has twice, has without need; and empty groups.
 * @param {TreeGroup} root
 * @param {Map<Value, number>} values
 * @returns {TreeFindings}
 */
export function findings(root, values) {
  /** @type {Map<Value, string[]>} */
  const pathsOf = new Map();
  /** @type {string[]} */
  const empty = [];
  walk(root, (node, path) => {
    if (!isGroup(node)) pathsOf.set(node.label, [...(pathsOf.get(node.label) ?? []), path]);
    else if (!node.kids.length && path !== "") empty.push(path);
  });
  return {
    unplaced: [...values.keys()].filter((label) => !pathsOf.has(label)),
    doubled: [...pathsOf].filter(([, paths]) => paths.length > 1).map(([label, paths]) => ({ label, paths })),
    absent: [...pathsOf.keys()].filter((label) => !values.has(label)),
    empty,
  };
}

/**
 * Records and values under every node, by path.
 * @param {TreeGroup} root
 * @param {Map<Value, number>} values
 * @returns {Map<string, TreeAmount>}
 */
export function amounts(root, values) {
  const found = new Map();
  const count = (/** @type {TreeNode} */ node, /** @type {string} */ path) => {
    const sum = { records: 0, values: 0 };
    if (!isGroup(node)) { sum.records = values.get(node.label) ?? 0; sum.values = 1; } else node.kids.forEach((kid, index) => {
      const below = count(kid, path === "" ? String(index) : `${path}.${index}`);
      sum.records += below.records;
      sum.values += below.values;
    });
    found.set(path, sum);
    return sum;
  };
  count(root, "");
  return found;
}

/**
 * The uppermost of some paths: what lies under another of them goes along with it.
 * @param {string[]} paths
 * @returns {string[]}
 */
export function uppermost(paths) {
  return paths.filter((path) => !paths.some((other) => other !== path && (other === "" || path.startsWith(`${other}.`))));
}

/** @param {TreeGroup} root @param {Set<TreeNode>} nodes */
function cut(root, nodes) {
  walk(root, (node) => { if (node.kids) node.kids = node.kids.filter((kid) => !nodes.has(kid)); });
}

/**
 * Move nodes, and values that are not in the tree yet, to the end of a group. Returns why not, or "".
 * @param {TreeGroup} root
 * @param {string[]} paths
 * @param {Value[]} labels
 * @param {string} target
 * @returns {string}
 */
export function move(root, paths, labels, target) {
  const goal = groupAt(root, target);
  const upper = uppermost(paths);
  if (upper.some((path) => path === "" || target === path || target.startsWith(`${path}.`))) return "A group cannot be moved into itself.";
  const nodes = upper.map((path) => nodeAt(root, path));
  cut(root, new Set(nodes));
  goal.kids.push(...nodes, ...labels.map(value));
  return "";
}

/**
 * Put nodes and unplaced values into a new group, which replaces the first of them; with `onTop`, under the root.
 * @param {TreeGroup} root
 * @param {string[]} paths
 * @param {Value[]} labels
 * @param {string} name
 * @param {boolean} [onTop]
 */
export function group(root, paths, labels, name, onTop = false) {
  const upper = uppermost(paths).filter((path) => path !== "");
  const nodes = upper.map((path) => nodeAt(root, path));
  /** @type {TreeGroup} */
  const added = { label: name, kids: [] };
  const home = upper.length && !onTop ? groupAt(root, commonParent(upper)) : root;
  const at = upper.length ? home.kids.findIndex((kid) => nodes.includes(kid) || holds(kid, nodes)) : home.kids.length;
  home.kids.splice(at, 0, added);
  cut(root, new Set(nodes));
  added.kids.push(...nodes, ...labels.map(value));
}

/** @param {TreeNode} node @param {TreeNode[]} others @returns {boolean} */
const holds = (node, others) => { let found = false; walk(node, (each) => { found ||= others.includes(each); }); return found; };

/** @param {string[]} paths @returns {string} */
function commonParent(paths) {
  const all = paths.map((path) => path.split(".").slice(0, -1));
  const first = all[0];
  let depth = 0;
  while (depth < first.length && all.every((each) => each[depth] === first[depth])) depth += 1;
  return first.slice(0, depth).join(".");
}

/**
 * Replace a group by what is in it.
 * @param {TreeGroup} root
 * @param {string} path
 */
export function dissolve(root, path) {
  const parent = groupAt(root, parentPath(path));
  parent.kids.splice(lastStep(path), 1, ...groupAt(root, path).kids);
}

/**
 * Take nodes out; values under them are in no group any more.
 * @param {TreeGroup} root
 * @param {string[]} paths
 */
export function remove(root, paths) { cut(root, new Set(uppermost(paths).filter((path) => path !== "").map((path) => nodeAt(root, path)))); }

/**
 * Move a node among its neighbours.
 * @param {TreeGroup} root
 * @param {string} path
 * @param {number} by
 * @returns {string}
 */
export function shift(root, path, by) {
  const { kids } = groupAt(root, parentPath(path));
  const index = lastStep(path);
  const to = Math.max(0, Math.min(kids.length - 1, index + by));
  kids.splice(to, 0, ...kids.splice(index, 1));
  return [...path.split(".").slice(0, -1), to].join(".");
}

/**
 * The categories of a sensitive column, most sensitive first, as pairs of name and values.
 * @param {Column | undefined} column
 * @returns {[string, any][]}
 */
export function readCategories(column) {
  const given = column?.categories;
  if (Array.isArray(given)) return given.filter((pair) => Array.isArray(pair) && pair.length === 2);
  return isMap(given) ? Object.entries(given) : [];
}

/**
 * Categories as the policy document has them: a mapping, or pairs where JavaScript would reorder the names.
 * @param {[string, Value[]][]} pairs
 */
export function writeCategories(pairs) {
  return pairs.some(([name]) => likeIndex(name)) ? pairs : Object.fromEntries(pairs);
}
