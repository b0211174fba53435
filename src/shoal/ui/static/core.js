// What every part of the page shares: making elements, asking the server, the policy as it stands, saying things aloud.
// Text from the data only ever becomes a text node or an attribute's value, so it cannot become markup.

/** @import { Answers, Attributes, ChangeKind, Child, ColumnFacts, Control, Failure, MakeElement, PageState, Policy, Problem, Saved, Stop, Suggestion, Table, TableColumn, Value } from "./types" */

/** The missing value as a key of a mapping; as a value it is null. */
export const MISSING = "\u0000";

const SVG = "http://www.w3.org/2000/svg";

const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "open", "indeterminate", "htmlFor"]);

/**
 * An element with attributes, listeners ("onclick": f), properties ("value", "checked", "disabled") and children.
 * @type {MakeElement}
 */
export const h = makeElement;

/**
 * @param {string} name
 * @param {Record<string, any>} attributes
 * @param {...Child} children
 * @returns {any}
 */
function makeElement(name, attributes = {}, ...children) {
  const element = name.startsWith("svg:")
    ? /** @type {SVGElement} */ (document.createElementNS(SVG, name.slice(4)))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else if (PROPERTIES.has(key)) Object.assign(element, { [key]: value });
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Replace what an element has by children; the focus stays on the element of the same id, or that scrolls the same.
 * @param {HTMLElement} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  const focused = document.activeElement;
  const active = element !== focused && element.contains(focused) ? /** @type {HTMLElement} */ (focused) : null;
  const id = active?.id ?? "";
  const scrolling = active && !id ? active.dataset.scroll : undefined;
  const range = id && active && isTextField(active) ? [active.selectionStart, active.selectionEnd] : null;
  const scrolled = scrolls(element).map((each) => ({ name: each.dataset.scroll, top: each.scrollTop, left: each.scrollLeft }));
  element.replaceChildren();
  append(element, children);
  for (const { name, top, left } of scrolled) {
    const again = scrolls(element, name)[0];
    if (again) { again.scrollTop = top; again.scrollLeft = left; }
  }
  const again = id ? document.getElementById(id) : scrolling ? scrolls(element, scrolling)[0] : null;
  if (again && !("disabled" in again && again.disabled)) {
    again.focus({ preventScroll: true });
    if (range && range[0] !== null && isTextField(again)) try { again.setSelectionRange(range[0], range[1]); } catch { /* not a text field */ }
  } else if (active) nearby(again, element).focus({ preventScroll: true });
}

/** @param {HTMLElement} element @returns {element is HTMLInputElement | HTMLTextAreaElement} */
function isTextField(element) { return "selectionStart" in element; }

/**
 * The elements within another that scroll, or those that scroll under a name.
 * @param {HTMLElement} element
 * @param {string} [name]
 * @returns {HTMLElement[]}
 */
function scrolls(element, name) { return [...element.querySelectorAll(name === undefined ? "[data-scroll]" : `[data-scroll="${CSS.escape(name)}"]`)].map((each) => /** @type {HTMLElement} */ (each)); }

/**
 * Say of what is dragged that it moves within the page and nowhere else.
 * @param {DragEvent} event
 */
export function markDragged(event) {
  if (!event.dataTransfer) return;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "moved within the page");
}

/**
 * An element that the page always has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * The element around the target of an event that fits a selector.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function around(event, selector) { return event.target instanceof Element ? event.target.closest(selector) : null; }

/**
 * Where the focus goes when its control is gone or cannot be used any more: to one beside it, else to the part itself.
 * @param {HTMLElement | null} control
 * @param {HTMLElement} element
 * @returns {HTMLElement}
 */
function nearby(control, element) {
  /** @type {HTMLElement | null | undefined} */
  const beside = control?.parentElement?.querySelector("button:enabled, input:enabled, select:enabled");
  if (!beside) element.tabIndex = -1;
  return beside ?? element;
}

/**
 * A value as a reader sees it; the missing one by name.
 * @param {Value | undefined} value
 * @returns {HTMLElement | string}
 */
export function displayValue(value) {
  return value === null || value === MISSING ? h("em", { class: "missing" }, "missing") : String(value) === "" ? h("em", { class: "missing" }, "empty") : String(value);
}

