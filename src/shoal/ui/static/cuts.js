// Intervals over the column's histogram: widths a level, or cut points that are set by clicking, dragging and typing.
import { around, choice, count, field, h, say } from "./core.js";
import { bars, histogramBars, innerLevels, levelStrip, share, short } from "./number_line.js";

/** @import { Attributes, CutPoint, Cuts, EditorParts, HierarchyAnswer, Histogram, Level, NumericFacts, Scale, StripBar, Value } from "./types" */

const MOST_CUTS = 60;
/** @type {Record<string, number>} */
const ends = { "-inf": -Infinity, inf: Infinity, "+inf": Infinity };
/** @param {unknown} given @returns {number} */
const number = (given) => ends[String(given).trim().toLowerCase()] ?? (String(given).trim() === "" ? NaN : Number(given));
/** @param {number} at @returns {number | string} */
const written = (at) => (at === -Infinity ? "-inf" : at === Infinity ? "inf" : at);

/**
 * The editor for {intervals: spec}; `change(spec)` writes another one, `forms` remembers the form that is not in use.
 * @param {EditorParts} parts
 * @returns {HTMLElement}
 */
export function intervalsEditor({ spec, facts, answer, change, forms }) {
  const { histogram } = facts;
  if (!histogram) return h("p", { class: "warning" }, "Not all values of this column are numbers, so there is no histogram. Choose another kind, or list the other values as missing.");
  const byCuts = spec.cuts?.length > 0;
  const numeric = { ...facts, histogram };
  const use = (/** @type {"widths" | "cuts"} */ form) => { forms[byCuts ? "cuts" : "widths"] = spec; change(forms[form] ?? (form === "cuts" ? cutsFrom(spec, histogram) : { widths: [niceWidth(histogram)] })); };
  /** @type {["widths" | "cuts", string][]} */
  const options = [["widths", "equal widths"], ["cuts", "custom cut points"]];
  return h("div", {},
    h("fieldset", { class: "plain" }, h("legend", {}, "Intervals of"), options.map(([form, text]) => h("label", { class: "option" },
      h("input", { type: "radio", name: "interval-form", id: `form-${form}`, value: form, checked: byCuts === (form === "cuts"), onchange: () => use(form) }), ` ${text}`))),
    byCuts ? cutsPart(spec, numeric, answer, change) : widthsPart(spec, numeric, answer, change, forms));
}

/**
 * The interval that a label such as "[20, 25)" names.
 * @param {Value} label
 * @param {number} count_
 * @returns {StripBar | null}
 */
function interval(label, count_) {
  const found = /^[[(](\S+), (\S+)[)\]]$/.exec(label ?? "");
  return found ? { from: number(found[1]), to: number(found[2]), count: count_, label } : null;
}

/**
 * From where to where is drawn: the data, and the finest intervals that hold them.
 * @param {Histogram} histogram
 * @param {StripBar[][]} levels
 * @returns {Scale}
 */
function scaleOf(histogram, levels) {
  const all = (levels[0] ?? []).flatMap((each) => [each.from, each.to]).filter(Number.isFinite);
  return { low: Math.min(histogram.low, ...all), high: Math.max(histogram.high, ...all) };
}

/** @param {HierarchyAnswer | null} answer @returns {{ level: Level, list: StripBar[] }[]} */
function drawnLevels(answer) {
  return innerLevels(answer, interval);
}

/**
 * @param {NumericFacts} facts
 * @param {HierarchyAnswer | null} answer
 * @param {((scale: Scale) => HTMLElement) | null} [over]
 * @returns {HTMLElement}
 */
function picture(facts, answer, over = null) {
  const levels = drawnLevels(answer);
  const scale = scaleOf(facts.histogram, levels.map((each) => each.list));
  return h("div", { class: "strips" },
    h("figure", { class: "strip" }, h("figcaption", {}, `The data: ${count(facts.distinct, "value")} from ${short(facts.histogram.low)} to ${short(facts.histogram.high)}`),
      over ? over(scale) : bars(histogramBars(facts.histogram), scale, { role: "img", "aria-label": "Histogram of the column" })),
    levels.map(({ level, list }) => levelStrip(level, list, scale)));
}

// --- widths -------------------------------------------------------------------------------------------------------

