// The models asked for as cards, and the models that may be added, each by the fear that it answers.
import { MISSING, api, choice, columnFacts, columns, edit, field, fill, h, later, problemList, problemsAt, say, state, unprotected, unprotectedWarning } from "./core.js";
import { policyReview } from "./policy_review.js";
import { editQuietly, keepingOpen, stepper, ticks } from "./privacy_controls.js";
import { readCategories } from "./nested.js";

/** @import { Child, Choices, ModelChoice, ModelEntry, ModelForecast, Parameter, Preset, Verdict } from "./types" */

/**
 * The models asked for; a policy that was written by hand may hold anything there, and its problems say so.
 * @returns {ModelEntry[]}
 */
function requirements() {
  const said = state.policy.privacy;
  return Array.isArray(said) ? said.map((entry) => typeof entry === "object" && entry !== null ? entry : { model: entry }) : [];
}

/**
 * The sensitive columns that an entry is on.
 * @param {ModelEntry} entry
 * @returns {string[]}
 */
function columnsOf(entry) {
  if (entry.sensitive === undefined || entry.sensitive === null) return columns("sensitive");
  return Array.isArray(entry.sensitive) ? entry.sensitive : [entry.sensitive];
}

/** @param {string} key @returns {string} */
const spoken = (key) => key === MISSING ? "missing" : key === "" ? "the empty text" : key;
/** @param {string} name @returns {string[]} */
const categoriesOf = (name) => readCategories(state.policy.columns?.[name]).map(([category]) => category);

/**
 * All cards.
 * @param {HTMLElement} box
 * @param {Choices} known
 */
export function drawRequirements(box, known) {
  const again = () => drawRequirements(box, known);
  keepingOpen(box, () => {
    fill(box, requirements().length
      ? h("ul", { class: "requirements" }, requirements().map((entry, index) => h("li", { class: "card model" }, card(entry, index, known, again))))
      : h("p", { class: "warning" }, "There is no model yet. Without one nothing is protected: add one below."), unprotectedWarning(unprotected(), "Add one below."));
    drawLive();
  });
}

/**
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {Choices} known
 * @param {() => void} again
 * @returns {Child[]}
 */
function card(entry, index, known, again) {
  const model = known.models.find((each) => each.name === entry.model);
  const remove = h("button", { type: "button", id: `model-${index}-remove`, onclick: () => {
    edit((policy) => { policy.privacy.splice(index, 1); });
    say(`${model?.title ?? entry.model} is removed.`);
    document.getElementById("add-model-head")?.focus();
  } }, `Remove ${model?.title ?? entry.model}`);
  if (!model) return [h("h3", {}, String(entry.model ?? "no model")), h("p", {}, "This model is unknown."), h("div", { id: `model-${index}-problems` }), remove];
  return [
    h("h3", { id: `model-${index}-head` }, model.title, " ", h("code", {}, model.name)),
    h("p", {}, model.protects),
    h("div", { class: "parameters" }, model.parameters.map((each) => parameter(entry, index, each))),
    on(entry, index, model, again),
    h("div", { id: `model-${index}-problems` }),
    h("div", { id: `model-${index}-live`, class: "live", "aria-live": "off" }),
    h("details", { id: `model-${index}-more` }, h("summary", {}, "Who it is for, an example, and what it does not protect"), about(model)),
    h("div", { class: "buttons" }, remove),
  ];
}

/** @param {ModelChoice} model @returns {Child[]} */
function about(model) {
  return [h("p", {}, h("strong", {}, "For: "), model.audience), h("p", {}, h("strong", {}, "Example: "), model.example),
    h("p", {}, h("strong", {}, "What it does not protect:")), h("ul", {}, model.leaves_open.map((each) => h("li", {}, each)))];
}

/**
 * The column or columns that a model is on.
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {ModelChoice} model
 * @param {() => void} again
 * @returns {Child}
 */
