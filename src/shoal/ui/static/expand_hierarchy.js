// A hierarchy written out. A policy with problems reaches the page as it was written by hand, short forms and all.

/** @type {Record<string, object>} */
const WORDS = { flat: { flat: true }, mask: { mask: {} }, dates: { dates: {} } };
/** @param {unknown} given @returns {boolean} */
const isMap = (given) => given !== null && typeof given === "object" && !Array.isArray(given);
/** @param {unknown} given @returns {unknown[]} */
const listed = (given) => (Array.isArray(given) ? given : []);

/** @type {Record<string, (given: any) => any>} */
const SHORT = {
  intervals: (given) => (Array.isArray(given) ? (given.some(Array.isArray) ? { cuts: given } : { widths: given }) : given),
  mask: (given) => (typeof given === "string" ? { side: given } : given),
  dates: (given) => (typeof given === "string" ? { units: [given] } : Array.isArray(given) ? { units: given } : given),
  order: (given) => (Array.isArray(given) ? { values: given } : given),
  levels: (given) => (typeof given === "string" ? { path: given } : given),
};
/** @type {Record<string, string[]>} */
const LISTS = { intervals: ["widths", "cuts"], mask: ["steps"], dates: ["units"], order: ["values", "groups"] };

/**
 * The hierarchy as a mapping with one kind, its settings as a mapping and lists where lists belong; null where there is none.
 * @param {any} given
 * @returns {any}
 */
export function expandHierarchy(given) {
  if (given === undefined || given === null) return null;
  const spec = typeof given === "string" ? WORDS[given] ?? {} : isMap(given) ? given : {};
  const [kind] = Object.keys(spec);
  if (!SHORT[kind]) return spec;
  const settings = SHORT[kind](spec[kind]);
  const own = isMap(settings) ? { ...settings } : {};
  for (const key of LISTS[kind] ?? []) if (key in own && own[key] !== null) own[key] = listed(own[key]);
  if (own.cuts) own.cuts = own.cuts.filter((/** @type {unknown} */ level) => Array.isArray(level) && level.length > 1);
  return { [kind]: own };
}
