// Controls of the step "Privacy": numbers with buttons beside them, limits by value or category, columns to tick.
import { edit, h, later, say } from "./core.js";

/** @import { Bounds, Policy } from "./types" */

/** Whether the change of the policy that goes on came from a control that already shows it: no need to draw it again. */
export let quiet = false;

/**
 * Change the policy from a control that shows the new value itself.
 * @param {(policy: Policy) => void} change
 */
export function editQuietly(change) {
  quiet = true;
  try { edit(change); } finally { quiet = false; }
}

/**
 * A number as text that the policy can hold; null for what is none, "" for an emptied field that may be empty.
 * @param {string} text
 * @param {Bounds} bounds
 * @returns {number | "" | null}
 */
function read(text, bounds) {
  if (text.trim() === "") return bounds.optional ? "" : null;
  const number = Number(text);
  return Number.isFinite(number) && (bounds.kind !== "whole" || Number.isInteger(number)) ? number : null;
}

/** @param {number} number @returns {number} */
const tidy = (number) => Number(number.toFixed(6));

/**
 * A number to type, with a button for less and one for more. `bounds`: kind (whole or number), low, high, step,
 * optional (an empty field gives ""). What is no number is not taken, and the field goes back.
 * @param {string} id
 * @param {string} label
 * @param {any} value
 * @param {Bounds} bounds
 * @param {(value: number | "") => unknown} onchange
 * @param {string} [help]
 * @returns {HTMLElement}
 */
export function stepper(id, label, value, bounds, onchange, help) {
  const input = h("input", { id, type: "number", inputmode: bounds.kind === "whole" ? "numeric" : "decimal", min: bounds.low, max: bounds.high,
    step: bounds.step ?? 1, placeholder: bounds.placeholder, "aria-describedby": help ? `${id}-help` : null, value: value ?? "" });
  let held = value ?? "";
  const take = (/** @type {number | "" | null} */ number) => { if (number !== null && number !== held) { held = number; onchange(number); } };
  const slowly = later(() => take(read(input.value, bounds)), 400);
  input.addEventListener("input", slowly);
  input.addEventListener("change", () => {
    const number = read(input.value, bounds);
    if (number === null) { input.value = held; say(`${label} is ${held === "" ? "empty" : held} again: that was not a ${bounds.kind === "whole" ? "whole number" : "number"}.`); } else take(number);
  });
  const move = (/** @type {number} */ sign) => () => {
    const from = read(input.value, bounds);
    const step = bounds.step ?? 1;
    const begun = typeof from === "number" ? from + sign * step : bounds.start ?? bounds.low ?? 0;
    const least = bounds.open_low ? Math.min((bounds.low ?? 0) + step, typeof from === "number" ? from : Infinity) : bounds.low ?? -Infinity;
    const number = tidy(Math.min(Math.max(begun, least), bounds.high ?? Infinity));
    input.value = String(number);
    take(number);
    say(`${label} ${number}`);
  };
  return h("div", { class: "field number" }, h("label", { for: id }, label),
    h("div", { class: "stepper" },
      h("button", { type: "button", id: `${id}-less`, "aria-label": `${label}: less`, onclick: move(-1) }, "−"), input,
      h("button", { type: "button", id: `${id}-more`, "aria-label": `${label}: more`, onclick: move(1) }, "+")),
    help ? h("p", { class: "soft", id: `${id}-help` }, help) : null);
}

/**
 * Boxes to tick, one for each of some names. `chosen` is a set; `onchange` gets the names in the order given.
 * @param {string} id
 * @param {string} legend
 * @param {string[]} names
 * @param {Set<string>} chosen
 * @param {(names: string[]) => unknown} onchange
 * @param {string} [help]
 * @returns {HTMLElement}
 */
export function ticks(id, legend, names, chosen, onchange, help) {
  /** @type {HTMLInputElement[]} */
  const boxes = names.map((name, index) => h("input", { type: "checkbox", id: `${id}-${index}`, checked: chosen.has(name),
    onchange: () => onchange(names.filter((_, other) => boxes[other].checked)) }));
  return h("fieldset", { class: "ticks", id }, h("legend", {}, legend), help ? h("p", { class: "soft" }, help) : null,
    names.map((name, index) => h("label", {}, boxes[index], " ", name)));
}

/**
 * Draw a part again and leave what is folded open or shut as the reader had it, by id.
 * @param {HTMLElement} element
 * @param {() => void} draw
 */
export function keepingOpen(element, draw) {
  const folds = () => /** @type {HTMLDetailsElement[]} */ ([...element.querySelectorAll("details[id]")]);
  const before = new Map(folds().map((each) => [each.id, each.open]));
  draw();
  for (const each of folds()) each.open = before.get(each.id) ?? each.open;
}