function on(entry, index, model, again) {
  if (!model.sensitive) return null;
  const names = columns("sensitive");
  if (!names.length) return h("p", { class: "warning" }, "No column is sensitive. ", h("a", { href: "#/data" }, "Assign roles."));
  const without = model.categories ? columnsOf(entry).filter((name) => !categoriesOf(name).length) : [];
  const hint = without.length ? h("p", { class: "warning" }, `${without.join(", ")} has no categories yet. `, h("a", { href: "#/sensitive" }, "Create categories.")) : null;
  if (names.length === 1 && columnsOf(entry).includes(names[0])) return [h("p", {}, "Applies to ", h("strong", {}, names[0]), "."), hint];
  return [ticks(`model-${index}-on`, "Sensitive columns", names, new Set(columnsOf(entry)), (chosen) => {
    if (!chosen.length) { say("A model needs a column. Remove the model instead."); again(); return; }
    edit((policy) => { policy.privacy[index].sensitive = chosen.length === 1 ? chosen[0] : chosen; });
  }), hint];
}

/** @param {ModelEntry} entry @param {number} index @param {Parameter} bounds @returns {Child} */
function parameter(entry, index, bounds) {
  const id = `model-${index}-${bounds.name}`;
  const value = entry[bounds.name];
  const set = (/** @type {number | string | boolean} */ chosen) => editQuietly((policy) => { policy.privacy[index][bounds.name] = chosen; });
  if (bounds.kind === "choice") return field(bounds.label, choice(id, bounds.choices, value ?? bounds.start, set), bounds.help);
  if (bounds.kind === "yes-no") return h("div", { class: "field" }, h("label", {}, h("input", { type: "checkbox", id, checked: Boolean(value), "aria-describedby": `${id}-help`, onchange: (event) => set(event.target.checked) }), " ", bounds.label), h("p", { class: "soft", id: `${id}-help` }, bounds.help));
  if (bounds.kind === "by-category") return byCategory(entry, index, bounds);
  if (bounds.kind === "limits") return byValue(entry, index, bounds, bounds.parts);
  if (bounds.kind === "by-value-or-one") return oneOrByValue(entry, index, bounds, set);
  return stepper(id, bounds.label, value, bounds, set, bounds.help);
}

/**
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {Parameter} bounds
 * @param {(chosen: number | "") => void} set
 * @returns {Child[]}
 */
function oneOrByValue(entry, index, bounds, set) {
  const several = typeof entry[bounds.name] === "object" && entry[bounds.name] !== null;
  const id = `model-${index}-${bounds.name}`;
  return [
    field("Limit", choice(`${id}-how`, [["one", "one limit for all values"], ["several", "a limit for each of some values"]], several ? "several" : "one",
      (how) => edit((policy) => { policy.privacy[index][bounds.name] = how === "one" ? bounds.start : {}; }))),
    several ? byValue(entry, index, bounds, [null]) : stepper(id, bounds.label, entry[bounds.name], { ...bounds, kind: "number" }, set, bounds.help),
  ];
}

/**
 * A limit for each category; an empty field is no limit.
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {Parameter} bounds
 * @returns {HTMLElement}
 */
function byCategory(entry, index, bounds) {
  const names = [...new Set([...columnsOf(entry).flatMap(categoriesOf), ...Object.keys(entry[bounds.name] ?? {})])];
  return h("fieldset", { class: "limits" }, h("legend", {}, `${bounds.label}: ${bounds.help}`),
    h("p", { class: "soft" }, "From most to least sensitive; a less sensitive category cannot have a smaller limit. Leave empty for no limit."),
    names.map((name, number) => stepper(`model-${index}-${bounds.name}-${number}`, name, entry[bounds.name]?.[name], { ...bounds, kind: "number", optional: true, placeholder: "no limit" },
      (chosen) => editQuietly((policy) => {
        const limits = policy.privacy[index][bounds.name] ??= {};
        if (chosen === "") delete limits[name]; else limits[name] = chosen;
      }))));
}

/**
 * Limits of single values: `parts` are the names of the numbers of each, or [null] for a plain number.
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {Parameter} bounds
 * @param {(string | null)[]} parts
 * @returns {HTMLElement}
 */
