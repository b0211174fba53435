// Parts of the report, which the server writes as HTML, made into elements of this page: only what is listed here comes
// through, and everything else as the text in it. Nothing is ever handed to the browser as markup of the page itself.
import { h } from "./core.js";

/** @import { Child } from "./types" */

const HTML = new Set(["p", "ul", "ol", "li", "div", "span", "strong", "em", "small", "br", "bdi", "code", "dl", "dt", "dd", "h3", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details", "summary"]);
const SVG = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "title", "desc"]);
const ATTRIBUTES = new Set(["class", "id", "scope", "colspan", "role", "tabindex", "width", "height", "x", "y", "dx", "dy", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d", "transform", "viewBox", "overflow", "text-anchor", "aria-label", "aria-labelledby", "aria-hidden", "data-node", "data-levels", "data-state"]);

/**
 * The elements of a part of the report. Classes of drawings get names of their own: those of the report are short.
 * @param {string} text
 * @returns {HTMLElement}
 */
export function reported(text) {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  return h("div", { class: "reported" }, [...parsed.body.childNodes].map(copied));
}

/** @param {Node} node @returns {Child} */
function copied(node) {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element)) return null;
  const drawn = node.namespaceURI === "http://www.w3.org/2000/svg";
  const children = [...node.childNodes].map(copied);
  if (!(drawn ? SVG : HTML).has(node.localName)) return children;
  const given = [...node.attributes].filter((each) => ATTRIBUTES.has(each.name)).map((each) => [each.name, each.value]);
  if (drawn) for (const each of given) if (each[0] === "class") each[1] = each[1].split(/\s+/).map((name) => `drawn-${name}`).join(" ");
  const scrolls = node.localName === "div" && node.classList.contains("table") ? { tabindex: "0", role: "region", "aria-label": node.querySelector("caption")?.textContent ?? "Table" } : {};
  return h(drawn ? `svg:${node.localName}` : node.localName, { ...Object.fromEntries(given), ...scrolls }, children);
}
