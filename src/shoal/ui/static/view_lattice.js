// The lattice: every combination of levels as a node, of which a minimal one can be picked and released.
import { api, applyEdits, attempt, count, duration, fill, h, rounded, say, state, table, watch } from "./core.js";
import { reported } from "./report_parts.js";
import { startRun } from "./runs_poll.js";

/** @import { LatticeAnswer, LatticeNode, LatticeView, Run, ViewParts } from "./types" */

/** @param {ViewParts} parts */
export async function drawLattice({ body, rest, alive }) {
  const view = { going: h("div", { role: "status" }), box: h("div"), alive, number: rest[0] ?? lastLattice()?.number, shown: null };
  const draw = async () => { view.number = (await startRun("lattice")).number; };
  fill(body,
    h("p", {}, "If every column is released at one level, a release is a choice of levels: a node of the lattice. A node is minimal if it satisfies the policy and no less general node does. Which minimal node is best is your decision."),
    h("div", { class: "buttons" }, h("button", { type: "button", id: "lattice-draw", class: "strong", onclick: () => attempt(async () => { await draw(); await follow(view); }) }, "Draw the lattice of this policy")),
    view.going, view.box);
  const stop = watch((what) => {
    if (!alive()) stop();
    else if (what === "runs") attempt(() => follow(view));
  });
  await follow(view);
}

/**
 * The lattice that goes on, or else the one that was drawn last.
 * @returns {Run | undefined}
 */
function lastLattice() {
  const all = state.runs.filter((run) => run.kind === "lattice");
  return all.find((run) => run.state === "running") ?? all.findLast((run) => run.state === "done");
}

/**
 * Tell how far a run is; when it has ended, show what it found.
 * @param {LatticeView} view
 */
async function follow(view) {
  const run = state.runs.find((each) => each.number === view.number);
  if (!run) return;
  if (run.state === "running") {
    fill(view.going, h("p", {}, `${run.stage ?? "Waiting"} … ${duration(run.seconds ?? 0)}`), h("progress", { max: "1", value: run.share ?? 0, "aria-label": "Progress" }),
      h("div", { class: "buttons" }, h("button", { type: "button", id: "lattice-cancel", onclick: () => attempt(() => api.post(`/api/runs/${run.number}/cancel`)) }, "Stop")));
  } else if (view.shown !== run.number) {
    view.shown = run.number;
    fill(view.going, run.state === "done" ? null : h("p", { class: "complaint" }, run.error?.message ?? "The lattice was not drawn."));
    if (run.state === "done") await show(view, run.number);
  }
}

/** @param {LatticeView} view @param {string} run */
async function show({ box, alive }, run) {
  const answer = await api.desk("lattice_svg", { run });
  if (!alive()) return;
  const figure = reported(answer.figure);
  const facts = h("div", { id: "lattice-facts", class: "card", "aria-live": "polite" }, h("p", { class: "soft" }, "Choose a node with a click, or with Tab and the arrow keys."));
  fill(box,
    answer.changed ? h("p", { class: "warning" }, "The policy has changed since this lattice was drawn. Draw it again before you choose a node.") : null,
    answer.satisfiable ? null : h("p", { class: "warning" }, "No node satisfies the policy: relax it first."),
    figure, facts, minimalTable(answer, figure));
  for (const node of answer.minimal) lossUnder(figure, node);
  wire(figure, (node) => describe(facts, node, answer, run));
}

/**
 * What a minimal node loses, under its levels.
 * @param {HTMLElement} figure
 * @param {LatticeNode} node
 */
function lossUnder(figure, { id, loss }) {
  figure.querySelector(`[data-node="${CSS.escape(id)}"]`)?.append(h("svg:text", { y: "3.2em", class: "drawn-loss" }, rounded(loss, 3)));
}

/** @param {LatticeAnswer} answer @param {HTMLElement} figure @returns {HTMLElement | null} */
function minimalTable({ minimal, metric, quasi }, figure) {
  if (!minimal.length) return null;
  const show = (/** @type {string} */ id) => nodesOf(figure).find((node) => node.dataset.node === id)?.focus();
  return table(`${count(minimal.length, "minimal node")} in figures, the best by ${metric} first`, ["Node", metric, "Classes", "Suppressed", ...quasi.map((name) => `Level of ${name}`)], minimal.map((node) => [
    h("button", { type: "button", class: "plain", id: `node-${node.id}`, onclick: () => show(node.id) }, "Show", h("span", { class: "visually-hidden" }, ` ${Object.values(node.levels).join(" ")} in the picture`)),
    rounded(node.loss, 3), count(node.classes), count(node.suppressed), ...quasi.map((name) => node.levels[name])]));
}