/**
 * A number with separators of thousands.
 * @param {number} number
 * @param {string} [one]
 * @param {string} [many]
 * @returns {string}
 */
export function count(number, one, many) {
  const text = Number(number).toLocaleString("en");
  return one === undefined ? text : `${text} ${number === 1 ? one : many ?? `${one}s`}`;
}

/**
 * A number to so many digits, with separators of thousands.
 * @param {number} number
 * @param {number} digits
 * @returns {string}
 */
export function rounded(number, digits) { return Number(number.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 }); }

/**
 * A share as a percentage: 5.7%, 100%, less than 0.1%.
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  if (share > 0 && share < 0.001) return "less than 0.1%";
  if (share > 0.999 && share < 1) return "more than 99.9%";
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1 })}%`;
}

/**
 * Some labels with commas between them, and how many more there are.
 * @param {Value[]} labels
 * @param {number} most
 * @param {number} [total]
 * @returns {Child[]}
 */
export function someOf(labels, most, total = labels.length) {
  return [labels.slice(0, most).map((label, index) => [index ? ", " : "", displayValue(label)]), total > most ? ` and ${count(total - Math.min(most, labels.length))} more` : ""];
}

/**
 * Seconds in words.
 * @param {number} seconds
 * @returns {string}
 */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

/**
 * Tell a screen reader, and nobody else.
 * @param {string} text
 */
export function say(text) {
  const region = byId("said");
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 50);
}

/** What mappings of the policy inherit: nothing but words to stand for one where it should not be. */
const NOTHING = Object.freeze(Object.create(null, { [Symbol.toPrimitive]: { value: () => "{…}" } }));

/**
 * A copy whose mappings have no keys but their own: columns and values may be called "constructor" or "__proto__".
 * @param {any} value
 * @returns {any}
 */
export function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== "object") return value;
  const copy = Object.create(NOTHING);
  for (const [key, each] of Object.entries(value)) copy[key] = bare(each);
  return copy;
}

