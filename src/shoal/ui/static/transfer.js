// Hierarchies from files and to files. The file is read in the browser and shown before it is taken.
import { api, attempt, byId, count, field, fill, h, problemList, say, someOf, ShoalError } from "./core.js";

/** @import { ImportedHierarchy } from "./types" */

/**
 * The part of the page; `take(tree)` puts an imported tree into the policy.
 * @param {string} name
 * @param {(tree: any) => void} take
 * @returns {HTMLElement}
 */
export function transferPart(name, take) {
  const result = h("div", { id: "import-result" });
  const input = h("input", { type: "file", id: "import-file", accept: ".csv,.txt,.tsv,.yaml,.yml" });
  input.addEventListener("change", () => attempt(async () => {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    fill(result, h("p", { class: "soft" }, `Reading ${file.name} …`));
    try {
      const found = await api.desk("import_hierarchy", { name, file: file.name, text: await read(file) });
      fill(result, importPreview(file.name, found, { take: () => { fill(result); take(found.tree); say(`${file.name} is imported.`); }, leave: () => fill(result) }));
      byId("import-head").focus();
    } catch (error) {
      if (!(error instanceof ShoalError)) throw error;
      fill(result, h("p", { class: "complaint", role: "alert" }, error.message));
    }
  }));
  return h("div", {},
    field("Import", input, "A table of levels (CSV: one line per value, followed by its groups from small to large, as ARX writes it) or a tree (YAML). It becomes a tree in the policy."),
    result,
    h("div", { class: "buttons" }, h("span", {}, "Export this hierarchy as "),
      h("button", { type: "button", id: "export-csv", onclick: () => save(name, "csv") }, "a table of levels (CSV)"),
      h("button", { type: "button", id: "export-yaml", onclick: () => save(name, "yaml") }, "a tree (YAML)")),
    h("p", { class: "soft" }, "The file contains values of your data: keep it internal."));
}

/** @param {File} file @returns {Promise<string>} */
async function read(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new ShoalError({ message: `${file.name} is not UTF-8 text. Save it as UTF-8 first.` });
  }
}

const LISTED = 30;

/**
 * @param {string} file
 * @param {ImportedHierarchy} found
 * @param {{ take: () => void, leave: () => void }} actions
 * @returns {HTMLElement}
 */
function importPreview(file, found, { take, leave }) {
  return h("section", { class: "card", "aria-labelledby": "import-head" }, h("h3", { id: "import-head", tabindex: "-1" }, `Contents of ${file}`),
    found.problems.length ? [h("p", { class: "warning" }, "This is not a valid hierarchy yet. You can import it and fix it in the editor:"), problemList(found.problems)] : [
      h("p", {}, `${count(found.leaves, "value")} in ${count(found.groups, "group")}, ${count(found.height, "level")}.`),
      found.lacking.count ? h("p", { class: "warning" }, `${count(found.lacking.count, "value")} of the data (${count(found.lacking.records, "record")}) ${found.lacking.count === 1 ? "is" : "are"} missing from it: `, someOf(found.lacking.values.map(([label]) => label), LISTED, found.lacking.count), ".") : h("p", {}, "It contains every value of the data, each once."),
      found.absent.count ? h("p", { class: "soft" }, `${count(found.absent.count, "value")} of it ${found.absent.count === 1 ? "is" : "are"} not in the data, which is fine: `, someOf(found.absent.values, LISTED, found.absent.count), ".") : null],
    h("div", { class: "buttons" }, h("button", { type: "button", id: "import-take", class: "strong", onclick: take }, "Import"), h("button", { type: "button", id: "import-leave", onclick: leave }, "Discard")));
}

/** @param {string} name @param {"csv" | "yaml"} form */
function save(name, form) {
  attempt(async () => {
    const { file, text } = await api.desk("export_hierarchy", { name, form });
    const link = h("a", { href: URL.createObjectURL(new Blob([text])), download: file });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(`${file} is saved.`);
  });
}
