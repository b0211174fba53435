// Step 7: the files of a run, with what proves that they are what the command line makes.
import { api, attempt, count, displayValue, field, fill, h, say } from "./core.js";
import { reported } from "./report_parts.js";
import { finished, runAt, runChoice } from "./run_choice.js";
import { fetchRuns } from "./runs_poll.js";

/** @import { ReleaseForm, Run, RunFile, RunFiles, Stop } from "./types" */

export const id = "download";
export const title = "Download";

/** @type {Record<string, string>} */
const FORMS = { csv: "CSV, for everyone", parquet: "Parquet, for programs" };
/** @type {Record<string, string[]>} */
const FILES = {
  release: ["Release", "The table that may be published."],
  policy: ["Policy", "The requirements, for the command line. It contains values of your data: keep it internal."],
  evidence: ["Evidence", "The facts for programs: what was checked and reached. Keep it internal."],
  report: ["Report", "The same facts for people, on one page. Keep it internal."],
  recoding: ["Recoding", "How values became labels; shoal apply uses it for new records."],
};

/** @param {HTMLElement} root @param {string[]} address @returns {Stop} */
export function render(root, [number]) {
  let there = true;
  fill(root, h("h1", {}, title), h("p", { class: "soft" }, "Loading …"));
  attempt(async () => {
    await fetchRuns();
    if (there) await draw(root, number, () => there);
  });
  return () => { there = false; };
}

/** @param {HTMLElement} root @param {string | undefined} number @param {() => boolean} alive */
async function draw(root, number, alive) {
  const run = runAt(number);
  if (!run) {
    fill(root, h("h1", {}, title), h("p", {}, finished().length ? "This run does not exist or is not finished. " : "No run is finished yet. ", finished().length ? h("a", { href: "#/download" }, "See the latest run.") : h("a", { href: "#/runs" }, "Start one.")));
    return;
  }
  const [files, about] = await Promise.all([api.desk("run_files", { run: run.number }), api.desk("about_run", { run: run.number, sections: ["verdict", "limitations"] })]);
  if (!alive()) return;
  fill(root, h("h1", {}, title), field("The run", runChoice("download-run", run, (at) => `#/download/${at}`)),
    h("section", { "aria-labelledby": "download-verdict" }, h("h2", { id: "download-verdict" }, "What the release still reveals"), reported(about.verdict),
      h("p", {}, h("a", { href: `#/understand/${run.number}/summary` }, "What attackers can learn, in full")),
      h("details", {}, h("summary", {}, "Limitations of every release"), reported(about.limitations))),
    formulas(files.formulas),
    h("p", {}, "Publish only the release. A download is exactly the file that was verified; anyone can use its SHA-256 to check that nothing was changed."),
    files.forms.map((form) => formSection(run, form, files.data)));
}

/**
 * Cells that a spreadsheet would run, listed and left as they are.
 * @param {RunFiles["formulas"]} found
 * @returns {HTMLElement | null}
 */
function formulas(found) {
  if (!found.length) return null;
  return h("section", { class: "complaint", id: "download-formulas", "aria-label": "Cells that look like formulas" },
    h("p", {}, h("strong", {}, "Some cells look like formulas. "), "They start with =, +, - or @, and a spreadsheet may run them when it opens the file. Import the file with all columns as text instead. Shoal does not change the cells."),
    h("ul", {}, found.map((each) => h("li", {}, h("bdi", {}, each.column), each.cells ? `: ${count(each.cells, "cell")}, such as ` : ": the name of the column, ", h("code", {}, displayValue(each.example))))));
}

/** @param {Run} run @param {ReleaseForm} form @param {string} data @returns {HTMLElement} */
function formSection(run, { form, files, make, check }, data) {
  const ordered = Object.keys(FILES).map((what) => files.find((file) => file.what === what)).filter((file) => file !== undefined);
  const others = files.filter((file) => !FILES[file.what]);
  return h("section", { "aria-labelledby": `download-${form}` }, h("h2", { id: `download-${form}` }, FORMS[form] ?? form),
    h("ul", { class: "cards files" }, [...ordered, ...others].map((file) => fileCard(run, form, file))),
    h("p", {}, "To make the same release on the command line, in a folder with ", h("code", {}, data), " and the policy:"), command(`make-${form}`, make),
    h("p", {}, "To verify it independently:"), command(`check-${form}`, check));
}

/** @param {Run} run @param {string} form @param {RunFile} file @returns {HTMLElement} */
function fileCard(run, form, { what, name, bytes, sha256 }) {
  const [head, words] = FILES[what] ?? [what, ""];
  const address = `/api/runs/${run.number}/files/${form}/${what}`;
  return h("li", { class: "card" }, h("h3", {}, head), h("p", { class: "soft" }, words),
    h("p", {}, h("a", { class: "button", id: `download-${form}-${what}`, href: address, download: name }, `Download ${name}`)),
    what === "report" ? h("p", {}, h("a", { id: `look-${form}`, href: `${address}?look`, target: "_blank", rel: "noopener" }, "Open in a new tab")) : null,
    h("p", { class: "soft" }, size(bytes), h("br"), "SHA-256 ", h("code", { id: `sha-${form}-${what}` }, sha256)));
}

/** @param {number} bytes @returns {string} */
function size(bytes) {
  return bytes < 1e4 ? count(bytes, "byte") : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB (${count(bytes, "byte")})` : `${(bytes / 1e6).toFixed(1)} MB (${count(bytes, "byte")})`;
}

/** @param {string} name @param {string} text @returns {HTMLElement} */
function command(name, text) {
  return h("div", { class: "command" }, h("pre", { id: name, tabindex: "0" }, text),
    !navigator.clipboard ? null : h("button", { type: "button", id: `copy-${name}`, onclick: () => attempt(async () => { await navigator.clipboard.writeText(text); say("Copied."); }) }, "Copy"));
}
