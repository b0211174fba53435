// Step 5: start runs, follow them, keep several and compare them.
import { api, applyEdits, attempt, columns, confirmed, count, duration, edit, field, fill, h, problemList, say, state, table, tellOthers, unprotectedWarning, watch } from "./core.js";
import { policyReview, replaceWith, watchReview } from "./policy_review.js";
import { keepingOpen } from "./privacy_controls.js";
import { comparison, modelsInShort } from "./runs_compare.js";
import { called, fetchRuns, keyOf, promisedTo, startRun } from "./runs_poll.js";

/** @import { Child, Policy, Problem, Run, RunCard, Stop, Suggestion } from "./types" */

export const id = "runs";
export const title = "Run";

const STATES = { done: ["good", "✓ done"], failed: ["bad", "✗ failed"], cancelled: ["open", "cancelled"], interrupted: ["bad", "interrupted"], running: ["open", "… running"] };
const VERDICTS = { "publish": "good", "publish-with-caveats": "caution", "do-not-publish": "bad" };
/** @type {Map<string, Policy | null>} */
const policies = new Map();
/** @type {Set<string>} */
const ticked = new Set();
/** @type {Set<string>} */
let higher = new Set();
/** @type {Map<string | undefined, string>} */
let titles = new Map();

/**
 * The policy of a run, once it is known.
 * @param {Run} run
 * @returns {Policy | null | undefined}
 */
const policyOf = (run) => policies.get(keyOf(run));
/** @returns {Run[]} */
const releases = () => state.runs.filter((run) => run.kind === "release");

/** @param {HTMLElement} root @returns {Stop} */
export function render(root) {
  const parts = { reason: h("div"), going: h("div"), list: h("div"), wrong: h("div"), compare: h("div") };
  const name = h("input", { id: "run-name", maxlength: "200", autocomplete: "off" });
  /** @type {HTMLButtonElement} */
  const button = h("button", { type: "button", class: "strong", id: "run-start", "aria-describedby": "run-why", onclick: () => begin(name, button) }, "Start the run");
  fill(root, h("h1", {}, title),
    h("section", { "aria-labelledby": "start-head" }, h("h2", { id: "start-head" }, "Start"),
      h("p", {}, "A run makes the release, verifies it independently and attacks it as an outsider would. It publishes nothing."),
      field("Name of the run", name, "Optional, to tell runs apart."), h("div", { class: "buttons" }, button), parts.reason),
    h("div", {}, parts.going),
    h("section", { "aria-labelledby": "runs-head" }, h("h2", { id: "runs-head" }, "Runs"), parts.list, parts.wrong, parts.compare));
  const drawGoing = goingOn(parts.going);
  let drawn = "";
  const drawRuns = () => {
    drawGoing();
    if (drawn === signature()) return;
    drawn = signature();
    drawRunList(parts.list, () => drawCompare(parts.compare));
    drawWrong(parts.wrong);
    drawCompare(parts.compare);
    learn(drawRuns);
  };
  const drawStart = () => drawReason(parts.reason, button);
  const stops = [watch((what) => { if (what === "runs") drawRuns(); else drawStart(); }), watchReview(drawStart)];
  drawStart();
  drawRuns();
  attempt(async () => {
    const known = await api.desk("choices");
    higher = new Set(known.measures.filter((each) => each.higher).map((each) => each.name));
    titles = new Map(known.models.map((each) => [each.name, each.title]));
    if (parts.list.isConnected) drawRuns();
  });
  return () => { for (const stop of stops) stop(); };
}

/** What the table of runs shows: it is drawn again only when this changes, not with every figure of a run that goes on. */
function signature() {
  return JSON.stringify([titles.size, ...releases().map((run) => [keyOf(run), run.state, run.name, waits(run), Boolean(policyOf(run))])]);
}

/**
 * Everything that keeps a run from starting: problems of the policy, and those with the data that are known by now.
 * @returns {Problem[]}
 */
function hindrances() {
  return state.problems;
}

/** @param {HTMLElement} box @param {HTMLButtonElement} button */
function drawReason(box, button) {
  const problems = hindrances();
  button.disabled = problems.length > 0;
  const { forecast, estimate } = policyReview;
  fill(box, h("div", { id: "run-why" },
    problems.length ? [h("p", { class: "warning" }, "Fix this before you start the run:"), problemList(problems), h("p", {}, h("a", { href: "#/privacy" }, "Back to privacy"))] : null,
    !problems.length && forecast && forecast.by_algorithm === "unreachable" ? h("p", { class: "warning" }, "These requirements cannot be met; a run will fail. ", h("a", { href: "#/privacy" }, "See what would help.")) : null,
    problems.length ? null : unprotectedWarning(),
    !problems.length && estimate ? h("p", { class: policyReview.renewing ? "soft renewing" : "soft", id: "run-estimate" }, `It will take ${estimate.typical} (${estimate.range}). Runs are executed one at a time.`) : null));
}