function byValue(entry, index, bounds, parts) {
  const limits = entry[bounds.name] ?? {};
  const id = `model-${index}-${bounds.name}`;
  const rows = Object.keys(limits).map((key, number) => h("li", {},
    parts.map((part) => stepper(`${id}-${number}-${part ?? "limit"}`, `${part ?? "α"} of ${spoken(key)}`, part ? limits[key]?.[part] ?? 1 : limits[key], { ...bounds, kind: "number", start: 0.5 },
      (chosen) => editQuietly((policy) => { const all = policy.privacy[index][bounds.name]; if (part) all[key] = { ...all[key], [part]: chosen }; else all[key] = chosen; }))),
    h("button", { type: "button", id: `${id}-${number}-remove`, "aria-label": `Remove the limit of ${spoken(key)}`,
      onclick: () => edit((policy) => { delete policy.privacy[index][bounds.name][key]; }) }, "Remove")));
  return h("fieldset", { class: "limits" },
    h("legend", {}, `${bounds.label}: ${bounds.help}`),
    rows.length ? h("ul", { class: "by-value" }, rows) : h("p", { class: "warning" }, "Add at least one value to protect."),
    adder(entry, index, bounds, parts[0] ? bounds.start : 0.5));
}

/**
 * A field that finds values of the column, and a button that gives one a limit.
 * @param {ModelEntry} entry
 * @param {number} index
 * @param {Parameter} bounds
 * @param {any} start
 * @returns {HTMLElement}
 */
function adder(entry, index, bounds, start) {
  const id = `model-${index}-${bounds.name}-add`;
  const list = h("datalist", { id: `${id}-list` });
  const input = h("input", { id, list: list.id, autocomplete: "off" });
  const search = async () => {
    const answers = await Promise.all(columnsOf(entry).map((name) => api.desk("column", { name, search: input.value }).catch(() => ({ values: [] }))));
    fill(list, [...new Set(answers.flatMap((answer) => answer.values.slice(0, 100).map(([value]) => value)))].map((value) => h("option", { value })));
  };
  const put = (/** @type {string} */ key) => {
    edit((policy) => { (policy.privacy[index][bounds.name] ??= {})[key] ??= structuredClone(start); });
    say(`${spoken(key)} now has a limit.`);
  };
  input.addEventListener("focus", search, { once: true });
  input.addEventListener("input", later(search, 200));
  input.addEventListener("keydown", (event) => { if (event.key === "Enter" && input.value) put(input.value); });
  return h("div", { class: "field" }, h("label", { for: id }, "Value to protect"), list,
    h("div", { class: "buttons" }, input, h("button", { type: "button", id: `${id}-button`, onclick: () => { if (input.value) put(input.value); else input.focus(); } }, "Add a limit"),
      columnsOf(entry).some((name) => columnFacts(name)?.missing) ? h("button", { type: "button", id: `${id}-missing`, onclick: () => put(MISSING) }, "Limit the missing value") : null));
}

/** What the forecast and the checks say of each card; drawn again without touching the controls. */
export function drawLive() {
  requirements().forEach((entry, index) => {
    const live = document.getElementById(`model-${index}-live`);
    const wrong = document.getElementById(`model-${index}-problems`);
    if (wrong) fill(wrong, problemList(problemsAt("privacy", index)));
    if (live) {
      live.classList.toggle("renewing", policyReview.renewing);
      keepingOpen(live, () => fill(live, (policyReview.forecast?.models ?? []).filter((each) => each.entry === index && each.model === entry.model).map((each) => forecastDetails(each, index))));
    }
  });
}

const SIGNS = { reachable: ["good", "✓ reachable"], unreachable: ["bad", "✗ not reachable"], open: ["open", "? only a run can tell"] };

/**
 * A verdict as a word with a sign, never by colour alone.
 * @param {Verdict} verdict
 * @returns {HTMLElement}
 */
export function badge(verdict) { return h("span", { class: `badge ${SIGNS[verdict][0]}` }, SIGNS[verdict][1]); }

/** @param {ModelForecast} forecast @param {number} index @returns {Child[]} */
function forecastDetails(forecast, index) {
  const [first, ...rest] = forecast.sentences;
  return [h("p", {}, badge(forecast.alone), " ", first),
    rest.length ? h("details", { id: `model-${index}-blocks-${forecast.sensitive ?? ""}` }, h("summary", {}, forecast.alone === "reachable" ? "Records that fall short" : "What blocks"),
      h("ul", {}, rest.map((each) => h("li", {}, each)))) : null];
}

