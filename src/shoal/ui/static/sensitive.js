// Step three: what is secret, how secret, and what of it is published.
import { api, attempt, choice, columns, count, displayValue, edit, field, fill, h, problemList, recordsByValue, saved, say, state, table, watch } from "./core.js";
import { readCategories, writeCategories, isGroup } from "./nested.js";
import { expandHierarchy } from "./expand_hierarchy.js";
import { treeEditor } from "./tree.js";

/** @import { Column, ColumnFacts, Distances, Editor, Policy, SensitivePage, SensitivityAnswer, Stop, TreeGroup, TreeNode, Value } from "./types" */

export const id = "sensitive";
export const title = "Sensitive values";

const WORDS = {
  group: "category", groups: "categories", top: "no category", unplaced: "Not categorized yet",
  unplacedHelp: "Values without a category. Once there are categories, every value that counts needs one.",
  make: "Create a category …", newGroup: "New category", up: "More sensitive", down: "Less sensitive",
};
const PUBLISHED = [
  ["values", "The values", "Someone who finds a person's class sees which values occur in it; the models limit how far they can tell whose is which."],
  ["categories", "The categories only", "Someone learns at most how sensitive a person's value is, never the value itself. The same is true for readers of the release."],
  ["both", "Values and categories", "Someone sees the values in a person's class and how sensitive each is considered; the models apply to the values."],
];

/** @param {HTMLElement} root @param {string[]} rest @returns {Stop} */
export function render(root, rest) {
  const known = columns("sensitive");
  const name = known.includes(rest.join("/")) ? rest.join("/") : known[0];
  const parts = { list: h("nav", { "aria-label": "Sensitive columns" }), body: h("div") };
  fill(root, h("h1", {}, title), h("p", {}, "A sensitive column contains what people keep to themselves, such as a diagnosis. It is released, and the privacy models keep others from telling whose value is which."), parts.list, parts.body);
  if (name === undefined) {
    fill(parts.body, h("p", {}, "No column is sensitive yet. ", h("a", { href: "#/data" }, "Assign roles first.")));
    return () => {};
  }
  /** @type {SensitivePage} */
  const page = { name, parts, answer: null, view: { distance: "equal" }, requests: 0, gone: false, renamed: new Map() };
  drawList(page, known);
  begin(page);
  const stop = watch((what) => {
    if (what !== "policy" && what !== "saved") return;
    if (!sameColumns(known)) { leave(); leave = render(root, rest); return; }  // undone, or done in another window
    if (!page.drawn) return;
    if (what === "policy") drawBody(page);
    if (what === "saved") ask(page);
  });
  let leave = () => { page.gone = true; stop(); };
  return () => leave();
}

/** @param {string[]} known @returns {boolean} */
const sameColumns = (known) => columns("sensitive").join("\n") === known.join("\n");
/** @param {SensitivePage} page @returns {Column} */
const column = (page) => state.policy.columns?.[page.name];

/** @param {SensitivePage} page @param {string[]} known */
function drawList(page, known) {
  fill(page.parts.list, known.length > 1 ? h("ul", { class: "tabs" }, known.map((name) => h("li", {}, h("a", { href: `#/sensitive/${encodeURIComponent(name)}`, "aria-current": name === page.name ? "page" : null }, name)))) : null);
}

/** @param {SensitivePage} page */
async function begin(page) {
  const facts = await attempt(() => api.desk("column", { name: page.name }));
  if (!facts || page.gone) return;
  const values = () => known(page, merged(page, recordsByValue(facts)));
  const editor = treeEditor({
    words: WORDS, label: `Categories of ${page.name}, most sensitive first`, flat: true, ordered: true, missingMustBePlaced: true,
    values, read: () => readRoot(page), write: (tree) => writeRoot(page, tree), renamed: (from, to) => page.renamed.set(from, to), partial: () => facts.values.length < facts.found, note: (node, path) => weightOf(page, node, path),
  });
  frame(page, facts, editor);
  drawBody(page);
  ask(page);
}

/**
 * The values with their records, other spellings counted under the value that the policy reads them as.
 * @param {SensitivePage} page
 * @param {Map<Value, number>} values
 * @returns {Map<Value, number>}
 */
function merged(page, values) {
  for (const [value, spellings] of Object.entries(column(page)?.same ?? {}))
    for (const spelling of [spellings].flat().map(String)) {
      const records = spelling === value ? undefined : values.get(spelling);
      if (records === undefined) continue;
      values.delete(spelling);
      values.set(value, (values.get(value) ?? 0) + records);
    }
  return values;
}