/** An error of the server, with all its facts. */
export class ShoalError extends Error {
  /** @param {Failure} error */
  constructor(error) { super(error.message); this.facts = error; }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
async function request(method, path, body, headers = {}) {
  let response;
  try {
    response = await fetch(path, { method, body, headers, credentials: "same-origin", cache: "no-store" });
  } catch {
    throw new ShoalError({ error: "Away", message: "The server does not answer. Is `shoal ui` still running?" });
  }
  const kind = response.headers.get("content-type") ?? "";
  const content = kind.includes("json") ? await response.json() : { error: { error: "Refused", message: (await response.text()).trim() } };
  if (content.error || !response.ok) throw new ShoalError(content.error ?? { error: "Fault", message: `The server answered ${response.status}.` });
  return withBarePolicy(content);
}

/** @param {any} content */
const withBarePolicy = (content) => (content.policy ? { ...content, policy: bare(content.policy) } : content);

const json = { "Content-Type": "application/json" };
export const api = {
  /** @param {string} path */
  get: (path) => request("GET", path),
  /** @param {string} path @param {unknown} content */
  post: (path, content = {}) => request("POST", path, JSON.stringify(content), json),
  /** @param {string} path @param {unknown} content */
  put: (path, content) => request("PUT", path, JSON.stringify(content), json),
  /** @param {string} path */
  delete: (path) => request("DELETE", path),
  /**
   * Ask the session's desk a question; see shoal/ui/desk/main.py.
   * @template {keyof Answers & string} Question
   * @param {Question} question
   * @param {unknown} [content]
   * @returns {Promise<Answers[Question]>}
   */
  desk: (question, content = {}) => request("POST", `/api/desk/${question}`, JSON.stringify(content), json),
};

/**
 * Send a file and tell how far it is.
 * @param {string} path
 * @param {File} file
 * @param {(share: number) => void} progress
 * @returns {Promise<any>}
 */
export function send(path, file, progress) {
  return new Promise((resolve, reject) => {
    if (file.size > state.limits.bytes) throw new ShoalError({ message: `${file.name} has ${count(file.size, "byte")}; the limit here is ${count(state.limits.bytes)}.` });
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onload = () => {
      let content;
      try { content = JSON.parse(request.responseText); } catch { content = { error: { message: request.responseText.trim() } }; }
      if (content.error) reject(new ShoalError(content.error)); else resolve(withBarePolicy(content));
    };
    request.onerror = () => reject(new ShoalError({ message: "The upload was interrupted." }));
    request.send(file);
  });
}

/**
 * What the page knows: `table`, `policy` (the document), `yaml`, `revision` (of the file), `problems`, `runs`, `limits`, `suffixes` (of files that can be read), `shared`.
 * @type {PageState}
 */
export const state = { table: null, policy: {}, yaml: "", revision: "", problems: [], runs: [], limits: { bytes: Infinity, rows: Infinity }, suffixes: [], shared: false, models: {}, algorithm: "", reviewed: null };
/** @type {Set<(what: ChangeKind) => void>} */
const listeners = new Set();
/** @type {Policy[]} */
const before = [];
/** @type {Policy[]} */
const after = [];
/** @type {Promise<void>} */
let saving = Promise.resolve();

/**
 * Be notified of every change of the state; returns how to stop.
 * @param {(what: ChangeKind) => void} listener
 * @returns {Stop}
 */
export function watch(listener) { listeners.add(listener); return () => listeners.delete(listener); }

/**
 * Change what the page knows, and tell everyone who watches. `what` names the change: table, facts (of the same table), policy, saved, runs.
 * @param {Partial<PageState>} changes
 * @param {ChangeKind} what
 */
export function update(changes, what) { Object.assign(state, changes); for (const listener of [...listeners]) listener(what); }

/**
 * Change the policy: `change` alters a copy of the document, which is then written to the policy file.
 * @param {(document: Policy) => void} change
 * @returns {Promise<void>}
 */
export function edit(change) {
  const document = bare(state.policy);
  change(document);
  remember();
  return replacePolicy(bare(document));
}

/** Keep the policy as it stands, to come back to by "Undo". */
function remember() {
  before.push(state.policy);
  if (before.length > 200) before.shift();
  after.length = 0;
}

/** Whether the step that is shown needs the forecast of every change; it then comes with the answer that saves it. */
export const review = { wanted: false };

/**
 * Write the policy file: one request, which answers with its text and, if that is quick, with the review of it.
 * @param {Record<string, unknown>} content
 * @returns {Promise<Saved>}
 */
async function put(content) {
  const answer = await api.put("/api/policy", { ...content, revision: state.revision, forecast: review.wanted });
  state.revision = answer.revision;
  tellOthers();
  return answer;
}

/** @param {Policy} document @returns {Promise<void>} */
function replacePolicy(document) {
  update({ policy: document }, "policy");
  saving = saving.then(async () => {
    if (state.policy !== document) return;  // a later change is on its way
    try {
      const answer = await put({ policy: document });
      if (state.policy === document) showSaved(answer);
    } catch (error) {
      if (error instanceof ShoalError && error.facts.code === "policy-outdated") setTimeout(() => attempt(catchUp)); else complain(error);
    }
  });
  return saving;
}

/**
 * The policy as it was saved, with its problems and the review where they came along.
 * @param {Saved} answer
 */
function showSaved(answer) {
  const { policy } = state;
  if (answer.pending && !review.wanted) attempt(async () => {
    const { problems } = await api.desk("review");
    if (problems && state.policy === policy) update({ problems }, "saved");
  });
  update({ yaml: answer.yaml, problems: answer.problems ?? state.problems, reviewed: { policy: state.policy, answer } }, "saved");
}

/**
 * Write the policy in another way than by editing the document that is shown.
 * @param {Record<string, unknown>} content
 * @returns {Promise<void>}
 */
function rewrite(content) {
  const written = saving.then(async () => {
    const answer = await put(content);
    remember();
    update({ policy: answer.policy }, "policy");
    showSaved(answer);
  });
  saving = written.catch(() => {});
  return written;
}

/**
 * Write YAML text as the policy; throws `ShoalError` where it is no YAML.
 * @param {string} text
 * @returns {Promise<void>}
 */
export function editYaml(text) { return rewrite({ yaml: text }); }

/**
 * Make the edits that a suggestion proposes, to the policy or to that of a run, which then is the policy.
 * @param {Suggestion["edits"]} edits
 * @param {string} [run]
 * @returns {Promise<void>}
 */
export function applyEdits(edits, run) { return rewrite(run === undefined ? { edits } : { edits, run }); }

/**
 * When the last change has reached the policy file.
 * @returns {Promise<void>}
 */
export function saved() { return saving; }

// Other windows of the same session: what one of them changes the others show. Only the fact is shared, never the data.
const others = new BroadcastChannel("shoal");
others.addEventListener("message", later(() => attempt(catchUp), 100));

/** Tell the other windows that table, policy or runs are new. */
export function tellOthers() { others.postMessage("changed"); }

async function catchUp() {
  await saved();
  const now = await api.get("/api/state");
  if (JSON.stringify(now.table) !== JSON.stringify(state.table)) {
    history.clear();
    update(now, "table");
    notice("Another window of this session opened another table or read this one again. This window now shows it.");
  } else if (now.yaml !== state.yaml) {
    remember();
    update(now, "policy");
    update({}, "saved");
    notice("The policy was changed in another window of this session. This window now shows the change; Undo restores what was here.");
  } else update({ runs: now.runs, revision: now.revision }, "runs");
}

/** @param {Policy[]} from @param {Policy[]} to */
function turn(from, to) {
  const policy = from.pop();
  if (!policy) return;
  to.push(state.policy);
  replacePolicy(policy);
}

export const history = {
  get canUndo() { return before.length > 0; },
  get canRedo() { return after.length > 0; },
  undo() { turn(before, after); },
  redo() { turn(after, before); },
  clear() { before.length = 0; after.length = 0; },
};

/**
 * The columns of a role, in the policy's order.
 * @param {string} role
 * @returns {string[]}
 */
export function columns(role) {
  return Object.entries(state.policy.columns ?? {}).filter(([, each]) => each?.role === role).map(([name]) => name);
}

/**
 * The sensitive columns that no model is on; some models are on none.
 * @returns {string[]}
 */
export function unprotected() {
  const reading = Array.isArray(state.policy.privacy) ? state.policy.privacy.filter((entry) => state.models[entry?.model]?.sensitive ?? true) : [];
  return columns("sensitive").filter((name) => !reading.some((entry) => [entry?.sensitive ?? name].flat().includes(name)));
}

/**
 * What to say of the sensitive columns that no model is on; nothing where there are none.
 * @param {string[]} [names]
 * @param {Child} [todo]
 * @returns {HTMLElement | null}
 */
export function unprotectedWarning(names = unprotected(), todo = h("a", { href: "#/privacy" }, "Add a model for it.")) {
  return names.length ? h("p", { class: "warning unprotected" }, `No model protects ${names.join(", ")}: anyone who finds a person's class may be able to read the value. `, todo) : null;
}

/**
 * The table that is open; every step but the first has one.
 * @returns {Table}
 */
export function currentTable() {
  if (!state.table) throw new Error("no table is open");
  return state.table;
}

/**
 * What the table says of a column.
 * @param {string} name
 * @returns {TableColumn | undefined}
 */
export function columnFacts(name) { return state.table?.columns.find((each) => each.name === name); }

/**
 * The values of a column, the missing one too, with the records of each.
 * @param {ColumnFacts} facts
 * @returns {Map<Value, number>}
 */
export function recordsByValue(facts) {
  const values = new Map(facts.values);
  if (facts.missing) values.set(null, facts.missing);
  return values;
}

/**
 * Problems with a section of the policy, such as "data" or "algorithm", and with one entry of it.
 * @param {string} section
 * @param {number} [entry]
 * @returns {Problem[]}
 */
export function problemsAt(section, entry) {
  return state.problems.filter((each) => each.section === section && (entry === undefined || each.entry === entry));
}

/**
 * Problems with a column.
 * @param {string} name
 * @returns {Problem[]}
 */
export function problemsOf(name) { return state.problems.filter((each) => each.column === name); }

/**
 * A list of problems, or nothing.
 * @param {Problem[]} problems
 * @returns {HTMLElement | null}
 */
export function problemList(problems) {
  return problems.length ? h("ul", { class: "problems", role: "alert" }, problems.map((each) => h("li", {}, each.where ? h("code", {}, each.where) : null, each.where ? ": " : "", each.message, " ", each.fix, (each.edits ?? []).map(offerButton)))) : null;
}

/**
 * A button for a change of the policy that would fix a problem.
 * @param {{ label: string, edits: Suggestion["edits"] }} offer
 * @returns {HTMLElement}
 */
function offerButton({ label, edits }) {
  return h("button", { type: "button", onclick: () => attempt(async () => { await applyEdits(edits); say(`Changed: ${label}. You can undo this.`); }) }, label);
}

/**
 * Show an error where everyone sees it; it stays until it is closed.
 * @param {unknown} error
 */
export function complain(error) {
  if (!(error instanceof ShoalError)) console.error(error);
  notice(error instanceof ShoalError ? error.message : "Something went wrong on this page. Reload it; your work is saved.");
}

/**
 * Say something where everyone sees it, once; it stays until it is closed.
 * @param {string} message
 */
function notice(message) {
  const page = byId("page");
  for (const old of page.querySelectorAll(":scope > .notice")) if (old.getAttribute("data-said") === message) old.remove();
  /** @type {HTMLElement} */
  const box = h("div", { class: "complaint notice", role: "alert", "data-said": message }, h("p", {}, message), h("button", { type: "button", onclick: () => box.remove() }, "Close"));
  page.prepend(box);
}

/**
 * Do something that may fail, and say so where it does.
 * @template Answer
 * @param {() => Answer | Promise<Answer>} action
 * @returns {Promise<Answer | undefined>}
 */
export async function attempt(action) {
  try { return await action(); } catch (error) { complain(error); return undefined; }
}

/**
 * Call `action` when nothing came for some milliseconds.
 * @template {unknown[]} Given
 * @param {(...given: Given) => unknown} action
 * @param {number} [milliseconds]
 * @returns {(...given: Given) => void}
 */
export function later(action, milliseconds = 250) {
  /** @type {number | undefined} */
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), milliseconds); };
}