/** @param {HTMLElement} figure @returns {SVGElement[]} */
function nodesOf(figure) { return [...figure.querySelectorAll("[data-node]")].map((each) => /** @type {SVGElement} */ (each)); }

/** @param {SVGElement} node @returns {DOMRect} */
function outline(node) { return (node.querySelector("path") ?? node).getBoundingClientRect(); }

/**
 * One node of the picture is in the tab order; the arrow keys go to its neighbours.
 * @param {HTMLElement} figure
 * @param {(node: SVGElement) => void} chosen
 */
function wire(figure, chosen) {
  const nodes = nodesOf(figure);
  const first = nodes.find((node) => node.querySelector(".drawn-ring")) ?? nodes.find((node) => node.dataset.state === "minimal") ?? nodes[0];
  const hold = (/** @type {SVGElement} */ node) => { for (const each of nodes) each.setAttribute("tabindex", each === node ? "0" : "-1"); };
  hold(first);
  for (const node of nodes) {
    node.addEventListener("focus", () => { hold(node); chosen(node); });
    node.addEventListener("click", () => node.focus());
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); document.getElementById("lattice-pick")?.focus(); return; }
      const next = neighbour(nodes, node, event.key);
      if (next) { event.preventDefault(); next.focus(); }
    });
  }
  if (!first) return;
  chosen(first);
  const box = /** @type {HTMLElement} */ (figure.querySelector(".lattice"));
  box.scrollLeft = outline(first).x - box.getBoundingClientRect().x - box.clientWidth / 2;
}

/** @type {Record<string, number[]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * The nearest node in the direction of an arrow key.
 * @param {SVGElement[]} nodes
 * @param {SVGElement} node
 * @param {string} key
 * @returns {SVGElement | null}
 */
function neighbour(nodes, node, key) {
  const way = WAYS[key];
  if (!way) return null;
  const middle = (/** @type {SVGElement} */ each) => { const box = outline(each); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const [x, y] = middle(node);
  const found = nodes.filter((each) => each !== node).map((each) => {
    const [atX, atY] = middle(each);
    const along = (atX - x) * way[0] + (atY - y) * way[1];
    const aside = Math.abs((atX - x) * way[1]) + Math.abs((atY - y) * way[0]);
    return { each, along, far: way[0] ? along + 1000 * (aside > 4 ? 1 : 0) : along * 100 + aside };
  }).filter(({ along }) => along > 4).sort((one, other) => one.far - other.far);
  return found.length && (!way[0] || found[0].far < 1000 + found[0].along) ? found[0].each : null;
}

/** @param {HTMLElement} facts @param {SVGElement} node @param {LatticeAnswer} answer @param {string} run */
function describe(facts, node, { heights, quasi, changed, texts }, run) {
  const levels = JSON.parse(node.dataset.levels ?? "{}");
  const lines = texts[node.dataset.node ?? ""] ?? [];
  const minimal = node.dataset.state === "minimal";
  fill(facts, h("p", {}, h("strong", {}, lines[0])), lines.slice(1).map((line) => h("p", {}, line)),
    h("ul", {}, quasi.map((name) => h("li", {}, h("bdi", {}, name), `: level ${levels[name]} of ${heights[name]}${levels[name] === 0 ? ", unchanged" : ""}`))),
    minimal
      ? h("button", { type: "button", id: "lattice-pick", class: "strong", disabled: changed, onclick: () => attempt(() => pick(run, levels)) }, "Release this node")
      : h("p", { class: "soft" }, node.dataset.state === "satisfied" ? "It satisfies the policy, but so does a less general node: choose a minimal one." : "It does not satisfy the policy."));
}

/** @param {string} run @param {Record<string, number>} levels */
async function pick(run, levels) {
  const { edits } = await api.desk("pick_node", { run, levels });
  await applyEdits(edits);
  location.hash = "#/runs";
  say("The policy now releases this node. Start the run.");
}
