// Step 6: what became of the table, who can still learn what, and why.
import { api, applyEdits, attempt, field, fill, h, say } from "./core.js";
import { reported } from "./report_parts.js";
import { finished, runAt, runChoice, runName } from "./run_choice.js";
import { fetchRuns } from "./runs_poll.js";
import { drawRecords } from "./view_records.js";
import { drawColumns } from "./view_columns.js";
import { drawClasses } from "./view_classes.js";
import { drawWhy } from "./view_why.js";
import { drawLattice } from "./view_lattice.js";
import { drawPlot } from "./view_plot.js";

/** @import { Address, Change, Child, Remedy, Run, Stop, ViewParts } from "./types" */

export const id = "understand";
export const title = "Understand";

/**
 * The views; one that is `alone` needs no run.
 * @type {{ id: string, title: string, draw: (parts: ViewParts) => Promise<void>, alone?: boolean }[]}
 */
const VIEWS = [
  { id: "summary", title: "Summary", draw: drawSummary },
  { id: "records", title: "Before and after", draw: drawRecords },
  { id: "columns", title: "Columns", draw: drawColumns },
  { id: "classes", title: "Classes", draw: drawClasses },
  { id: "why", title: "Why?", draw: drawWhy },
  { id: "lattice", title: "Lattice", draw: drawLattice, alone: true },
  { id: "all", title: "All runs", draw: drawPlot, alone: true },
];
/** @type {string | null} */
let last = null;

/** @param {HTMLElement} root @param {string[]} rest @returns {Stop} */
export function render(root, rest) {
  let there = true;
  fill(root, h("h1", {}, title), h("p", { class: "soft" }, "Loading …"));
  attempt(async () => {
    await fetchRuns();
    if (there) draw(root, rest, () => there);
  });
  return () => { there = false; };
}

/** @param {HTMLElement} root @param {string[]} given @param {() => boolean} alive */
function draw(root, given, alive) {
  const [number, name, ...rest] = finished("lattice").some((run) => run.number === given[0]) ? ["-", "lattice", given[0]] : given;
  const run = runAt(number);
  const named = VIEWS.find((each) => each.id === name) ?? VIEWS[0];
  const view = run || named.alone ? named : null;
  /** @type {Address} */
  const address = (each, at) => `#/understand/${at ?? run?.number ?? "-"}/${each}`;
  const body = h("section", { "aria-labelledby": "view-head" });
  const head = view && h("h2", { id: "view-head", tabindex: "-1" }, view.title);
  fill(root, h("h1", {}, title), chooser(run, number, (at) => address(named.id, at)),
    h("nav", { "aria-label": "Views", class: "views" }, h("ul", {}, VIEWS.filter((each) => run || each.alone).map((each) =>
      h("li", {}, h("a", { id: `view-${each.id}`, href: address(each.id), "aria-current": each === view ? "page" : null }, each.title))))),
    head, view && body);
  if (!view) return;
  if (last !== null && last !== view.id) { head?.focus({ preventScroll: true }); say(view.title); }
  last = view.id;
  attempt(() => view.draw({ run: /** @type {Run} */ (run), body, rest, alive, address }));
}

/**
 * @param {Run | undefined} run
 * @param {string | undefined} number
 * @param {(number: string) => string} address
 * @returns {HTMLElement}
 */
function chooser(run, number, address) {
  if (run) return field("The run", runChoice("run-choice", run, address));
  const known = number && number !== "-";
  return h("p", {}, known ? `There is no finished run ${number}. ` : "No run is finished yet. ",
    finished().length ? h("a", { href: address(finished()[0].number) }, `See ${runName(finished()[0])}.`) : h("a", { href: "#/runs" }, "Start one."));
}

/** @param {ViewParts} parts */
async function drawSummary({ run, body, alive, address }) {
  const about = await api.desk("about_run", { run: run.number, sections: ["verdict", "attackers"] });
  if (!alive()) return;
  fill(body, reported(about.verdict),
    h("p", {}, "This is about one release. ", h("a", { href: `#/download/${run.number}` }, "Download it"), ", or ", h("a", { href: address("all") }, "compare it with the other runs"), "."),
    h("h3", {}, "What attackers can learn"), withRemedies(reported(about.attackers), about.remedies, run));
}

/**
 * What would stop each attack that leaks, under its row.
 * @param {HTMLElement} section
 * @param {Remedy[]} remedies
 * @param {Run} run
 * @returns {HTMLElement}
 */
function withRemedies(section, remedies, run) {
  const rows = section.querySelectorAll("tbody");
  for (const { index, changes } of remedies) rows[index]?.append(h("tr", { class: "why" }, h("td", { colspan: "3", id: `remedy-${index}` },
    changes.length ? [h("strong", {}, changes.length === 1 ? "This change would help:" : "Any one of these changes would help:"),
      h("ul", { class: "changes" }, changes.map((change, at) => h("li", {}, changeButton(change, `remedy-${index}-change-${at}`, run))))] : "No change to the policy is known to stop this. ",
    changes.length ? null : h("a", { href: "#/privacy" }, "Back to privacy"))));
  return section;
}

/**
 * A change as a button that makes it in the policy of the run; one that no edit makes, as text.
 * @param {Change} change
 * @param {string} id
 * @param {Run} run
 * @returns {Child}
 */
function changeButton({ label, edits, model }, id, run) {
  const made = () => attempt(async () => {
    await applyEdits(edits, run.number);
    say(`The policy is that of ${runName(run)} with this change: ${label}. Start a run when you are ready.`);
  });
  return [edits.length ? h("button", { type: "button", id, onclick: made }, label) : label, model ? [" ", h("a", { href: `#/privacy/${model}` }, "About this model")] : null];
}