/**
 * Ask before something that cannot be undone. Resolves to true or false.
 * @param {string} question
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-label": question },
      h("p", {}, question),
      h("form", { method: "dialog", class: "buttons" },
        h("button", { value: "no", type: "submit" }, "Cancel"),
        h("button", { value: "yes", type: "submit", class: "strong" }, yes)));
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "yes"); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * A table with a caption, heads and rows of cells, which scrolls inside its own box; of the class "stacks", rows are cards on a narrow screen.
 * @param {string} caption
 * @param {Child[]} heads
 * @param {Child[][]} rows
 * @param {Attributes<HTMLTableElement>} [attributes]
 * @returns {HTMLElement}
 */
export function table(caption, heads, rows, attributes = {}) {
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption, "data-scroll": caption },
    h("table", attributes, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, index) => h("td", { "data-head": typeof heads[index] === "string" ? heads[index] : null }, cell)))))));
}

/**
 * A label with its control under it, and a sentence of help.
 * @param {string} label
 * @param {Control} control
 * @param {string} [help]
 * @returns {HTMLElement}
 */
export function field(label, control, help) {
  const id = control.id || `field-${label.replace(/\W+/g, "-")}`;
  control.id = id;
  if (help) control.setAttribute("aria-describedby", `${id}-help`);
  return h("div", { class: "field" }, h("label", { for: id }, label), control, help ? h("p", { class: "soft", id: `${id}-help` }, help) : null);
}

/**
 * A select of [value, text] pairs.
 * @param {string} id
 * @param {string[][]} pairs
 * @param {string | undefined} chosen
 * @param {(value: string) => unknown} onchange
 * @param {Attributes<HTMLSelectElement>} [attributes]
 * @returns {HTMLSelectElement}
 */
export function choice(id, pairs, chosen, onchange, attributes = {}) {
  return h("select", { id, ...attributes, onchange: (event) => onchange(event.target.value) },
    pairs.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}