/** @param {Scale} scale @returns {number} */
function niceWidth({ low, high }) {
  const power = 10 ** Math.floor(Math.log10(Math.max((high - low) / 10, Number.MIN_VALUE)));
  return Number((power > 0 ? power : 1).toPrecision(1));
}

/**
 * @param {string} id
 * @param {string} label
 * @param {number | string | undefined} given
 * @param {{ number: (at: number) => unknown, empty?: () => unknown }} write
 * @param {Attributes<HTMLInputElement>} [attributes]
 * @returns {HTMLInputElement}
 */
function numberInput(id, label, given, write, attributes = {}) {
  const input = h("input", { id, inputmode: "decimal", size: "8", value: given ?? "", "aria-label": label, autocomplete: "off", ...attributes });
  input.addEventListener("change", () => {
    const at = number(input.value);
    const blank = input.value.trim() === "";
    const fine = blank ? write.empty !== undefined : Number.isFinite(at);
    input.setAttribute("aria-invalid", String(!fine));
    if (!fine) { say("Enter a number."); return; }
    if (blank) write.empty?.(); else write.number(at);
  });
  return input;
}

/**
 * @param {any} spec
 * @param {NumericFacts} facts
 * @param {HierarchyAnswer | null} answer
 * @param {EditorParts["change"]} change
 * @param {EditorParts["forms"]} forms
 * @returns {HTMLElement}
 */
function widthsPart(spec, facts, answer, change, forms) {
  /** @type {number[]} */
  const widths = spec.widths ?? [];
  const write = (/** @type {object} */ changes) => {
    const next = { ...spec, ...changes };
    for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
    change(next);
  };
  const bounds = spec.bounds ?? null;
  const bound = (/** @type {number} */ index) => ({ number: (/** @type {number} */ at) => write({ bounds: index ? [bounds?.[0] ?? facts.histogram.low, at] : [at, bounds?.[1] ?? facts.histogram.high] }), empty: () => write({ bounds: undefined }) });
  return h("div", {},
    h("ol", { class: "levels", "aria-label": "Width of the intervals at each level" }, widths.map((width, index) => h("li", {},
      h("label", { for: `width-${index + 1}` }, `Level ${index + 1}: width `),
      numberInput(`width-${index + 1}`, `Width at level ${index + 1}`, width, { number: (at) => write({ widths: widths.map((each, other) => (other === index ? at : each)) }) }), " ",
      h("button", { type: "button", id: `width-remove-${index + 1}`, disabled: widths.length < 2, onclick: () => write({ widths: widths.filter((_, other) => other !== index) }) }, "Remove")))),
    h("div", { class: "buttons" }, h("button", { type: "button", id: "width-add", onclick: () => write({ widths: [...widths, 2 * (widths.at(-1) ?? 1)] }) }, "Add a level")),
    h("p", { class: "soft" }, "Each width must be a multiple of the previous one, so that every interval lies within one of the next level. The last level is always *."),
    h("details", { open: forms.open ?? (Boolean(bounds) || Boolean(spec.origin)), ontoggle: (event) => { forms.open = event.target.open; } }, h("summary", {}, "Start and range of the intervals"),
      field("Start at", numberInput("origin", "Start at", spec.origin ?? 0, { number: (at) => write({ origin: at === 0 ? undefined : at }) }), "Widths of 10 starting at 5 give [5, 15), [15, 25)."),
      h("div", { class: "buttons" }, h("span", {}, "Values range from "), numberInput("bound-low", "Smallest possible value", bounds?.[0], bound(0)), h("span", {}, " to "), numberInput("bound-high", "Largest possible value", bounds?.[1], bound(1))),
      h("p", { class: "soft" }, "If empty, there are no bounds. With bounds, intervals end there and values outside are an error. Choose bounds that everyone knows (0 to 120 years), never the smallest and largest values of the data: they would reveal exact values.")),
    picture(facts, answer));
}

// --- cut points ---------------------------------------------------------------------------------------------------

/**
 * Cut points as { low, high, levels, points: [{at, upto}] }: each is kept up to a level, so that levels always nest.
 * @param {{ cuts: unknown[][] }} spec
 * @returns {Cuts}
 */
function readCuts(spec) {
  const cuts = spec.cuts.map((level) => level.map(number));
  const [finest] = cuts;
  const points = finest.slice(1, -1).map((at) => {
    let upto = 1;
    while (upto < cuts.length && cuts[upto].includes(at)) upto += 1;
    return { at, upto };
  });
  return { low: finest[0], high: finest[finest.length - 1], levels: cuts.length, points };
}

