// The algorithm: one of several, with the options that it takes.
import { bare, choice, columnFacts, columns, edit, field, fill, h, problemList, problemsAt, say, state } from "./core.js";
import { editQuietly, keepingOpen, stepper } from "./privacy_controls.js";

/** @import { AlgorithmChoice, AlgorithmEntry, Child, Choices, Policy } from "./types" */

/**
 * The algorithm as the policy has it; one that says nothing means the default.
 * @param {Policy} policy
 * @returns {AlgorithmEntry}
 */
function algorithmOf(policy) {
  const said = policy.algorithm;
  return typeof said === "string" ? { name: said } : { name: state.algorithm, ...(said ?? {}) };
}

/**
 * Choose another algorithm; the options that it understands too stay.
 * @param {AlgorithmChoice} entry
 */
function choose(entry) {
  edit((policy) => {
    const before = algorithmOf(policy);
    policy.algorithm = { name: entry.name };
    for (const [key, value] of Object.entries(before)) if (entry.shared.includes(key)) policy.algorithm[key] = value;
  });
  say(`The algorithm is ${entry.name}.`);
}

/**
 * Set an option; the value that counts when nothing is said is not written.
 * @param {string} name
 * @param {any} value
 * @param {boolean} [loud]
 */
function set(name, value, loud = false) {
  (loud ? edit : editQuietly)((policy) => {
    const algorithm = policy.algorithm = algorithmOf(policy);
    const empty = value === "" || value === false || value === null || (typeof value === "object" && !Object.keys(value).length);
    if (empty) delete algorithm[name]; else algorithm[name] = value;
  });
}

/**
 * Set one number of an option that has one for each column; "" takes it away.
 * @param {string} name
 * @param {string} column
 * @param {any} value
 */
function setOf(name, column, value) {
  const all = bare(algorithmOf(state.policy)[name] ?? {});
  if (value === "") delete all[column]; else all[column] = value;
  set(name, all);
}

/** @param {HTMLElement} box @param {Choices} known */
export function drawAlgorithm(box, known) {
  const chosen = algorithmOf(state.policy);
  const entry = known.algorithms.find((each) => each.name === chosen.name);
  const kinds = [...new Set(known.algorithms.map((each) => each.scope))];
  keepingOpen(box, () => fill(box,
    h("p", { class: "soft" }, "“One level per column” generalizes a column equally for all records, which is easy to read. “Each class separately” generalizes each group of records only as far as needed: far less is lost, but labels of different width appear side by side."),
    kinds.map((kind) => h("fieldset", { class: "algorithms" }, h("legend", {}, kind[0].toUpperCase() + kind.slice(1)),
      h("div", { class: "cards" }, known.algorithms.filter((each) => each.scope === kind).map((each) => one(each, chosen.name))))),
    h("div", { id: "algorithm-problems" }),
    entry ? options(chosen, entry, known) : null));
  drawAlgorithmProblems();
}

/** Options that hardly anybody needs. */
const SELDOM = new Set(["seed", "metric"]);

/** @param {AlgorithmEntry} chosen @param {AlgorithmChoice} entry @param {Choices} known @returns {HTMLElement} */
function options(chosen, entry, known) {
  const controls = (/** @type {string[]} */ names) => names.map((name) => option(name, chosen, entry, known));
  const seldom = entry.options.filter((name) => SELDOM.has(name));
  return h("div", { id: "algorithm-options", role: "group", "aria-label": `Options of ${chosen.name}` },
    h("div", { class: "parameters" }, controls(entry.options.filter((name) => !SELDOM.has(name)))),
    seldom.length ? h("details", { id: "algorithm-more" }, h("summary", {}, "More options"), h("div", { class: "parameters" }, controls(seldom))) : null);
}

/** @param {AlgorithmChoice} entry @param {string} chosen @returns {HTMLElement} */
function one(entry, chosen) {
  const id = `algorithm-${entry.name}`;
  return h("div", { class: "card", "data-chosen": entry.name === chosen ? "yes" : null },
    h("label", { class: "pick" }, h("input", { type: "radio", name: "algorithm", id, checked: entry.name === chosen, "aria-describedby": `${id}-about`, onchange: () => choose(entry) }), " ", h("strong", {}, entry.name)),
    h("div", { id: `${id}-about` }, h("p", {}, entry.does), h("p", { class: "soft" }, h("strong", {}, "When: "), entry.when), h("p", { class: "soft" }, h("strong", {}, "Drawback: "), entry.drawback)));
}

/** Problems with the algorithm, of the policy itself and with the data. */
export function drawAlgorithmProblems() {
  const box = document.getElementById("algorithm-problems");
  if (!box) return;
  fill(box, problemList(problemsAt("algorithm")));
}

