// Codes masked from one side, character by character or in steps.
import { choice, field, h, say } from "./core.js";

/** @import { EditorParts } from "./types" */

const ALPHABETS = [["", "only codes in the data"], ["digits", "all codes of digits"], ["letters", "all codes of letters"], ["alphanumeric", "all codes of letters and digits"], ["own", "all codes of these characters:"]];

/**
 * The editor for {mask: spec}; what three values become stands in the table of levels below it.
 * @param {EditorParts} parts
 * @returns {HTMLElement}
 */
export function maskEditor({ spec, facts, change }) {
  const write = (/** @type {object} */ changes) => {
    const next = { side: "right", ...spec, ...changes };
    for (const key of Object.keys(next)) if (next[key] === undefined || next[key] === null) delete next[key];
    change(next);
  };
  const own = spec.alphabet && !ALPHABETS.some(([name]) => name === spec.alphabet);
  const steps = h("input", { id: "mask-steps", value: (spec.steps ?? []).join(", "), placeholder: "each character", autocomplete: "off", onchange: (event) => {
    const given = event.target.value.split(/[,;\s]+/).filter((part) => part !== "").map(Number);
    const fine = given.every((step) => Number.isInteger(step) && step > 0);
    event.target.setAttribute("aria-invalid", String(!fine));
    if (!fine) { say("Enter whole numbers separated by commas, such as 1, 3, 5."); return; }
    write({ steps: given.length ? given : undefined });
  } });
  return h("div", {},
    field("Characters become * from", choice("mask-side", [["right", "the right: 14248, 1424*, 142**"], ["left", "the left: 14248, *4248, **248"]], spec.side ?? "right", (side) => write({ side }))),
    field("Levels", steps, `Characters that each level masks, such as 2, 4. If empty, each character is a level; the longest value has ${facts.longest} characters.`),
    field("Codes that a masked code covers", choice("mask-alphabet", ALPHABETS, own ? "own" : spec.alphabet ?? "", (name) => write({ alphabet: name === "own" ? "0123456789" : name || undefined })),
      "Only affects how loss is measured. Where few of the possible codes are in use, as with postal codes, choose those in the data."),
    own || spec.alphabet === "0123456789" ? field("The characters", h("input", { id: "mask-characters", value: spec.alphabet, autocomplete: "off", onchange: (event) => { if (event.target.value) write({ alphabet: event.target.value }); } })) : null);
}