/**
 * The same as lists of cut points a level.
 * @param {Cuts} cuts
 * @returns {(number | string)[][]}
 */
function writeCuts({ low, high, levels, points }) {
  const ordered = [...points].sort((a, b) => a.at - b.at).filter((point, index, all) => point.at > low && point.at < high && (!index || point.at !== all[index - 1].at));
  return Array.from({ length: levels }, (_, index) => [low, ...ordered.filter((point) => point.upto > index).map((point) => point.at), high].map(written));
}

/**
 * Cut points that begin as the widths would cut, as far as they are not too many to handle.
 * @param {{ widths?: number[], origin?: number }} widths
 * @param {Scale} scale
 * @returns {{ cuts: (number | string)[][] }}
 */
function cutsFrom({ widths = [], origin = 0 }, { low, high }) {
  const given = widths.filter((width) => width > 0);
  const fit = given.filter((width) => (high - low) / width <= MOST_CUTS);
  const used = fit.length ? fit : [Math.max((high - low) / 4, Number.MIN_VALUE)];
  const points = [];
  for (let step = Math.floor((low - origin) / used[0]) + 1; origin + step * used[0] <= high && points.length < MOST_CUTS; step += 1) {
    const at = Number(short(origin + step * used[0]));
    points.push({ at, upto: 1 + used.slice(1).filter((width) => Math.abs((at - origin) / width - Math.round((at - origin) / width)) < 1e-9).length });
  }
  return { cuts: writeCuts({ low: -Infinity, high: Infinity, levels: used.length, points }) };
}

/**
 * @param {any} spec
 * @param {NumericFacts} facts
 * @param {HierarchyAnswer | null} answer
 * @param {EditorParts["change"]} change
 * @returns {HTMLElement}
 */
function cutsPart(spec, facts, answer, change) {
  const model = readCuts(spec);
  const write = (/** @type {Partial<Cuts>} */ changes) => change({ ...spec, cuts: writeCuts({ ...model, ...changes }) });
  const add = (/** @type {number} */ at) => { write({ points: [...model.points, { at, upto: model.levels }] }); say(`Cut at ${at} added.`); };
  const fresh = numberInput("cut-new", "New cut point", "", { number: add, empty: () => {} });
  const end = (/** @type {"low" | "high"} */ which, /** @type {number} */ outer, /** @type {string} */ text) => numberInput(`cut-${which}`, text, Number.isFinite(model[which]) ? model[which] : "", { number: (at) => write({ [which]: at }), empty: () => write({ [which]: outer }) }, { placeholder: "open" });
  return h("div", {},
    h("p", { class: "soft" }, "Click the histogram to add a cut; drag a cut, or move it with the arrow keys. A cut belongs to the interval on its right: 65 starts [65, …)."),
    picture(facts, answer, (scale) => cuttable(facts, model, scale, write, add)),
    h("div", { class: "buttons" }, h("label", { for: "cut-new" }, "Cut at"), fresh, h("button", { type: "button", id: "cut-add", onclick: () => fresh.dispatchEvent(new Event("change")) }, "Add cut")),
    h("div", { class: "buttons" }, h("span", {}, "Lowest end "), end("low", -Infinity, "Lowest end, empty for open"), h("span", {}, " highest end "), end("high", Infinity, "Highest end, empty for open")),
    h("div", { class: "buttons" },
      h("button", { type: "button", id: "cut-level-add", onclick: () => write({ levels: model.levels + 1, points: model.points.map((point, index) => (index % 2 && point.upto === model.levels ? { ...point, upto: model.levels + 1 } : point)) }) }, "Add a level"),
      h("button", { type: "button", id: "cut-level-remove", disabled: model.levels < 2, onclick: () => write({ levels: model.levels - 1, points: model.points.map((point) => ({ ...point, upto: Math.min(point.upto, model.levels - 1) })) }) }, "Remove the last level"),
      h("span", { class: "soft" }, count(model.levels, "level"))),
    h("ol", { class: "levels cuts", "aria-label": "Cut points" }, model.points.map((point, index) => cutRow(model, point, index, write))));
}

/**
 * @param {Cuts} model
 * @param {CutPoint} point
 * @param {number} index
 * @param {(changes: Partial<Cuts>) => unknown} write
 * @returns {HTMLElement}
 */
