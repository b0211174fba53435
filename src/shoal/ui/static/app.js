// The shell: head, steps, the page of the step that the address names, and the policy file beside it.
import { api, around, attempt, byId, complain, confirmed, count, editYaml, fill, h, history, problemList, problemsAt, say, state, tellOthers, update, watch } from "./core.js";
import * as data from "./data.js";
import * as hierarchies from "./hierarchies.js";
import * as sensitive from "./sensitive.js";
import * as privacy from "./privacy.js";
import * as runs from "./runs.js";
import * as understand from "./understand.js";
import * as download from "./download.js";
import { finished } from "./run_choice.js";

/** @import { Step } from "./types" */

/** @type {Step[]} */
const PAGES = [data, hierarchies, sensitive, privacy, runs, understand, download];
/** @type {Step | null} */
let current = null;
let leave = () => {};
/** Where Ctrl+Z takes back what was typed, as in any program, and not a change of the policy. */
const TYPED = "textarea, input:not([type=checkbox], [type=radio], [type=file], [type=range], [type=button])";

/**
 * An address as it was meant; one that somebody wrote wrongly stays as it is.
 * @param {string} address
 * @returns {string}
 */
function decoded(address) { try { return decodeURIComponent(address); } catch { return address; } }

/** @returns {{ page: Step, rest: string[] }} */
function currentAddress() {
  const [id, ...rest] = decoded(location.hash.replace(/^#\/?/, "")).split("/");
  return { page: PAGES.find((each) => each.id === id) ?? data, rest };
}

function show() {
  const { page, rest } = currentAddress();
  const root = byId("page");
  leave();
  const changed = current !== page;
  current = page;
  document.title = `${page.title} – Shoal`;
  fill(root);
  if (!state.table && page !== data) {
    fill(root, h("h1", {}, page.title), h("p", {}, "There is no table yet. ", h("a", { href: "#/data" }, "Load one first.")));
    leave = () => {};
  } else {
    try { leave = page.render(root, rest) ?? (() => {}); } catch (error) { complain(error); }
  }
  steps();
  onward();
  if (changed) { root.focus({ preventScroll: true }); scrollTo(0, 0); say(page.title); }
}

function steps() {
  const { page } = currentAddress();
  fill(byId("steps"), h("ol", {}, PAGES.map((each) => h("li", {},
    h("a", { href: `#/${each.id}`, "aria-current": each === page ? "step" : null }, each.title)))));
}

/** What comes after this page. */
function onward() {
  const { page, rest } = currentAddress();
  const next = state.table ? PAGES[PAGES.indexOf(page) + 1] : undefined;
  const run = next === download && finished().some((each) => each.number === rest[0]) ? `/${rest[0]}` : "";
  fill(byId("onward"), next ? ["Next: ", h("a", { href: `#/${next.id}${run}`, id: "next-step" }, next.title)] : null);
}

/** @param {string} [next] @returns {string} */
function theme(next) {
  if (next) localStorage.setItem("shoal-theme", next);
  const chosen = localStorage.getItem("shoal-theme") ?? "system";
  document.documentElement.dataset.theme = chosen;
  return chosen;
}

function head() {
  const order = ["system", "light", "dark"];
  const chosen = theme();
  fill(byId("top"),
    h("p", { class: "brand" }, h("img", { src: "/static/icon.svg", alt: "", width: "28", height: "28" }), " Shoal"),
    h("p", { class: "soft about" }, state.table ? `${state.table.name}: ${count(state.table.records, "record")}` : "turns a table about people into one that can be published"),
    h("div", { class: "buttons" },
      h("button", { type: "button", id: "undo", disabled: !history.canUndo, onclick: () => history.undo() }, "Undo"),
      h("button", { type: "button", id: "redo", disabled: !history.canRedo, onclick: () => history.redo() }, "Redo"),
      h("button", { type: "button", id: "theme", onclick: () => { theme(order[(order.indexOf(chosen) + 1) % 3]); head(); } }, `Colours: ${chosen}`),
      h("button", { type: "button", id: "end", onclick: end }, "End session")));
}

async function end() {
  if (!await confirmed("End the session? The table, the policy and all runs will be deleted here. Your downloads are not affected.", "End and delete")) return;
  await attempt(async () => {
    await api.post("/api/end");
    tellOthers();
    document.body.replaceChildren(h("main", {}, h("h1", {}, "The session has ended"), h("p", {}, "All its files have been deleted. You can close this page.")));
  });
}

/** The policy file. What somebody typed into it stays until it is written or given up, whatever else changes. */
function policy() {
  const aside = byId("policy");
  if (!state.table) { fill(aside); return; }
  if (!aside.firstChild) layOutPolicy(aside);
  const area = /** @type {HTMLTextAreaElement} */ (byId("yaml"));
  if (area.value === area.defaultValue) area.value = area.defaultValue = state.yaml;
  const problems = state.problems.length;
  fill(byId("policy-badge"), h("span", { class: problems ? "badge bad" : "badge good" }, problems ? count(problems, "problem") : "no problems"));
  fill(byId("policy-problems"), problemList(state.problems));
  policyChanged();
}

/** The parts of the policy file, made once: a click or a selection in them outlasts every redrawing. @param {HTMLElement} aside */
function layOutPolicy(aside) {
  const area = h("textarea", { id: "yaml", rows: "24", spellcheck: "false", "aria-label": "Policy file as YAML", oninput: policyChanged });
  fill(aside, h("details", {},
    h("summary", { id: "policy-head" }, "Policy file ", h("span", { id: "policy-badge" })),
    h("p", { class: "soft" }, "Everything you do here changes this file. ", h("code", {}, "shoal anonymize"), " runs it as it is."),
    h("div", { id: "policy-problems" }), area, h("div", { id: "yaml-said", role: "alert" }),
    h("div", { class: "buttons" }, h("button", { type: "button", id: "yaml-write", onclick: () => writeYaml(area) }, "Save changes"),
      h("button", { type: "button", id: "yaml-forget", onclick: () => { area.value = area.defaultValue; fill(byId("yaml-said")); policy(); } }, "Discard changes"))));
}

/** Whether there is anything to write or to give up. */
function policyChanged() {
  const area = /** @type {HTMLTextAreaElement} */ (byId("yaml"));
  for (const id of ["yaml-write", "yaml-forget"]) /** @type {HTMLButtonElement} */ (byId(id)).disabled = area.value === area.defaultValue;
}

/** @param {HTMLTextAreaElement} area */
async function writeYaml(area) {
  if (area.defaultValue !== state.yaml && !await confirmed("The policy has changed since you started typing. Overwrite it with your text? You can undo this.", "Overwrite")) return;
  try {
    await editYaml(area.value);
    area.defaultValue = area.value;
    fill(byId("yaml-said"));
    policy();
    say("The policy is saved.");
  } catch (error) { fill(byId("yaml-said"), h("p", { class: "complaint" }, error instanceof Error ? error.message : String(error))); }
}

let read = "";

/** Marks of a missing value came or went, by a click, by Undo or in the text: the values have to be counted again. */
async function countAnew() {
  read = JSON.stringify(state.policy.data);
  const { table } = await api.desk("about_table");
  update({ table }, "facts");
}

watch((what) => {
  head();
  policy();
  if (what === "table") read = JSON.stringify(state.policy.data);
  if (what === "table" || (what === "facts" && current !== data)) show();
  if (what === "saved" && state.table && !problemsAt("data").length && read !== JSON.stringify(state.policy.data)) attempt(countAnew);
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || around(event, TYPED) === event.target) return;
  event.preventDefault();
  if (event.shiftKey) history.redo(); else history.undo();
});
addEventListener("error", (event) => complain(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => complain(event.reason));
/** @param {DragEvent} event */
function keepPage(event) { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); }  // a file beside its box would replace the page
addEventListener("dragover", keepPage);
addEventListener("drop", keepPage);
theme();
attempt(async () => {
  update(await api.get("/api/state"), "table");
  addEventListener("hashchange", show);  // not before: a page without the state would be drawn again under the reader's hand
});
