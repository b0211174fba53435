// Bars along one line from low to high: a histogram, and under it the groups of a level, drawn to scale.
import { count, h } from "./core.js";

/** @import { Attributes, HierarchyAnswer, Histogram, Level, Scale, StripBar, Value } from "./types" */

/**
 * Where a number lies between low and high, in percent.
 * @param {number} at
 * @param {Scale} scale
 * @returns {number}
 */
export const share = (at, { low, high }) => (high > low ? Math.max(0, Math.min(100, (100 * (at - low)) / (high - low))) : 0);

/**
 * The bars of one line; each has from, to, count, label. Heights are by records, widths to scale.
 * @param {StripBar[]} list
 * @param {Scale} scale
 * @param {Attributes<HTMLDivElement>} [attributes]
 * @returns {HTMLElement}
 */
export function bars(list, scale, attributes = {}) {
  const most = Math.max(1, ...list.map((each) => each.count));
  return h("div", { class: "bars", ...attributes }, list.map((each) => {
    const left = share(each.from, scale);
    const width = Math.max(0.15, share(each.to, scale) - left);
    return h("div", { class: "bar", title: `${each.label}: ${count(each.count, "record")}`, style: { left: `${left}%`, width: `${width}%` } },
      h("div", { class: "bar-fill", style: { "--part": String(each.count / most) } }),
      width > 7 ? h("span", { class: "bar-label" }, each.label) : null);
  }));
}

/**
 * A level's groups with a head that says how many there are and how small the smallest is.
 * @param {Level} level
 * @param {StripBar[]} list
 * @param {Scale} scale
 * @param {string} [name]
 * @returns {HTMLElement}
 */
export function levelStrip(level, list, scale, name) {
  const smallest = list.length ? Math.min(...list.map((each) => each.count)) : 0;
  const text = `Level ${level.level}${name ? `, ${name}` : ""}: ${count(level.groups, "group")}, the smallest with ${count(level.smallest ?? smallest, "record")}`;
  return h("figure", { class: "strip" }, h("figcaption", {}, text), list.length ? bars(list, scale, { role: "img", "aria-label": text }) : h("p", { class: "soft" }, "Too many groups to draw; the table of levels below has the numbers."));
}

/**
 * The levels between the values and everything, with the groups that `read` knows how to place on the line.
 * @param {HierarchyAnswer | null} answer
 * @param {(label: Value, records: number) => StripBar | null} read
 * @returns {{ level: Level, list: StripBar[] }[]}
 */
export function innerLevels(answer, read) {
  if (!answer) return [];
  return answer.levels.filter((level) => level.level > 0 && level.level < answer.height)
    .map((level) => ({ level, list: (level.drawn ?? []).map(([label, records]) => read(label, records)).filter((each) => each !== null) }));
}

/**
 * The bins of a column's histogram as bars.
 * @param {Histogram} histogram
 * @returns {StripBar[]}
 */
export function histogramBars(histogram) {
  return histogram.counts.map((amount, index) => ({ from: histogram.edges[index], to: histogram.edges[index + 1], count: amount, label: `${short(histogram.edges[index])} to ${short(histogram.edges[index + 1])}` }));
}

/**
 * A number without the noise of binary fractions.
 * @param {unknown} number
 * @returns {string}
 */
export const short = (number) => String(Number(Number(number).toPrecision(10)));
