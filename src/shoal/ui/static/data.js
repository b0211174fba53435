// Step 1: load a table, look at it, and say what each column is.
import { api, attempt, choice, columnFacts, columns, confirmed, count, currentTable, displayValue, edit, field, fill, h, history, percent, problemList, problemsOf, say, send, state, table, tellOthers, unprotected, unprotectedWarning, update, watch } from "./core.js";

/** @import { ModelEntry, Opened, Policy, Reading, ReadingControl, Stop, Table } from "./types" */

export const id = "data";
export const title = "Data";

const ROLES = [
  ["identifier", "identifier: names a person, not released"],
  ["pseudonym", "pseudonym: links a person's records, released as a keyed code"],
  ["quasi", "quasi-identifier: others may know it, generalized"],
  ["sensitive", "sensitive: must not be linked to a person, protected"],
  ["insensitive", "insensitive: released unchanged"],
  ["", "not in the policy: not released"],
];
const PAGE = 25;
/**
 * Whether the reader opened or closed "File options"; open from the start where a sheet has to be chosen.
 * @type {boolean | null}
 */
let readingOpen = null;

/** @param {HTMLElement} root @returns {Stop} */
export function render(root) {
  const loader = h("section", { "aria-labelledby": "load-head" });
  const about = h("div");
  fill(root, h("h1", {}, title), loader, about);
  drawLoader(loader);
  drawTable(about);
  return watch((what) => {
    if (what === "policy" || what === "saved") drawRoles();
    if (what === "facts") drawTable(about);
  });
}

/** @param {HTMLElement} section */
function drawLoader(section) {
  const bar = h("progress", { max: "1", value: 0, hidden: true, "aria-label": "Upload" });
  const input = h("input", { type: "file", id: "file", accept: state.suffixes.join(",") });
  const open = async (/** @type {() => Promise<Opened>} */ action) => {
    if ((state.runs.length || history.canUndo) && !await confirmed(`Open another table? The policy${state.runs.length ? " and the runs" : ""} of this one will be deleted.`, "Open")) return;
    bar.hidden = false;
    await attempt(async () => { opened(await action()); });
    bar.hidden = true;
  };
  const take = (/** @type {File | undefined} */ file) => { if (file) open(() => send(`/api/table?name=${encodeURIComponent(file.name)}`, file, (share) => { bar.value = share; })); };
  input.addEventListener("change", () => {
    take(input.files?.[0]);
    input.value = "";  // the same file, put right, may be chosen again
  });
  const drop = h("div", { class: "drop" }, field("Table about people", input,
    `CSV, Parquet, Excel, SPSS, SAS or Stata; up to ${count(state.limits.rows)} records and ${count(Math.round(state.limits.bytes / 1e6))} MB. ${state.shared ? "It is sent to this server and deleted when your session ends." : "It stays on this machine."}`), bar);
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(event.dataTransfer?.files[0]);
  });
  const example = h("p", {}, h("button", { type: "button", id: "example", onclick: () => open(() => api.desk("open_example")) }, "Open the hospital example"));
  if (state.table) fill(section, h("details", {}, h("summary", { id: "load-head" }, "Open another table"), drop, example));
  else fill(section, h("h2", { id: "load-head" }, "Load a table"), drop, example);
}

/** @param {Opened} answer */
function opened({ table: facts, policy, yaml, revision }) {
  history.clear();
  update({ table: facts, policy, yaml, revision, problems: [], runs: [] }, "table");
  attempt(async () => {
    const { problems, runs } = await api.get("/api/state");
    if (state.policy === policy) update({ problems, runs }, "saved");  // else a change was made meanwhile, and has its own
    tellOthers();
  });
  say(`${facts.name} is open: ${facts.records} records, ${facts.columns.length} columns.`);
}