/** @param {HTMLInputElement} name @param {HTMLButtonElement} button */
async function begin(name, button) {
  button.disabled = true;
  const estimate = policyReview.of === state.policy ? policyReview.estimate : null;
  const run = await attempt(() => startRun("release", name.value.trim(), estimate));
  button.disabled = hindrances().length > 0;
  if (!run) return;
  name.value = "";
  say(`${called(run)} has started.`);
}

/**
 * Ask for the policies of runs, which do not change.
 * @param {() => void} then
 */
function learn(then) {
  const unknown = releases().filter((run) => !policies.has(keyOf(run)));
  if (!unknown.length) return;
  for (const run of unknown) policies.set(keyOf(run), null);
  attempt(async () => {
    await Promise.all(unknown.map(async (run) => { policies.set(keyOf(run), (await api.get(`/api/runs/${run.number}/policy`)).policy); }));
    if (document.getElementById("runs-head")) then();
  });
}

/** @param {Run} run @returns {string} */
function left(run) {
  const estimate = promisedTo(run);
  if (!estimate) return "";
  const { seconds = 0 } = run;
  if (seconds > estimate.high) return " Longer than estimated.";
  const [low, high] = [Math.max(estimate.low - seconds, 0), estimate.high - seconds];
  return low < 1 ? ` At most ${duration(Math.max(high, 1))} left.` : ` About ${duration(low)} to ${duration(high)} left.`;
}

/** @param {Run} run @returns {boolean} */
const waits = (run) => run.waiting === true;

/**
 * The runs that go on. Their cards stay while figures change, so that no click on them is lost.
 * @param {HTMLElement} box
 * @returns {() => void}
 */
function goingOn(box) {
  /** @type {Map<string, RunCard>} */
  const cards = new Map();
  return () => {
    const going = state.runs.filter((run) => run.state === "running");
    const known = going.length === cards.size && going.every((run) => cards.has(called(run)));
    if (!known) {
      cards.clear();
      for (const run of going) cards.set(called(run), goingCard(run));
      fill(box, going.length ? h("section", { "aria-labelledby": "going-head" }, h("h2", { id: "going-head" }, "Running"), [...cards.values()].map((card) => card.element)) : null);
    }
    for (const run of going) cards.get(called(run))?.show(run);
  };
}

/** @param {Run} run @returns {RunCard} */
function goingCard(run) {
  const bar = h("progress", { max: "1" });
  const words = h("p", { id: `run-${run.number}-words` });
  const element = h("div", { class: "card going", id: `run-${run.number}-going` },
    h("h3", {}, run.kind === "lattice" ? `${called(run)}: lattice` : called(run)), bar, words,
    h("button", { type: "button", id: `run-${run.number}-cancel`, onclick: () => attempt(async () => { await api.post(`/api/runs/${run.number}/cancel`); await fetchRuns(); }) }, `Cancel ${called(run)}`));
  const show = (/** @type {Run} */ now) => {
    const share = waits(now) ? 0 : now.share ?? 0;  // a stage that cannot tell how far it is says 0
    if (share > 0) bar.value = share; else bar.removeAttribute("value");
    bar.setAttribute("aria-label", `${called(now)}: ${now.stage ?? "starting"}`);
    words.textContent = waits(now) ? "Waiting: runs are executed one at a time."
      : `${sentence(now.stage ?? "starting")}${share > 0 ? `, ${Math.round(100 * share)}% of this stage` : ""}. ${sentence(duration(now.seconds ?? 0))} so far.${left(now)}`;
  };
  return { element, show };
}

/** @param {string} text @returns {string} */
const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {HTMLElement} box @param {() => void} onTick */
function drawRunList(box, onTick) {
  const runs = releases();
  if (!runs.length) { fill(box, h("p", { class: "soft" }, "There are no runs yet.")); return; }
  const present = new Set(state.runs.map(keyOf));
  for (const key of [...ticked]) if (!present.has(key)) ticked.delete(key);
  fill(box, table("Runs of this table; select two or more to compare them", ["Compare", "Run", "State", "Algorithm and models", "Released", "Suppressed", "Classes", "Loss", "Time", "Actions"], runs.map((run) => row(run, onTick)), { class: "runs stacks" }));
}

/** @param {Run} run @param {() => void} onTick @returns {Child[]} */
function row(run, onTick) {
  const { summary } = run;
  const policy = policyOf(run);
  const [kind, text] = waits(run) && run.state === "running" ? ["open", "… waits"] : STATES[run.state];
  const tick = h("input", { type: "checkbox", id: `run-${run.number}-tick`, checked: ticked.has(keyOf(run)), disabled: run.state === "running", "aria-label": `Compare ${called(run)}`,
    onchange: (event) => { if (event.target.checked) ticked.add(keyOf(run)); else ticked.delete(keyOf(run)); onTick(); } });
  return [
    tick,
    h("span", {}, h("strong", {}, Number(run.number)), run.name ? [" ", run.name] : null),
    h("span", {}, h("span", { class: `badge ${kind}` }, text), summary?.verdict ? [h("br"), h("span", { class: `badge ${VERDICTS[summary.verdict.decision]}`, id: `run-${run.number}-verdict` }, summary.verdict.text)] : null),
    policy ? h("span", {}, policy.algorithm?.name ?? state.algorithm, h("br"), h("span", { class: "soft" }, modelsInShort(policy, columns("sensitive"), titles))) : "…",
    summary?.released === undefined ? "–" : count(summary.released),
    summary?.suppressed === undefined ? "–" : count(summary.suppressed),
    summary?.classes === undefined ? "–" : count(summary.classes),
    summary?.measures?.loss === undefined ? "–" : summary.measures.loss.toFixed(4),
    run.seconds === undefined || run.state === "running" ? "–" : duration(run.seconds),
    next(run, policy),
  ];
}

