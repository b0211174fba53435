// All runs of the session by what they lose and what risk they leave.
import { api, attempt, choice, count, field, fill, h, rounded, table } from "./core.js";
import { reported } from "./report_parts.js";

/** @import { Address, PlotAnswer, PlotPoint, ViewParts } from "./types" */

const axes = { across: "loss", up: "average" };

/** @param {ViewParts} parts */
export async function drawPlot(parts) {
  const { body, alive, address } = parts;
  const answer = await api.desk("runs_plot", axes);
  if (!alive()) return;
  const again = (/** @type {Partial<typeof axes>} */ changes) => { Object.assign(axes, changes); attempt(() => drawPlot(parts)); };
  const words = answer.risks.find(([name]) => name === axes.up)?.[2];
  fill(body,
    h("p", {}, `Each shape is a finished run with its number. Lower is less risk (${words}); further ${answer.higher_is_better ? "right" : "left"} is less loss. The dashed line is the frontier: no other run is better in one and at least as good in the other.`),
    h("div", { class: "columns-2" },
      field("Across: loss", choice("plot-across", answer.measures, axes.across, (across) => again({ across }))),
      field("Up: risk", choice("plot-up", answer.risks.map(([name, head]) => [name, head]), axes.up, (up) => again({ up })))),
    answer.figure ? plot(answer, answer.figure, address) : h("p", {}, "No finished run has these figures yet."),
    answer.without.length ? h("p", { class: "soft" }, `Not drawn, since they have no such figure: run ${answer.without.map(Number).join(", run ")}.`) : null,
    answer.points.length ? pointTable(answer, address) : null);
}

/**
 * The drawing, in which every point can be reached and leads to its run.
 * @param {PlotAnswer} answer
 * @param {string} figure
 * @param {Address} address
 * @returns {HTMLElement}
 */
function plot(answer, figure, address) {
  const drawn = reported(figure);
  const dots = [...drawn.querySelectorAll("svg[role=img] > svg")].map((dot) => /** @type {SVGElement} */ (dot));
  dots.forEach((dot, at) => {
    const point = answer.points[at];
    const go = () => { location.hash = address("summary", point.run); };
    for (const [name, value] of Object.entries({ tabindex: "0", role: "link", class: "drawn-point", id: `point-${point.run}`, "aria-label": pointText(point) })) dot.setAttribute(name, value);
    dot.addEventListener("click", go);
    dot.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
    dot.append(h("svg:circle", { r: "11", class: "drawn-focus" }));
  });
  drawn.querySelector("svg[role=img]")?.setAttribute("role", "group");
  return drawn;
}

/** @param {PlotPoint} point @returns {string} */
function named({ run, name }) { return `Run ${Number(run)}${name ? `: ${name}` : ""}`; }

/** @param {PlotPoint} point @returns {string} */
function pointText(point) {
  return `${named(point)}, ${point.algorithm}: ${rounded(point.across, 4)}, ${rounded(point.up, 4)}${point.rank === null ? "" : "; on the frontier"}`;
}

/** @param {PlotAnswer} answer @param {Address} address @returns {HTMLElement} */
function pointTable(answer, address) {
  const across = answer.measures.find(([name]) => name === axes.across)?.[1];
  const up = answer.risks.find(([name]) => name === axes.up)?.[1];
  return table(`${count(answer.points.length, "run")} in figures`, ["Run", "Algorithm", across, up, "Frontier"], answer.points.map((point) => [
    h("a", { href: address("summary", point.run) }, named(point)), point.algorithm, rounded(point.across, 4), rounded(point.up, 4), point.rank === null ? "" : "on the frontier"]));
}