/** @param {SensitivePage} page @returns {string[]} */
const unknownValues = (page) => [column(page)?.unknown ?? []].flat().map(String);

/**
 * The values without those that models do not count, which need no category.
 * @param {SensitivePage} page
 * @param {Map<Value, number>} values
 * @returns {Map<Value, number>}
 */
function known(page, values) {
  if (!column(page)?.unknown_counts) [null, ...unknownValues(page)].forEach((value) => values.delete(value));
  return values;
}

/**
 * The categories as a tree of one level of groups, which is what the editor edits.
 * @param {SensitivePage} page
 * @returns {TreeGroup}
 */
function readRoot(page) {
  return { label: "*", kids: readCategories(column(page)).map(([label, values]) => ({ label, kids: [values ?? []].flat().map((each) => ({ label: each === null ? null : String(each), kids: null })) })) };
}

/** @param {SensitivePage} page @param {TreeGroup} tree */
function writeRoot(page, tree) {
  /** @type {[string, Value[]][]} */
  const pairs = tree.kids.filter(isGroup).map((kid) => [kid.label, kid.kids.map((each) => each.label)]);
  edit((policy) => {
    const own = policy.columns[page.name];
    renameLimits(policy, page);
    if (pairs.length) own.categories = writeCategories(pairs);
    else {
      delete own.categories;
      if (own.publish === "categories" || own.publish === "both") delete own.publish;
    }
  });
}

/**
 * Limits by category follow the names of the categories.
 * @param {Policy} policy
 * @param {SensitivePage} page
 */
function renameLimits(policy, page) {
  for (const model of policy.privacy ?? []) {
    const about = model.sensitive === undefined || [model.sensitive].flat().includes(page.name);
    for (const key of about ? state.models[model.model]?.by_category ?? [] : [])
      model[key] = Object.fromEntries(Object.entries(model[key] ?? {}).map(([name, limit]) => [page.renamed.get(name) ?? name, limit]));
  }
  page.renamed.clear();
}

/**
 * What a category weighs, as the models compute it.
 * @param {SensitivePage} page
 * @param {TreeNode} node
 * @param {string} path
 * @returns {string | null}
 */
function weightOf(page, node, path) {
  const known = page.answer?.categories;
  if (!known || !isGroup(node)) return null;
  const index = known.names.indexOf(node.label);
  return index >= 0 && index === Number(path) && known.weights.length ? `weighs ${known.weights[index]}` : null;
}

/** @param {SensitivePage} page */
async function ask(page) {
  const mine = page.requests += 1;
  await saved();
  const answer = await attempt(() => api.desk("sensitivity", { name: page.name, ...page.view }));
  if (!answer || page.gone || mine !== page.requests) return;
  page.answer = answer;
  drawBody(page);
}

/** @param {SensitivePage} page @param {SensitivePage["view"]} changes */
function look(page, changes) { Object.assign(page.view, changes); ask(page); }

/**
 * The frame of the page, made once: the editor stays in it, so that focus and scrolling stay.
 * @param {SensitivePage} page
 * @param {ColumnFacts} facts
 * @param {Editor} editor
 */
function frame(page, facts, editor) {
  const { head, problems, rest } = page.drawn = { facts, editor, head: h("div"), problems: h("div"), rest: h("div") };
  fill(page.parts.body, h("section", { "aria-labelledby": "categories-head" }, head, editor.element, problems), rest);
}

/** @param {SensitivePage} page */
function drawBody(page) {
  const { answer, drawn } = page;
  if (!drawn) return;
  const { facts } = drawn;
  const pairs = readCategories(column(page));
  fill(drawn.head, h("h2", { id: "categories-head" }, `${page.name}: categories`),
    h("p", { class: "soft" }, `${count(facts.distinct, "different value")}${facts.missing ? `, missing in ${count(facts.missing, "record")}` : ""}. Categories are ordered from most to least sensitive. Drag a category onto another to take its place. Some models require several categories in every class.`),
    !pairs.length ? h("p", {}, "There are no categories. Select values below and create one; without categories, only models that count values can be used.") : null,
    pairs.length === 1 ? h("p", { class: "warning" }, "A single category has no weight: create a second one.") : null);
  drawn.editor.draw();
  fill(drawn.problems, answer?.problems.length ? problemList(answer.problems) : null);
  fill(drawn.rest, spellings(page), unknownPart(page, facts), weights(answer), publishPart(page, pairs, answer), binsPart(page, pairs), distancePart(page, answer));
}

/**
 * The spellings that are read as another value, each group with a button that separates it again.
 * @param {SensitivePage} page
 * @returns {HTMLElement | null}
 */