/** @param {HTMLElement} root */
function drawTable(root) {
  if (!state.table) { fill(root, h("p", { class: "soft" }, state.shared ? "Nobody else here can see your files. They are deleted when your session ends." : "Nothing leaves this machine.")); return; }
  const facts = state.table;
  const preview = h("div");
  fill(root,
    h("section", { "aria-labelledby": "about-head" },
      h("h2", { id: "about-head" }, facts.name),
      h("p", {}, `${count(facts.records, "record")} in ${count(facts.columns.length, "column")}. `,
        facts.unique ? `By the suggested quasi-identifiers, ${count(facts.unique, "record is", "records are")} unique: anyone who knows these values of a person can find the record.` : ""),
      facts.unreadable.length ? h("p", { class: "warning" }, `Cannot be read and will not be released: ${facts.unreadable.map((each) => `${each.name} (${each.kind})`).join(", ")}.`) : null,
      reading(facts)),
    h("section", { "aria-labelledby": "columns-head" }, h("h2", { id: "columns-head" }, "Columns and their roles"),
      h("p", { class: "soft" }, "Suggested from names and values, erring on the side of caution. Read the reasons and correct what is wrong."),
      h("div", { id: "roles" })),
    h("section", { "aria-labelledby": "people-head" }, h("h2", { id: "people-head" }, "People with several records"), h("div", { id: "people" })),
    h("section", { "aria-labelledby": "rows-head" }, h("h2", { id: "rows-head" }, "Preview"), preview));
  drawRoles();
  drawRows(preview, 0);
}

/**
 * How the file was read, and how it may be read otherwise.
 * @param {Table} facts
 * @returns {HTMLElement}
 */
function reading(facts) {
  const controls = readingControls(facts.reading);
  const { sheet, sheets = [] } = facts.reading;
  return h("details", { id: "reading", open: readingOpen ?? sheets.length > 1, ontoggle: (event) => { readingOpen = event.target.open; } }, h("summary", { id: "reading-head" }, "File options", sheets.length > 1 ? h("span", { class: "soft" }, `: sheet “${sheet}” of ${sheets.length}`) : null),
    facts.why_reading.length ? h("ul", {}, facts.why_reading.map((why) => h("li", {}, why))) : null,
    controls.map(({ element }) => element),
    controls.length ? h("button", { type: "button", id: "reread", onclick: () => attempt(() => reread(controls)) }, "Read the file again") : null,
    marks());
}

/** @param {Reading} reading @returns {ReadingControl[]} */
function readingControls({ separator, encoding, sheet, sheets = [] }) {
  if (sheets.length > 1) {
    const control = choice("sheet", sheets.map((name) => [name, name]), sheet, () => {});
    return [{ name: "sheet", read: () => control.value, element: field("Sheet", control, "The sheet of the workbook that holds the table.") }];
  }
  if (separator === undefined) return [];
  const mark = h("input", { id: "separator", size: "3", value: separator === "\t" ? "\\t" : separator });
  const coding = h("input", { id: "encoding", size: "12", value: encoding });
  return [
    { name: "separator", read: () => (mark.value === "\\t" ? "\t" : mark.value), element: field("Separator", mark, "The character between cells; \\t for a tab.") },
    { name: "encoding", read: () => coding.value, element: field("Encoding", coding, "The text encoding, such as utf-8, or windows-1252 from older programs.") },
  ];
}

/** @param {ReadingControl[]} controls */
async function reread(controls) {
  if (!await confirmed("Read the file again with these options? Roles, hierarchies and models are drafted again, and your changes are lost.", "Read the file again")) return;
  opened(await api.desk("reread", { options: Object.fromEntries(controls.map(({ name, read }) => [name, read()])) }));
}

/**
 * The cells that mean "no value", a line each.
 * @returns {HTMLElement}
 */
function marks() {
  const given = [state.policy.data?.missing ?? []].flat();
  const shownMarks = given.filter((mark) => mark !== "");
  const input = h("textarea", { id: "marks", rows: Math.max(2, shownMarks.length), cols: "20", class: "short", spellcheck: "false", value: shownMarks.join("\n"), onchange: (event) => {
    const chosen = event.target.value.split("\n").map((mark) => mark.trim()).filter((mark) => mark !== "");
    edit((policy) => {
      const data = typeof policy.data === "string" ? { path: policy.data } : policy.data;
      policy.data = { ...data, missing: [...new Set([...given.filter((mark) => mark === ""), ...chosen])] };
    });
    say("Missing values changed.");
  } });
  return field("Missing values", input, "Cells that mean “no value” besides empty ones, such as ? or NA. One per line.");
}

