// Step 4: the privacy that is asked for, what may be given up for it, and how it is reached; beside it what can be reached.
import { api, applyEdits, attempt, byId, choice, count, field, fill, h, currentTable, percent, problemList, say, state, watch } from "./core.js";
import { policyReview, watchReview } from "./policy_review.js";
import { drawAlgorithm, drawAlgorithmProblems } from "./privacy_algorithm.js";
import { editQuietly, keepingOpen, quiet } from "./privacy_controls.js";
import { badge, drawAdd, drawRequirements, drawLive, drawPresets } from "./privacy_models.js";

/** @import { Child, Choices, Forecast, Stop, Suggestion, Verdict } from "./types" */

export const id = "privacy";
export const title = "Privacy";

/** @type {Choices | null} */
let known = null;

/** @param {HTMLElement} root @param {string[]} [address] @returns {Stop} */
export function render(root, [wanted] = []) {
  const parts = { requirements: h("div"), add: h("div"), presets: h("div"), suppression: h("div"), survey: h("div"), algorithm: h("div"), forecast: h("div"),
    bar: h("button", { type: "button", class: "forecast-bar", id: "forecast-bar", onclick: () => { const head = byId("forecast-head"); head.scrollIntoView(); head.focus(); } }) };
  fill(root, h("h1", {}, title),
    h("p", {}, "A release shows the same columns with less detail, so that records look alike. The records that look alike in all quasi-identifiers are called a ", h("strong", {}, "class"), ". A ", h("strong", {}, "model"), " is a rule that every class must satisfy. ",
      state.policy.person ? "The models count people." : "The models count records. ", state.policy.person ? null : h("a", { href: "#/data" }, "If people have several, say who a record is about.")),
    h("div", { class: "with-forecast" },
      h("div", {},
        h("section", { "aria-labelledby": "requirements-head" }, h("h2", { id: "requirements-head" }, "Privacy requirements"), parts.presets, parts.requirements, parts.add),
        h("section", { "aria-labelledby": "suppression-head" }, h("h2", { id: "suppression-head" }, "Suppression"), parts.suppression),
        h("section", { "aria-labelledby": "survey-head" }, h("h2", { id: "survey-head" }, "Households and weights"), parts.survey),
        h("section", { "aria-labelledby": "algorithm-head" }, h("h2", { id: "algorithm-head" }, "Algorithm"), parts.algorithm)),
      h("section", { class: "forecast", id: "forecast", "aria-labelledby": "forecast-head" }, h("h2", { id: "forecast-head", tabindex: "-1" }, "Forecast"), parts.forecast)), parts.bar);
  const drawAll = (/** @type {Choices} */ all) => {
    const choices = state.policy.person ? { ...all, models: all.models_in_people } : all;  // the same models, in words about people
    drawPresets(parts.presets, choices);
    drawRequirements(parts.requirements, choices);
    drawAdd(parts.add, choices);
    drawSuppression(parts.suppression);
    drawSurvey(parts.survey);
    drawAlgorithm(parts.algorithm, choices);
  };
  const drawReview = () => { drawForecast(parts.forecast); drawBar(parts.bar); drawLive(); drawAlgorithmProblems(); };
  /** @type {Stop[]} */
  const stops = [];
  let gone = false;
  attempt(async () => {
    const choices = known ??= await api.desk("choices");
    if (gone) return;
    drawAll(choices);
    if (wanted) queueMicrotask(() => offer(wanted));  // after the shell has put the focus on the page
    stops.push(watch((what) => { if (what === "policy" && !quiet) drawAll(choices); else if (what === "saved") drawReview(); }), watchReview(drawReview));
    drawReview();
  });
  return () => { gone = true; for (const stop of stops) stop(); };
}

/**
 * Show the model that an address names among those that may be added.
 * @param {string} name
 */
function offer(name) {
  const button = document.getElementById(`add-${name}`);
  if (!button) return;
  /** @type {HTMLDetailsElement} */ (byId("add-model")).open = true;
  button.scrollIntoView({ block: "center" });
  button.focus();
}

/**
 * How many records a share is: the share is exact to a millionth, so that 0.29 of 100 are 29.
 * @param {number} share
 * @returns {number}
 */
const recordsOf = (share) => Math.floor(Math.round(share * 1e6) * currentTable().records / 1e6);