/**
 * @param {string} name
 * @param {AlgorithmEntry} chosen
 * @param {AlgorithmChoice} entry
 * @param {Choices} known
 * @returns {Child}
 */
function option(name, chosen, entry, known) {
  const { kind, label, help, default: usual } = known.options[name];
  const id = `option-${name}`;
  const value = chosen[name];
  if (kind === "measure") return field(label, choice(id, known.measures.map((each) => [each.name, `${each.name}: ${each.text}`]), value ?? usual, (picked) => set(name, picked === usual ? "" : picked)), help);
  if (kind === "whole") return stepper(id, label, value ?? usual, { kind: "whole" }, (picked) => set(name, picked === usual ? "" : picked), help);
  if (kind === "seconds") return stepper(id, label, value, { kind: "number", low: 0, step: 5, start: 20, optional: true, placeholder: usual === null ? "none" : String(usual) }, (picked) => set(name, picked), help);
  if (kind === "choice") return field(label, choice(id, [["", "as needed"], ...known.options[name].choices], value ?? "", (picked) => set(name, picked)), help);
  if (kind === "yes-no") return h("div", { class: "field" }, h("label", {}, h("input", { type: "checkbox", id, checked: Boolean(value), "aria-describedby": `${id}-help`, onchange: (event) => set(name, event.target.checked, true) }), " ", label), h("p", { class: "soft", id: `${id}-help` }, help));
  if (kind === "ranges") return ranges(id, label, help, name, value);
  return byColumn(id, label, help, name, chosen, entry);
}

/**
 * @param {string} id
 * @param {string} label
 * @param {string} help
 * @param {string} name
 * @param {unknown} said
 * @returns {HTMLElement}
 */
function ranges(id, label, help, name, said) {
  const forms = bare(Array.isArray(said) ? {} : said ?? {});
  if (Array.isArray(said)) for (const column of said) forms[column] = "free";
  const chosen = columns("quasi").filter((each) => ["whole numbers", "numbers"].includes(columnFacts(each)?.kind ?? "") || each in forms);
  if (!chosen.length) return h("p", { class: "soft" }, `${label}: no quasi-identifier is numeric.`);
  const write = () => {
    const named = chosen.filter((each) => each in forms);
    set(name, named.every((each) => forms[each] === "free") ? named : forms);
  };
  return h("fieldset", { class: "ticks", id }, h("legend", {}, label), h("p", { class: "soft" }, help),
    chosen.map((column, index) => rangeOf(`${id}-${index}`, column, forms, write)));
}

/**
 * One column that may be released as ranges, with the step of its base intervals; periods and orders are shown as they are.
 * @param {string} id
 * @param {string} column
 * @param {Record<string, any>} forms
 * @param {() => void} write
 * @returns {HTMLElement}
 */
function rangeOf(id, column, forms, write) {
  const form = forms[column];
  const step = typeof form === "object" ? form?.step : undefined;
  const other = typeof form === "object" && typeof step !== "number";
  const put = (/** @type {any} */ value) => {
    if (value === undefined) delete forms[column]; else forms[column] = value;
    box.checked = column in forms;
    write();
  };
  const box = h("input", { type: "checkbox", id, checked: column in forms, onchange: (event) => put(event.target.checked ? "free" : undefined) });
  return h("div", {}, h("label", {}, box, " ", column),
    other ? h("span", { class: "soft" }, step ? `step ${step}` : "an order of values")
      : stepper(`${id}-step`, `Step of ${column}`, step, { kind: "number", low: 0, open_low: true, start: 5, optional: true, placeholder: "none" },
        (picked) => put(picked === "" ? "free" : { ...(form?.origin === undefined ? {} : { origin: form.origin }), step: picked })));
}

/**
 * A number for each column: weights from 0 to 1, or levels.
 * @param {string} id
 * @param {string} label
 * @param {string} help
 * @param {string} name
 * @param {AlgorithmEntry} chosen
 * @param {AlgorithmChoice} entry
 * @returns {HTMLElement | null}
 */
function byColumn(id, label, help, name, chosen, entry) {
  const weights = name === "weights";
  if (weights && entry.weights.role === "sensitive" && !chosen.faithful) return null;
  const names = columns(weights ? entry.weights.role : "quasi");
  const bounds = weights ? { kind: "number", low: 0, high: 1, step: 0.1, start: 0.5, optional: true, placeholder: "none" } : { kind: "whole", low: 0, start: 1, optional: true, placeholder: "none" };
  return h("details", { open: Object.keys(chosen[name] ?? {}).length > 0 || entry.needs.includes(name), class: "wide", id: `${id}-all` }, h("summary", {}, label),
    h("p", { class: "soft" }, weights ? entry.weights.help : help),
    h("div", { class: "parameters" }, names.map((column, index) => stepper(`${id}-${index}`, column, chosen[name]?.[column], bounds, (picked) => setOf(name, column, picked)))));
}