function drawRoles() {
  const box = document.getElementById("roles");
  if (!box) return;
  const named = state.policy.columns ?? {};
  const { columns: all, records } = currentTable();
  const rows = all.map((each, index) => {
    const role = named[each.name]?.role ?? "";
    return [
      h("strong", {}, each.name),
      h("span", {}, each.kind, h("br"), h("span", { class: "soft" }, count(each.distinct, "value"))),
      each.missing ? `${count(each.missing)} (${percent(each.missing / records)})` : "none",
      h("div", {}, choice(`role-${index}`, ROLES, role, (chosen) => setRole(each.name, chosen), { "aria-label": `Role of ${each.name}` }), relativeChoice(each.name, index)),
      h("div", {}, role === each.role ? each.why : `Your choice. (Suggested: ${each.role}. ${each.why})`,
        each.warning ? h("span", { class: "warning" }, ` ${each.warning}`) : null,
        each.odd.length ? h("span", { class: "warning" }, ` All values except ${each.odd.join(", ")} are numbers, so intervals cannot be used. List values that mean “no value” under “File options”.`) : null,
        unprotected().includes(each.name) ? unprotectedWarning([each.name]) : null,
        problemList(problemsOf(each.name))),
      h("span", { class: "samples" }, each.samples.map((sample) => [h("code", { title: sample }, brief(sample)), " "])),
    ];
  });
  fill(box, table("Columns", ["Column", "Values", "Missing", "Role", "Why", "For example"], rows, { class: "columns stacks" }));
  drawPeople();
}

/** Which identifiers tell people apart: with one, the models count people. */
function drawPeople() {
  const box = document.getElementById("people");
  if (!box) return;
  const identifiers = [...columns("identifier"), ...columns("pseudonym")];
  const chosen = personColumns(state.policy);
  const { records } = currentTable();
  const tick = (/** @type {string} */ name, /** @type {number} */ index) => {
    const input = h("input", { type: "checkbox", id: `person-${index}`, checked: chosen.includes(name),
      onchange: () => edit((policy) => setPerson(policy, identifiers.filter((each) => (each === name ? input.checked : chosen.includes(each))))) });
    const { distinct = 0, missing = 0 } = columnFacts(name) ?? {};
    return h("label", {}, input, " ", h("strong", {}, name), h("span", { class: "soft" }, ` ${count(distinct, "different value")} in ${count(records - missing, "record")}`));
  };
  fill(box, h("p", {}, "In a table of visits, claims or prescriptions a person has several records, and five records of one patient would be a class of five. Say which identifier tells people apart: then every model counts people instead of records."),
    identifiers.length ? h("fieldset", { class: "ticks" }, h("legend", {}, "Columns that say who a record is about"), identifiers.map(tick)) : h("p", { class: "soft" }, "No column is an identifier. Give the one that tells people apart this role."),
    chosen.length ? field("Records of a person that somebody may know", choice("events", ["1", "2", "3"].map((n) => [n, n]), String(state.policy.person?.events ?? 1), (value) => edit((policy) => setEvents(policy, Number(value)))),
      "With 2 or 3, at least k people have records in all classes of the known ones. It matters if records of a person can be linked, and costs detail.") : null,
    h("p", { id: "counted", role: "status" }, chosen.length ? `The models count people, told apart by ${chosen.join(" and ")}.` : "The models count records: every record counts as a different person."),
    problemList(state.problems.filter((each) => each.section === "person")));
}

/** @param {Policy} policy @returns {string[]} */
const personColumns = (policy) => [policy.person?.column ?? policy.person ?? []].flat();

/** @param {Policy} policy @param {string[]} names */
function setPerson(policy, names) {
  if (!names.length) { delete policy.person; return; }
  const others = typeof policy.person === "object" && !Array.isArray(policy.person) ? policy.person : {};
  policy.person = { ...others, column: names.length === 1 ? names[0] : names };
}

/**
 * How a date is released: as it is, or as days since another date.
 * @param {string} name
 * @param {number} index
 */