/**
 * The models that may be added.
 * @param {HTMLElement} box
 * @param {Choices} known
 */
export function drawAdd(box, known) {
  const names = columns("sensitive");
  const open = !requirements().length;
  keepingOpen(box, () => fill(box, h("details", { id: "add-model", open }, h("summary", { id: "add-model-head" }, "Add a model"),
    h("p", { class: "soft" }, "You can combine several models; all of them will hold. Choose by what worries you."),
    h("ul", { class: "cards" }, known.models.map((model) => h("li", { class: "card" },
      h("h3", {}, model.fear), h("p", {}, h("strong", {}, model.title), ": ", model.protects),
      model.categories && !names.some((name) => categoriesOf(name).length) ? h("p", { class: "soft" }, "Needs values in categories: ", h("a", { href: "#/sensitive" }, "create them first"), ".") : null,
      h("details", { id: `add-${model.name}-more` }, h("summary", {}, "More"), about(model)),
      h("button", { type: "button", id: `add-${model.name}`, disabled: model.sensitive && !names.length,
        "aria-describedby": model.sensitive && !names.length ? "add-model-needs" : null, onclick: () => add(model) },
      requirements().some((entry) => entry.model === model.name) ? `Add another ${model.title}` : `Add ${model.title}`)))),
    names.length ? null : h("p", { class: "soft", id: "add-model-needs" }, "The other models need a sensitive column. ", h("a", { href: "#/data" }, "Assign roles.")))));
}

/** @param {ModelChoice} model */
function add(model) {
  const all = columns("sensitive");
  const fits = (/** @type {string} */ name) => (!model.categories || categoriesOf(name).length > 0) && (!model.numbers || Boolean(columnFacts(name)?.kind.endsWith("numbers")));
  const fitting = all.filter(fits);
  const names = fitting.length ? fitting : all;
  /** @type {ModelEntry} */
  const entry = { model: model.name };
  for (const each of model.parameters) {
    const first = categoriesOf(names[0])[0];
    if (each.kind === "by-category") entry[each.name] = first === undefined ? {} : { [first]: each.start };
    else if (each.kind === "limits") entry[each.name] = {};
    else if (each.kind !== "choice") entry[each.name] = each.start;
  }
  if (model.sensitive) entry.sensitive = names.length === 1 ? names[0] : names;
  edit((policy) => { policy.privacy = [...requirements(), entry]; });
  say(`${model.title} is added.`);
  document.getElementById(`model-${requirements().length - 1}-${model.parameters[0].name}`)?.focus();
}

/**
 * Beginnings that others use, each with the reason for its figures.
 * @param {HTMLElement} box
 * @param {Choices} known
 */
export function drawPresets(box, known) {
  keepingOpen(box, () => fill(box, h("details", { id: "presets" }, h("summary", {}, "Common starting points"),
    h("p", { class: "soft" }, "Nobody can decide for you: start here, then look at what it costs and what attackers can still learn."),
    h("ul", { class: "cards" }, known.presets.map((preset) => h("li", { class: "card" }, h("h3", {}, preset.title), h("p", {}, preset.why),
      h("button", { type: "button", id: `preset-${preset.id}`, onclick: () => begin(preset) }, "Start with this")))))));
}

/** @param {Preset} preset */
function begin(preset) {
  edit((policy) => {
    /** @type {ModelEntry[]} */
    const models = policy.privacy = structuredClone(requirements());
    const { size, categories, suppression } = structuredClone(preset);
    const entry = models.find((each) => each.model === size.model);
    if (entry) Object.assign(entry, size); else models.unshift(size);
    if (suppression !== undefined) policy.suppression = suppression;
    if (!categories) return;
    const covered = models.filter((each) => each.model === categories.model).flatMap(columnsOf);
    for (const name of columns("sensitive").filter((each) => categoriesOf(each).length > 1 && !covered.includes(each)))
      models.push({ ...categories, sensitive: name });
  });
  say(`${preset.title} is set.`);
}
