// Small questions in a window of their own: a name, or one of many choices.
import { fill, h } from "./core.js";

/**
 * @param {string} title
 * @param {(answer: (found: string) => void) => HTMLElement} build
 * @returns {Promise<string | null>}
 */
function showDialog(title, build) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-label": title });
    /** @type {string | null} */
    let answer = null;
    const yes = (/** @type {string} */ found) => { answer = found; dialog.close(); };
    dialog.append(h("h2", {}, title), build(yes), h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(answer); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Ask for a name; null where there is none. `refuse` says what is wrong with one, or nothing.
 * @param {string} title
 * @param {string} label
 * @param {string} given
 * @param {string} yes
 * @param {(name: string) => string} [refuse]
 * @returns {Promise<string | null>}
 */
export function askName(title, label, given, yes, refuse = () => "") {
  return showDialog(title, (answer) => {
    const input = h("input", { id: "ask-name", value: given, autocomplete: "off" });
    const said = h("p", { class: "warning", role: "alert" });
    const form = h("form", {}, h("div", { class: "field" }, h("label", { for: "ask-name" }, label), input), said,
      h("button", { type: "submit", id: "ask-yes", class: "strong" }, yes));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = input.value.trim();
      const why = name === "" ? "Enter a name." : refuse(name);
      if (why) { fill(said, why); input.focus(); } else answer(name);
    });
    setTimeout(() => input.select(), 0);
    return form;
  });
}

const LISTED = 200;

/**
 * Ask for one of many choices, given as [key, text] pairs; null where none is chosen.
 * @param {string} title
 * @param {string[][]} pairs
 * @returns {Promise<string | null>}
 */
export function askChoice(title, pairs) {
  return showDialog(title, (answer) => {
    const search = h("input", { id: "ask-search", type: "search", autocomplete: "off" });
    const list = h("ul", { class: "choices" });
    const draw = () => {
      const wanted = search.value.toLowerCase();
      const found = pairs.filter(([, text]) => text.toLowerCase().includes(wanted));
      fill(list, found.slice(0, LISTED).map(([key, text]) => h("li", {}, h("button", { type: "button", onclick: () => answer(key) }, text))),
        found.length > LISTED ? h("li", { class: "soft" }, `${found.length - LISTED} more: search for one.`) : null);
    };
    search.addEventListener("input", draw);
    draw();
    return h("div", {}, pairs.length > 8 ? h("div", { class: "field" }, h("label", { for: "ask-search" }, "Search"), search) : null, list);
  });
}