/** @param {HTMLElement} box */
function drawSuppression(box) {
  const share = Number(state.policy.suppression) || 0;
  const said = h("p", { id: "suppression-records", role: "status" });
  const showShare = (/** @type {number} */ given) => fill(said, given === 0 ? "No record may be suppressed. A single unusual person can then determine how far everybody is generalized."
    : `At most ${count(recordsOf(given), "record")} of ${count(currentTable().records)} may be suppressed (${percent(given)}). They are not a random sample: tell those who use the release.`);
  const number = h("input", { type: "number", id: "suppression-percent", min: "0", max: "100", step: "0.5", value: Number((100 * share).toFixed(4)) });
  const slider = h("input", { type: "range", id: "suppression", min: "0", max: Math.max(20, Math.ceil(100 * share)), step: "0.1", "aria-describedby": "suppression-records", value: 100 * share });
  const set = (/** @type {number} */ percent) => {
    const given = Number((Math.min(Math.max(percent, 0), 100) / 100).toFixed(6));
    slider.value = String(100 * given);
    number.value = String(Number((100 * given).toFixed(4)));
    showShare(given);
    if (given !== Number(state.policy.suppression)) editQuietly((policy) => { policy.suppression = given; });
  };
  slider.addEventListener("input", () => { number.value = String(Number(slider.value)); showShare(Number(slider.value) / 100); });
  slider.addEventListener("change", () => set(Number(slider.value)));
  number.addEventListener("change", () => set(Number(number.value) || 0));
  const how = (/** @type {string} */ value, /** @type {string} */ text) => h("label", {}, h("input", { type: "radio", name: "suppressed", id: `suppressed-${value}`, checked: (state.policy.suppressed ?? "drop") === value,
    onchange: () => editQuietly((policy) => { policy.suppressed = value; }) }), " ", text);
  fill(box, field("Share of the records", slider), h("div", { class: "field" }, h("label", { for: "suppression-percent" }, "In percent"), number), said,
    h("fieldset", { class: "ticks" }, h("legend", {}, "Suppressed records"),
      how("drop", "are left out of the release"), how("star", "stay as rows of * without sensitive values, so that their number is visible")));
  showShare(share);
}

/** @param {HTMLElement} box */
function drawSurvey(box) {
  const columns = Object.keys(state.policy.columns ?? {}).map((name) => [name, name]);
  const choose = (/** @type {string} */ key, /** @type {string} */ label) => field(label, choice(key, [["", "none"], ...columns], state.policy[key] ?? "",
    (value) => editQuietly((policy) => { if (value) policy[key] = value; else delete policy[key]; })));
  fill(box, h("p", { class: "soft" }, "For surveys: the report then shows the risk that a household is found through any member, and the risk in the population."),
    choose("household", "Column that says who lives together"), choose("weight", "Column of sampling weights"));
}

/** @type {Record<Verdict, string>} */
const HEADS = {
  reachable: "These requirements can be met.",
  unreachable: "These requirements cannot be met.",
  open: "Only a run can tell whether these requirements can be met.",
};

let spoken = "";

/** Say the verdict aloud when it is another one. */
function speak() {
  if (policyReview.renewing) return;
  const verdict = policyReview.problems.length ? `${count(policyReview.problems.length, "problem")} to fix.` : policyReview.forecast ? HEADS[policyReview.forecast.verdict] : "";
  if (spoken && verdict && verdict !== spoken) say(verdict);
  spoken = verdict;
}

/** @param {HTMLElement} box */
function drawForecast(box) {
  const { problems, forecast, estimate, trouble, renewing } = policyReview;
  speak();
  box.classList.toggle("renewing", renewing);
  box.setAttribute("aria-busy", String(renewing));
  keepingOpen(box, () => fill(box,
    h("p", { class: "soft renew", id: "forecast-state" }, renewing ? "Updating …" : "Up to date."),
    trouble ? h("p", { class: "complaint" }, trouble) : null,
    problems.length ? [h("p", {}, h("strong", {}, "Fix this first:")), problemList(problems)] : null,
    forecast ? reached(forecast) : null,
    estimate ? h("div", { id: "forecast-time" }, h("p", {}, "A run takes ", h("strong", {}, estimate.typical), ` (${estimate.range}).`),
      h("details", { id: "forecast-why-time" }, h("summary", {}, "How this is estimated"), h("ul", {}, estimate.basis.map((each) => h("li", {}, each))))) : null,
    h("p", {}, h("a", { href: "#/runs" }, "Continue to the run"))));
}

/**
 * On a narrow screen the verdict stays in sight below, and leads to the whole.
 * @param {HTMLElement} bar
 */
function drawBar(bar) {
  const { problems, forecast, estimate, renewing } = policyReview;
  bar.classList.toggle("renewing", renewing);
  fill(bar, problems.length ? h("span", { class: "badge bad" }, `✗ ${count(problems.length, "problem")}`) : forecast ? badge(forecast.verdict) : h("span", {}, "Forecast"),
    estimate ? h("span", { class: "soft" }, `a run takes ${estimate.typical}`) : null, h("span", { class: "soft" }, renewing ? "…" : "See more"));
}

/** @param {Forecast} forecast @returns {Child[]} */
function reached(forecast) {
  const [first, ...rest] = forecast.overall;
  return [
    h("p", { id: "forecast-verdict" }, badge(forecast.verdict), " ", h("strong", {}, HEADS[forecast.verdict])),
    h("p", {}, first),
    rest.length ? h("ul", {}, rest.map((each) => h("li", {}, each))) : null,
    forecast.by_algorithm !== forecast.verdict ? h("p", { class: "warning" }, "With the chosen algorithm: ", badge(forecast.by_algorithm)) : null,
    forecast.suggestions.length ? h("div", { id: "forecast-changes" }, h("p", {}, h("strong", {}, "Any one of these changes would help:")),
      h("ul", { class: "changes" }, forecast.suggestions.map((change, index) => h("li", {}, h("button", { type: "button", id: `change-${index}`, onclick: () => apply(change) }, change.label))))) : null,
    h("details", { id: "forecast-facts" }, h("summary", {}, "About the table"), h("ul", {}, forecast.table.map((each) => h("li", {}, each)))),
  ];
}

/** @param {Suggestion} change */
async function apply(change) {
  await attempt(async () => {
    await applyEdits(change.edits);
    say(`Changed: ${change.label}. You can undo this.`);
  });
}
