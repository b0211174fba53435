// Dates by calendar units, each over the same line of time.
import { field, h } from "./core.js";
import { innerLevels, levelStrip } from "./number_line.js";

/** @import { EditorParts, HierarchyAnswer, StripBar, Value } from "./types" */

const UNITS = [["hour", "hour"], ["day", "day"], ["week", "week (Monday to Sunday)"], ["month", "month"], ["quarter", "quarter"], ["half", "half-year"], ["year", "year"], ["decade", "decade"], ["century", "century"]];

/**
 * The editor for {dates: spec}.
 * @param {EditorParts} parts
 * @returns {HTMLElement}
 */
export function datesEditor({ spec, answer, stale, change }) {
  /** @type {string[]} */
  const units = spec.units ?? ["month", "quarter", "year", "decade"];
  const set = (/** @type {string} */ unit, /** @type {boolean} */ wanted) => {
    const next = UNITS.map(([name]) => name).filter((name) => (name === unit ? wanted : units.includes(name)));
    const possible = !wanted ? next : unit === "week" ? next.filter((name) => ["hour", "day", "week"].includes(name)) : ["hour", "day"].includes(unit) ? next : next.filter((name) => name !== "week");
    change({ ...spec, units: possible });
  };
  const format = h("input", { id: "date-format", value: spec.format ?? "", placeholder: "ISO 8601, such as 2024-03-14", autocomplete: "off", size: "28", onchange: (event) => {
    const { format: _, ...rest } = spec;
    change(event.target.value.trim() ? { ...rest, units, format: event.target.value.trim() } : { ...rest, units });
  } });
  return h("div", {},
    h("fieldset", { class: "plain" }, h("legend", {}, "Generalize dates to"), UNITS.map(([unit, text]) => h("label", { class: "option" },
      h("input", { type: "checkbox", id: `unit-${unit}`, checked: units.includes(unit), onchange: (event) => set(unit, event.target.checked) }), ` ${text}`))),
    h("p", { class: "soft" }, "Weeks cross months and years, so only * can follow them."),
    field("Date format", format, "Leave empty for 2024-03-14. Otherwise use %d for the day, %m for the month, %Y for the year and %H:%M for the time: %d.%m.%Y reads 14.03.2024."),
    timeline(answer, stale ? [] : units));
}

/** @param {HierarchyAnswer | null} answer @param {string[]} units @returns {HTMLElement | null} */
function timeline(answer, units) {
  const levels = innerLevels(answer, period);
  const all = (levels.find((each) => each.list.length)?.list ?? []).flatMap((each) => [each.from, each.to]);
  if (!all.length) return null;
  const scale = { low: all.reduce((a, b) => Math.min(a, b)), high: all.reduce((a, b) => Math.max(a, b)) };
  return h("div", { class: "strips" }, levels.map(({ level, list }) => levelStrip(level, list, scale, units[level.level - 1])));
}

const DAY = 86400000;
/** @param {number} year @param {number} [month] @param {number} [day] @param {number} [hour] @returns {number} */
const start = (year, month = 0, day = 1, hour = 0) => { const date = new Date(0); date.setUTCFullYear(year, month, day); date.setUTCHours(hour); return date.getTime(); };

/**
 * How labels of calendar units are written, and the time that each covers.
 * @type {[RegExp, (parts: number[]) => [number, number]][]}
 */
const FORMS = [
  [/^(\d{4})-(\d\d)-(\d\d)T(\d\d)$/, ([y, m, d, hour]) => [start(y, m - 1, d, hour), start(y, m - 1, d, hour) + DAY / 24]],
  [/^(\d{4})-(\d\d)-(\d\d)$/, ([y, m, d]) => [start(y, m - 1, d), start(y, m - 1, d) + DAY]],
  [/^(\d{4})-W(\d\d)$/, ([y, w]) => { const monday = start(y, 0, 4) - ((new Date(start(y, 0, 4)).getUTCDay() + 6) % 7) * DAY + (w - 1) * 7 * DAY; return [monday, monday + 7 * DAY]; }],
  [/^(\d{4})-(\d\d)$/, ([y, m]) => [start(y, m - 1), start(y, m)]],
  [/^(\d{4})-Q(\d)$/, ([y, q]) => [start(y, 3 * q - 3), start(y, 3 * q)]],
  [/^(\d{4})-H(\d)$/, ([y, half]) => [start(y, 6 * half - 6), start(y, 6 * half)]],
  [/^(\d{4})$/, ([y]) => [start(y), start(y + 1)]],
  [/^(\d{4})s$/, ([y]) => [start(y), start(y + 10)]],
  [/^(\d{4})-\d{4}$/, ([y]) => [start(y), start(y + 100)]],
];

/**
 * The time that a label of a calendar unit covers.
 * @param {Value} label
 * @param {number} count
 * @returns {StripBar | null}
 */
function period(label, count) {
  for (const [pattern, covered] of FORMS) {
    const found = pattern.exec(label ?? "");
    if (!found) continue;
    const [from, to] = covered(found.slice(1).map(Number));
    return { from, to, count, label };
  }
  return null;
}