function spellings(page) {
  const same = Object.entries(column(page).same ?? {});
  if (!same.length) return null;
  const separate = (/** @type {string} */ value) => {
    edit((policy) => { delete policy.columns[page.name].same[value]; });
    say(`The spellings of ${value} are no longer merged.`);
  };
  return h("section", { "aria-labelledby": "spellings-head" }, h("h2", { id: "spellings-head" }, "Spellings"),
    h("p", { class: "soft" }, "These spellings are read as one value, so that one secret does not count as several. Only the value is released."),
    table("Spellings of one value", ["Value", "Read as this value", ""], same.map(([value, others], place) => [h("strong", {}, value), [others].flat().map((each) => [h("code", {}, JSON.stringify(String(each))), " "]),
      h("button", { type: "button", id: `separate-${place}`, onclick: () => separate(value) }, "Separate", h("span", { class: "visually-hidden" }, ` the spellings of ${value}`))])));
}

/**
 * The values that say nothing: which they are, and whether they count all the same.
 * @param {SensitivePage} page
 * @param {ColumnFacts} facts
 * @returns {HTMLElement}
 */
function unknownPart(page, facts) {
  const listed = unknownValues(page), values = merged(page, recordsByValue(facts));
  const change = (/** @type {string[]} */ marks) => edit((policy) => {
    const own = policy.columns[page.name];
    if (marks.length) own.unknown = marks; else delete own.unknown;
  });
  const input = h("input", { id: "unknown-value", list: "unknown-values", autocomplete: "off", value: page.typed ?? "", oninput: (event) => { page.typed = event.target.value; } });
  const add = () => {
    const value = page.typed ?? "";
    if (value === "" || listed.includes(value)) return;
    page.typed = "";
    change([...listed, value]);
    say(`${value} is unknown.`);
  };
  const remove = (/** @type {string} */ value) => { change(listed.filter((each) => each !== value)); say(`${value} counts as a value.`); };
  const counts = (/** @type {boolean} */ yes) => edit((policy) => { if (yes) policy.columns[page.name].unknown_counts = true; else delete policy.columns[page.name].unknown_counts; });
  return h("section", { "aria-labelledby": "unknown-head" }, h("h2", { id: "unknown-head" }, "Unknown values"),
    h("p", { class: "soft" }, `A missing value${facts.missing ? ` (${count(facts.missing, "record")})` : ""} says nothing about a person, so it hides nobody: models do not count it. The values listed here are treated in the same way.`),
    listed.length ? table("Unknown values", ["Value", "Records", ""], listed.map((value, place) => [h("code", {}, JSON.stringify(value)), count(values.get(value) ?? 0),
      h("button", { type: "button", id: `known-${place}`, onclick: () => remove(value) }, "Treat as a value", h("span", { class: "visually-hidden" }, `: ${value}`))])) : null,
    h("datalist", { id: "unknown-values" }, [...values.keys()].filter((value) => value !== null && !listed.includes(value)).slice(0, 200).map((value) => h("option", { value }))),
    field("Another unknown value", input), h("button", { type: "button", id: "add-unknown", onclick: add }, "Treat as unknown"),
    h("p", {}, h("label", { class: "option" }, h("input", { type: "checkbox", id: "unknown-counts", checked: Boolean(column(page).unknown_counts), onchange: (event) => counts(event.target.checked) }), " Count unknown values as values (unknown_counts)")));
}

/** @param {SensitivityAnswer | null} answer @returns {HTMLElement | null} */
function weights(answer) {
  const known = answer?.categories;
  if (!known?.weights.length) return null;
  return h("section", { "aria-labelledby": "weights-head" }, h("h2", { id: "weights-head" }, "Category weights"),
    h("p", { class: "soft" }, "Models with a limit α on weights add up the weights of a class's records and require at least α. The most sensitive category weighs 0, so a class of only such values never reaches α."),
    table("Weights and distances of categories", ["Category", "Weight", ...known.names.map((name) => `to ${name}`)], known.names.map((name, index) => [h("strong", {}, name), known.weights[index], ...known.apart[index]])));
}

/**
 * @param {SensitivePage} page
 * @param {[string, any][]} pairs
 * @param {SensitivityAnswer | null} answer
 * @returns {HTMLElement}
 */