/** @param {Run} run @param {Policy | null | undefined} policy @returns {HTMLElement} */
function next(run, policy) {
  const named = called(run);
  return h("div", { class: "buttons" },
    run.state === "done" ? [h("a", { href: `#/understand/${run.number}`, id: `run-${run.number}-understand`, "aria-label": `Understand ${named}` }, "Understand"), h("a", { href: `#/download/${run.number}`, id: `run-${run.number}-download`, "aria-label": `Download ${named}` }, "Download")] : null,
    policy ? h("button", { type: "button", id: `run-${run.number}-again`, "aria-label": `Restore the policy of ${named}`, onclick: () => { edit(replaceWith(policy)); say(`The policy of ${named} is restored. You can undo this.`); } }, "Restore its policy") : null,
    h("button", { type: "button", id: `run-${run.number}-rename`, "aria-label": `Rename ${named}`, onclick: () => rename(run) }, "Rename"),
    run.state === "running" ? null : h("button", { type: "button", id: `run-${run.number}-delete`, "aria-label": `Delete ${named}`, onclick: () => remove(run) }, "Delete"));
}

/** @param {Run} run */
async function remove(run) {
  if (!await confirmed(`Delete ${called(run)}? Its release and everything about it will be deleted here.`, "Delete")) return;
  await attempt(async () => { await api.delete(`/api/runs/${run.number}`); await fetchRuns(); tellOthers(); });
  say(`${called(run)} is deleted.`);
  document.getElementById("run-name")?.focus();
}

/** @param {Run} run */
function rename(run) {
  const input = h("input", { id: "run-new-name", maxlength: "200", value: run.name ?? "" });
  const dialog = h("dialog", { "aria-label": `Rename ${called(run)}` }, h("form", { method: "dialog" }, field("Name of the run", input),
    h("div", { class: "buttons" }, h("button", { value: "yes", type: "submit", class: "strong", id: "run-rename" }, "Rename"), h("button", { value: "no", type: "submit", formnovalidate: true }, "Save the name"))));
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "yes") attempt(async () => { await api.put(`/api/runs/${run.number}`, { name: input.value.trim() }); await fetchRuns(); tellOthers(); });
    document.getElementById(`run-${run.number}-rename`)?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {HTMLElement} box */
function drawWrong(box) {
  const failed = state.runs.filter((run) => run.state === "failed" || run.state === "interrupted");
  keepingOpen(box, () => fill(box, failed.map((run) => h("details", { class: "card wrong", id: `run-${run.number}-error`, open: run === failed.at(-1) },
    h("summary", {}, `${called(run)}: ${run.state === "failed" ? "why it failed" : "it was interrupted"}`), reasons(run)))));
}

/** @param {Run} run @returns {Child} */
function reasons(run) {
  if (run.state === "interrupted") return h("p", {}, "The server stopped before the run was done, and its files were deleted. Start it again with its policy.");
  const { message, reasons: why, problems, suggestions = [] } = run.error ?? { message: "" };
  return [
    problems ? problemList(problems) : h("p", { class: "error-message" }, why && suggestions.length ? why : message),
    suggestions.length ? [h("p", {}, h("strong", {}, suggestions.length === 1 ? "This change would help:" : "Any one of these changes would help:"), " a click restores this run's policy with the change made."),
      h("ul", { class: "changes" }, suggestions.map((change, index) => h("li", {}, h("button", { type: "button", id: `run-${run.number}-change-${index}`, onclick: () => apply(run, change) }, change.label))))] : null,
  ];
}

/** @param {Run} run @param {Suggestion} change */
async function apply(run, change) {
  await attempt(async () => {
    await applyEdits(change.edits, run.number);
    say(`The policy is that of ${called(run)} with this change: ${change.label}. Start the run when you are ready.`);
    document.getElementById("run-start")?.focus();
  });
}

/** @param {HTMLElement} box */
function drawCompare(box) {
  const chosen = releases().filter((run) => ticked.has(keyOf(run)));
  const known = chosen.flatMap((run) => { const policy = policyOf(run); return policy ? [{ run, policy, name: called(run) }] : []; });
  fill(box, known.length > 1 && known.length === chosen.length ? comparison(known, higher, titles) : null);
}
