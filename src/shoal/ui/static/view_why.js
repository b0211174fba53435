// Why a record or a class was generalized so far, and what one step finer would do, column by column.
import { api, count, fill, h, currentTable, say } from "./core.js";

/** @import { Address, ViewParts, WhyAnswer, WhyColumn } from "./types" */

/** @type {Record<string, string[]>} */
const VERDICTS = {
  "as it is": ["not generalized", "good"],
  open: ["could be more detailed", "good"],
  "open at a price": ["could be more detailed if more records are suppressed", "good"],
  blocked: ["cannot be more detailed", "bad"],
};

/** @param {ViewParts} parts */
export async function drawWhy({ run, body, rest, alive, address }) {
  const box = h("div");
  const { records } = currentTable();
  const input = h("input", { id: "why-record", type: "number", min: "1", max: records, step: "1", required: true, value: rest[0] === "class" ? "" : rest[0] ?? "" });
  const form = h("form", { class: "buttons", onsubmit: (event) => { event.preventDefault(); location.hash = address(`why/${Number(input.value)}`); } },
    h("label", { for: "why-record" }, "Record number"), input, h("button", { type: "submit", id: "why-ask", class: "strong" }, "Why?"));
  fill(body,
    h("p", {}, `Records are counted from 1 to ${count(records)} in the order of your file. `, h("a", { href: address("records") }, "Find one by its values"), "."),
    form, box);
  if (!rest.length) return;
  const subject = rest[0] === "class" ? { class: Number(rest[1]) } : { record: Number(rest[0]) };
  const answer = await api.desk("why", { run: run.number, ...subject });
  if (alive()) drawAnswer(box, answer, address);
}

/** @param {HTMLElement} box @param {WhyAnswer} answer @param {Address} address */
function drawAnswer(box, answer, address) {
  fill(box,
    h("div", { id: "why-answer" }, answer.head.map((line) => h("p", {}, line)),
      answer.summary.length ? h("ul", {}, answer.summary.map((line) => h("li", {}, line))) : null,
      answer.class ? h("p", {}, h("a", { href: address(`records/class/${answer.class}`) }, `See the ${count(answer.size, "record")} of class ${count(answer.class)}`)) : null),
    answer.columns.length ? h("h3", {}, "What prevents more detail, column by column") : null,
    h("ul", { class: "cards" }, answer.columns.map(columnCard)));
  say(answer.head.join(" "));
}

/** @param {WhyColumn} column @returns {HTMLElement} */
function columnCard({ column, verdict, released, lines }) {
  const [words, kind] = VERDICTS[verdict] ?? [verdict, ""];
  return h("li", { class: "card" }, h("h4", {}, h("bdi", {}, column), h("span", { class: `badge ${kind}` }, words)),
    h("p", {}, `Released: ${released}`),
    lines.length ? [h("p", {}, "One step finer:"), h("ul", {}, lines.map((line) => h("li", {}, line)))] : null);
}