function publishPart(page, pairs, answer) {
  const chosen = column(page).publish ?? answer?.publish ?? "values";
  const set = (/** @type {string} */ publish) => { edit((policy) => { policy.columns[page.name].publish = publish; }); say(`${publish} are published.`); };
  return h("section", { "aria-labelledby": "publish-head" }, h("h2", { id: "publish-head" }, "What is published"),
    h("fieldset", { class: "plain" }, h("legend", { class: "visually-hidden" }, "What is published"), PUBLISHED.map(([value, text, tells]) => h("div", { class: "option-block" },
      h("label", { class: "option" }, h("input", { type: "radio", name: "publish", id: `publish-${value}`, value, checked: chosen === value, disabled: value !== "values" && !pairs.length, onchange: () => set(value), "aria-describedby": `publish-${value}-tells` }), ` ${text}`),
      h("p", { class: "soft", id: `publish-${value}-tells` }, tells, value === "both" ? ` A column ${page.name}_category is added.` : "")))),
    column(page).publish === undefined ? h("p", { class: "soft" }, "The policy does not say, so the models decide: some publish categories when they are the only ones on this column.") : null);
}

/**
 * Bins of numbers: a width, or the points between them; empty for none.
 * @param {SensitivePage} page
 * @param {[string, any][]} pairs
 * @returns {HTMLElement | null}
 */
function binsPart(page, pairs) {
  const given = column(page).bins;
  if (pairs.length && given === undefined) return null;
  const input = h("input", { id: "bins", type: "text", inputmode: "decimal", value: Array.isArray(given) && given.length === 1 ? `${given[0]},` : [given ?? []].flat().join(", "), onchange: (event) => {
    const texts = event.target.value.split(/[,;\s]+/).filter(Boolean);
    const points = texts.map(Number);
    if (points.some((point) => !Number.isFinite(point))) { say("Bins are numbers, such as 1000 or 2000, 5000."); return; }
    edit((policy) => {
      const own = policy.columns[page.name];
      if (!points.length) delete own.bins; else { own.bins = points.length === 1 && !event.target.value.includes(",") ? points[0] : points; delete own.publish; }
    });
    say(points.length ? "The numbers are published in bins." : "The numbers are not published in bins.");
  } });
  return h("section", { "aria-labelledby": "bins-head" }, h("h2", { id: "bins-head" }, "Bins for numbers"),
    field("Width, or the points between bins", input, "For a column of numbers: 1000 publishes [3000, 4000) in place of 3010; 2000, 5000 makes three bins, and 2000, (with a comma) two. The models then judge bins. Leave empty to publish as above."));
}

const DISTANCES = [["equal", "equal: any two values have distance 1"], ["ordered", "ordered: by position in an order"], ["hierarchical", "hierarchical: by the level of their common ancestor"]];

/** @param {SensitivePage} page @param {SensitivityAnswer | null} answer @returns {HTMLElement} */
function distancePart(page, answer) {
  const known = answer?.distances;
  const spec = expandHierarchy(column(page).hierarchy);
  return h("section", { "aria-labelledby": "distance-head" }, h("h2", { id: "distance-head" }, "Distances between values"),
    h("p", { class: "soft" }, "Models that compare the distribution of a class with that of the whole release use a distance between values."),
    h("p", {}, spec ? `The values have a hierarchy of their own (${Object.keys(spec)[0]}). ` : "The values have no hierarchy of their own; the hierarchical distance uses the categories. ",
      h("a", { href: `#/hierarchies/${encodeURIComponent(page.name)}`, id: "value-hierarchy" }, spec ? "Change it" : "Create one")),
    known ? [
      field("Distance", choice("distance", DISTANCES, known.kind, (distance) => look(page, { distance }))),
      known.kinds[known.kind] ? h("p", { class: "warning" }, known.kinds[known.kind]) : distances(page, known),
    ] : h("p", { class: "soft" }, "Distances are shown once the problems above are fixed."));
}

/** @param {SensitivePage} page @param {Distances} known @returns {HTMLElement} */
function distances(page, known) {
  if (!known.values.length) return h("p", { class: "soft" }, "There is only one value.");
  const figure = (/** @type {number} */ number) => Number(number.toFixed(4)).toString();
  if (known.from === undefined) return table("Distances between published values", ["", ...known.values.map(displayValue)], known.values.map((value, index) => [h("strong", {}, displayValue(value)), ...known.apart[index].map(figure)]));
  return h("div", {}, field("From the value", h("input", { id: "distance-from", value: known.from ?? "", autocomplete: "off", onchange: (event) => look(page, { value: event.target.value }) })),
    table(`Distances from ${known.from ?? "the missing value"}: the nearest ${count(known.values.length)} of ${count(known.count, "value")}`, ["Value", "Distance"], known.values.map((value, index) => [displayValue(value), figure(known.apart[0][index])])));
}
