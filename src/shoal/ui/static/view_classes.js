// The classes: how large, where each model is weakest, and all of them, the smallest first.
import { api, attempt, count, displayValue, fill, h, rounded, table } from "./core.js";
import { reported } from "./report_parts.js";

/** @import { Address, Child, ClassesAnswer, Run, Value, ViewParts, WeakestClass } from "./types" */

const PAGE = 25;

/** @param {ViewParts} parts */
export async function drawClasses({ run, body, alive, address }) {
  const [about, first] = await Promise.all([api.desk("about_run", { run: run.number, sections: ["sizes"] }), api.desk("classes", { run: run.number, limit: PAGE })]);
  if (!alive()) return;
  const list = h("div");
  fill(body,
    h("p", {}, "A class is a group of records that are released alike: anyone who knows a person's quasi-identifiers finds the class, not the record."),
    reported(about.sizes),
    h("h3", {}, "Where each model is weakest"),
    first.weakest.length ? weakestTable(first.weakest, address) : h("p", {}, "The evidence lists no weakest class."),
    h("h3", {}, "All classes, the smallest first"), list);
  drawList({ run, list, alive, address }, first);
}

/** @param {WeakestClass[]} weakest @param {Address} address @returns {HTMLElement} */
function weakestTable(weakest, address) {
  const inPeople = weakest[0].people !== null;
  return table("The weakest class of each model", ["Model", "Reached there", "See", ...(inPeople ? ["People"] : []), "Records", "Labels"], weakest.map((each) => [
    [each.title, each.sensitive === null ? "" : [" on ", h("bdi", {}, each.sensitive)]],
    `${each.parameter} = ${each.strength === null ? "unlimited" : rounded(each.strength, 6)}${each.as_weak > 1 ? ` (${count(each.as_weak)} classes are as weak)` : ""}`,
    links(each.class, address), ...(inPeople ? [count(each.people ?? 0)] : []), count(each.size), labels(each.labels)]));
}

/** @param {Record<string, Value>} given @returns {HTMLElement} */
function labels(given) {
  return h("span", {}, Object.entries(given).map(([name, label], at) => [at ? ", " : "", h("bdi", { class: "soft" }, name), " ", h("bdi", {}, displayValue(label))]));
}

/** @param {number | null} number @param {Address} address @returns {Child} */
function links(number, address) {
  return number ? [h("a", { href: address(`records/class/${number}`) }, `Class ${count(number)}`), ", ", h("a", { href: address(`why/class/${number}`) }, "why")] : null;
}

/**
 * @param {{ run: Run, list: HTMLElement, alive: () => boolean, address: Address }} view
 * @param {ClassesAnswer} answer
 */
function drawList(view, answer) {
  const secrets = Object.keys(answer.listed[0]?.secrets ?? {});
  const inPeople = (answer.listed[0]?.people ?? null) !== null;
  const end = answer.offset + answer.listed.length;
  const move = (/** @type {number} */ offset) => attempt(async () => {
    const next = await api.desk("classes", { run: view.run.number, offset, limit: PAGE });
    if (view.alive()) drawList(view, next);
  });
  fill(view.list,
    table(`Classes ${count(answer.offset + 1)} to ${count(end)} of ${count(answer.classes)}`, ["Class", ...(inPeople ? ["People"] : []), "Records", ...answer.quasi, ...secrets.map((name) => `Values of ${name}`)], answer.listed.map((each) => [
      links(each.class, view.address), ...(inPeople ? [count(each.people ?? 0)] : []), count(each.size), ...answer.quasi.map((name) => displayValue(each.labels[name])),
      ...secrets.map((name) => !each.secrets[name].values ? "nothing is known" : [`${count(each.secrets[name].values, "value")}; most: `, h("bdi", {}, displayValue(each.secrets[name].most)), ` (${count(each.secrets[name].records)} of ${count(each.size)})`])])),
    h("div", { class: "buttons" },
      h("button", { type: "button", id: "classes-before", disabled: answer.offset === 0, onclick: () => move(Math.max(0, answer.offset - PAGE)) }, "Smaller classes"),
      h("button", { type: "button", id: "classes-after", disabled: end >= answer.classes, onclick: () => move(end) }, "Larger classes")));
}