function relativeChoice(name, index) {
  const { role, relative } = state.policy.columns?.[name] ?? {};
  if (!["quasi", "sensitive", "insensitive"].includes(role) || (columnFacts(name)?.kind !== "dates" && !relative)) return null;
  const others = currentTable().columns.filter((each) => each.kind === "dates" && each.name !== name && state.policy.columns[each.name]);
  const ways = [["", "released as dates"], ...(state.policy.person || relative === "first" ? [["first", "as days since the person's first date"]] : []), ...others.map((each) => [each.name, `as days since ${each.name}`])];
  return choice(`relative-${index}`, ways, relative ?? "", (chosen) => {
    edit((policy) => {
      const column = policy.columns[name];
      if (chosen) column.relative = chosen;
      else delete column.relative;
      if (role === "quasi") column.hierarchy = chosen ? { intervals: { widths: [7, 28, 364] } } : columnFacts(name)?.suited ?? { flat: true };
      delete column.boundary;
    });
    say(`${name}: ${ways.find(([value]) => value === chosen)?.[1]}`);
  }, { "aria-label": `Dates of ${name}` });
}

/** @param {Policy} policy @param {number} events */
function setEvents(policy, events) {
  const names = personColumns(policy), column = names.length === 1 ? names[0] : names;
  policy.person = events > 1 ? { column, events } : { column };
}

/** @param {string} text @returns {string} */
const brief = (text) => (text.length > 32 ? `${text.slice(0, 31)}…` : text);

/**
 * Give a column a role; what only belonged to the old role goes, and models of a column that is no longer sensitive too.
 * @param {string} name
 * @param {string} role
 */
function setRole(name, role) {
  edit((policy) => {
    policy.columns ??= {};
    const old = policy.columns[name] ?? {};
    if (role === "") delete policy.columns[name];
    else if (role === "quasi") policy.columns[name] = { role, hierarchy: old.hierarchy ?? columnFacts(name)?.suited ?? { flat: true }, ...(old.boundary !== undefined ? { boundary: old.boundary } : {}) };
    else if (role === "sensitive") policy.columns[name] = { role, ...(old.categories ? { categories: old.categories } : {}), ...(old.publish ? { publish: old.publish } : {}), ...(old.bins !== undefined ? { bins: old.bins } : {}) };
    else policy.columns[name] = { role };
    if (!["identifier", "pseudonym"].includes(role)) setPerson(policy, personColumns(policy).filter((each) => each !== name));
    if (role === "pseudonym") policy.person ??= name;
    if (role !== "sensitive" && Array.isArray(policy.privacy)) policy.privacy = policy.privacy.map((model) => without(model, name)).filter((model) => model !== null);
  });
  say(`${name}: ${role || "not named"}`);
}

/**
 * A model without one of its sensitive columns; null where it has no other.
 * @param {ModelEntry} model
 * @param {string} name
 * @returns {ModelEntry | null}
 */
function without(model, name) {
  if (model?.sensitive === name) return null;
  if (!Array.isArray(model?.sensitive)) return model;
  const rest = model.sensitive.filter((each) => each !== name);
  return rest.length ? { ...model, sensitive: rest } : null;
}

/** @param {HTMLElement} box @param {number} offset */
async function drawRows(box, offset) {
  const answer = await attempt(() => api.desk("rows", { offset, limit: PAGE }));
  if (!answer) return;
  const last = offset + answer.rows.length;
  fill(box,
    table(`Records ${count(offset + 1)} to ${count(last)} of ${count(answer.records)}`, answer.columns.map((name) => [name, h("br"), h("span", { class: "soft" }, columnFacts(name)?.kind ?? "")]), answer.rows.map((row) => row.map((value) => h("span", { title: value }, displayValue(value)))), { class: "preview" }),
    h("div", { class: "buttons" },
      h("button", { type: "button", id: "rows-before", disabled: offset === 0, onclick: () => drawRows(box, Math.max(0, offset - PAGE)) }, "Previous records"),
      h("button", { type: "button", id: "rows-after", disabled: last >= answer.records, onclick: () => drawRows(box, last) }, "Next records")));
}