function cutRow(model, point, index, write) {
  const replace = (/** @type {Partial<CutPoint>} */ changes) => write({ points: model.points.map((each, other) => (other === index ? { ...each, ...changes } : each)) });
  return h("li", {}, numberInput(`cut-at-${index}`, `Cut point ${index + 1}`, point.at, { number: (at) => replace({ at }) }), " ",
    choice(`cut-upto-${index}`, Array.from({ length: model.levels }, (_, level) => [String(level + 1), model.levels === 1 ? "level 1" : `kept up to level ${level + 1}`]), String(point.upto), (upto) => replace({ upto: Number(upto) }), { "aria-label": `Cut ${point.at} is kept up to level` }), " ",
    h("button", { type: "button", id: `cut-remove-${index}`, "aria-label": `Remove the cut at ${point.at}`, onclick: () => write({ points: model.points.filter((_, other) => other !== index) }) }, "Remove"));
}

/**
 * A sensible distance between positions that a pointer can choose: about a two-hundredth of the picture, rounded.
 * @param {Scale} scale
 * @param {Histogram} histogram
 * @returns {number}
 */
function stepOf({ low, high }, histogram) {
  const raw = (high - low) / 200;
  const power = 10 ** Math.floor(Math.log10(raw > 0 ? raw : 1));
  const step = [1, 2, 5].map((digit) => digit * power).find((each) => each >= raw) ?? 10 * power;
  const whole = Number.isInteger(histogram.low) && Number.isInteger(histogram.high);
  return whole ? Math.max(1, Math.round(step)) : step;
}

/**
 * @param {NumericFacts} facts
 * @param {Cuts} model
 * @param {Scale} scale
 * @param {(changes: Partial<Cuts>) => unknown} write
 * @param {(at: number) => unknown} add
 * @returns {HTMLElement}
 */
function cuttable(facts, model, scale, write, add) {
  const step = stepOf(scale, facts.histogram);
  const rounded = (/** @type {number} */ at) => Number(short(Math.round(at / step) * step));
  const box = h("div", { class: "cuttable", id: "cut-histogram" }, bars(histogramBars(facts.histogram), scale, { role: "img", "aria-label": "Histogram of the column" }));
  const at = (/** @type {MouseEvent} */ event) => { const { left, width } = box.getBoundingClientRect(); return rounded(scale.low + ((event.clientX - left) / width) * (scale.high - scale.low)); };
  box.addEventListener("click", (event) => { if (!around(event, ".cut")) add(at(event)); });
  model.points.forEach((point, index) => box.append(handle(point, index, { scale, step, at, move: (to) => write({ points: model.points.map((each, other) => (other === index ? { ...each, at: to } : each)) }), drop: () => write({ points: model.points.filter((_, other) => other !== index) }) })));
  return box;
}

/**
 * @param {CutPoint} point
 * @param {number} index
 * @param {{ scale: Scale, step: number, at: (event: MouseEvent) => number, move: (to: number) => unknown, drop: () => unknown }} parts
 * @returns {HTMLElement}
 */
function handle(point, index, { scale, step, at, move, drop }) {
  const text = h("span", { class: "cut-text" }, short(point.at));
  const mark = h("div", {
    class: "cut", id: `cut-${index}`, role: "slider", tabindex: "0", "aria-label": `Cut point ${index + 1}, kept up to level ${point.upto}`, "aria-orientation": "horizontal",
    "aria-valuemin": scale.low, "aria-valuemax": scale.high, "aria-valuenow": point.at, style: { left: `${share(point.at, scale)}%` },
  }, text);
  const show = (/** @type {number} */ to) => { mark.style.setProperty("left", `${share(to, scale)}%`); text.textContent = short(to); };
  /** @type {number | null} */
  let now = null;
  mark.addEventListener("pointerdown", (event) => { mark.setPointerCapture(event.pointerId); now = point.at; event.preventDefault(); mark.focus(); });
  mark.addEventListener("pointermove", (event) => { if (now !== null) { now = at(event); show(now); } });
  mark.addEventListener("pointerup", () => { const to = now; now = null; if (to !== null && to !== point.at) move(to); });
  mark.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (by) { event.preventDefault(); move(Number(short(point.at + by * step))); } else if (event.key === "Delete") { event.preventDefault(); drop(); }
  });
  return mark;
}
