// Types that the files of the page share. The type checker reads them; no browser does, and no package has this file.

/** A value of a column; null is the missing value. */
export type Value = string | null;

/** What may stand inside an element; nothing is made of undefined, null and false. */
export type Child = Node | string | number | boolean | null | undefined | Child[];

type Listener<Target, Kind extends Event = Event> = (event: Kind & { target: Target }) => unknown;

/** Attributes, properties and listeners of an element. */
export interface Attributes<Target> {
  onclick?: (event: MouseEvent) => unknown;
  onchange?: Listener<Target>;
  oninput?: Listener<Target>;
  ontoggle?: Listener<Target>;
  onsubmit?: Listener<Target, SubmitEvent>;
  style?: Record<string, string>;
  [name: string]: unknown;
}

/** Makes an element of a page, or of a drawing where its name begins with "svg:". */
export interface MakeElement {
  <Name extends keyof HTMLElementTagNameMap>(name: Name, attributes?: Attributes<HTMLElementTagNameMap[Name]>, ...children: Child[]): HTMLElementTagNameMap[Name];
  (name: string, attributes?: Attributes<Element>, ...children: Child[]): HTMLElement | SVGElement;
}

/** Stops what a function started. */
export type Stop = () => void;

/** A step of the page: one file each. */
export interface Step {
  id: string;
  title: string;
  render(root: HTMLElement, rest: string[]): Stop;
}

/** An input, select or textarea: a control that has a label. */
export type Control = HTMLElement & { id: string };

// --- the policy ---------------------------------------------------------------------------------------------------

/**
 * The policy as a document. Somebody may have written it by hand, so any part of it can be anything; its problems say
 * what is wrong.
 */
export interface Policy {
  /** Where the table is, and how it is read. */
  data?: any;
  /** A `Column` by its name. */
  columns?: any;
  /** A list of `ModelEntry`. */
  privacy?: any;
  /** A name, or an `AlgorithmEntry`. */
  algorithm?: any;
  [key: string]: any;
}

export interface Column {
  role?: string;
  hierarchy?: any;
  boundary?: Boundary;
  categories?: any;
  publish?: string;
  [key: string]: any;
}

export interface ModelEntry {
  model?: string;
  sensitive?: string | string[];
  [parameter: string]: any;
}

export interface AlgorithmEntry {
  name: string;
  [option: string]: any;
}

export type Boundary = number | string | Value[] | null;

/** A boundary as the page edits it: a level, or the labels of groups. */
export interface Limit {
  level: number | null;
  labels: Value[];
}

/** Something wrong with the policy. */
export interface Problem {
  code: string;
  where: string;
  /** The top key of the policy, the column under `columns`, the entry under `privacy`. */
  section: string;
  column: string | null;
  entry: number | null;
  message: string;
  fix: string;
  /** Changes of the policy, each of which would fix it. */
  edits?: { label: string; edits: Suggestion["edits"] }[];
}

/** A change of the policy that would help, with the edits that make it. */
export interface Suggestion {
  label: string;
  code: string;
  edits: { path: (string | number | null)[]; value: unknown; sensitive?: string }[];
}

/** What is wrong with a policy, what it can reach and how long a run takes; the last two where they were asked for. */
export interface Review extends MayBeOutdated {
  problems?: Problem[];
  forecast?: Forecast | null;
  estimate?: Estimate | null;
}

/** What saving the policy answers: its file, and its review unless that is `pending`. */
export interface Saved extends Review {
  yaml: string;
  revision: string;
  policy: Policy;
  pending?: boolean;
  trouble?: Failure;
}

// --- what the page knows ------------------------------------------------------------------------------------------

/** What a change of the state was about. */
export type ChangeKind = "table" | "facts" | "policy" | "saved" | "runs";

export interface PageState {
  table: Table | null;
  policy: Policy;
  yaml: string;
  revision: string;
  problems: Problem[];
  runs: Run[];
  limits: { bytes: number; rows: number };
  suffixes: string[];
  shared: boolean;
  /** What the steps need to know of each model. */
  models: Record<string, { sensitive: boolean; by_category: string[] }>;
  /** The algorithm where the policy names none. */
  algorithm: string;
  /** The answer to the last change that was saved, and the policy that it is about. */
  reviewed: { policy: Policy; answer: Saved } | null;
}

/** What opening a table answers. */
export interface Opened {
  table: Table;
  policy: Policy;
  yaml: string;
  revision: string;
}

export interface Table {
  name: string;
  bytes: number;
  records: number;
  unique: number;
  columns: TableColumn[];
  unreadable: { name: string; kind: string }[];
  reading: Reading;
  why_reading: string[];
}

/** How the file was read, as far as it can be read in another way. */
export interface Reading {
  separator?: string;
  encoding?: string;
  sheet?: string;
  sheets?: string[];
}

export interface TableColumn {
  name: string;
  kind: string;
  distinct: number;
  missing: number;
  samples: string[];
  odd: string[];
  role: string;
  why: string;
  warning: string;
  suited: any;
}

export interface Run {
  number: string;
  kind: "release" | "lattice";
  name: string;
  state: "running" | "done" | "failed" | "cancelled" | "interrupted";
  started: number;
  stage?: string;
  /** Whether it waits for other runs. */
  waiting?: boolean;
  share?: number;
  seconds?: number;
  summary?: RunSummary;
  error?: Failure & { problems?: Problem[]; reasons?: string; suggestions?: Suggestion[] };
}

export interface RunSummary {
  algorithm?: string;
  released?: number;
  suppressed?: number;
  classes?: number;
  measures?: Record<string, number>;
  /** Whether to publish the release: a code and its words. */
  verdict?: { decision: "publish" | "publish-with-caveats" | "do-not-publish"; text: string };
}

/** An error as the server words it. */
export interface Failure {
  error?: string;
  code?: string;
  message: string;
}

// --- answers of the session's desk --------------------------------------------------------------------------------

/** The answer to each question; one that a newer question overtook is only `outdated`. */
export interface Answers {
  open_example: Opened;
  reread: Opened;
  about_table: { table: Table };
  rows: { columns: string[]; rows: Value[][]; records: number };
  column: ColumnFacts;
  hierarchy: HierarchyAnswer;
  import_hierarchy: ImportedHierarchy;
  export_hierarchy: { file: string; text: string };
  sensitivity: SensitivityAnswer;
  choices: Choices;
  review: Review;
  before_after: RecordsAnswer;
  classes: ClassesAnswer;
  distributions: DistributionsAnswer;
  why: WhyAnswer;
  pick_node: { edits: Suggestion["edits"]; changed: boolean };
  runs_plot: PlotAnswer;
  lattice_svg: LatticeAnswer;
  about_run: RunReport;
  run_files: RunFiles;
}

export interface MayBeOutdated {
  outdated?: boolean;
}

export interface Histogram {
  low: number;
  high: number;
  edges: number[];
  counts: number[];
}

/** The values of a column with their records, the most frequent first. */
export interface ColumnFacts {
  kind: string;
  distinct: number;
  missing: number;
  longest: number;
  /** How many values there are; `values` may be fewer. */
  found: number;
  values: [Value, number][];
  histogram?: Histogram | null;
}

export interface Level {
  level: number;
  groups: number;
  filled: number;
  smallest: number;
  /** Labels and records of the groups, where they can be drawn to scale. */
  drawn?: [Value, number][];
}

export interface HierarchyAnswer extends MayBeOutdated {
  name: string;
  kind: string;
  proposals: Record<string, any>;
  built: boolean;
  height: number;
  reach: number;
  levels: Level[];
  examples: { value: Value; records: number; path: Value[]; limited: boolean }[];
  listed?: { level: number; found: number; offset: number; groups: [Value, number, boolean][] };
  problems: Problem[];
}

export interface ImportedHierarchy {
  tree: any;
  problems: Problem[];
  leaves: number;
  height: number;
  groups: number;
  lacking: { values: [Value, number][]; count: number; records: number };
  absent: { values: Value[]; count: number };
}

export interface SensitivityAnswer {
  name: string;
  publish: string;
  models: string[];
  categories: CategoryFacts | null;
  distances: Distances | null;
  problems: Problem[];
}

export interface CategoryFacts {
  names: string[];
  weights: string[];
  apart: string[][];
}

export interface Distances {
  kind: string;
  /** Each kind of distance, with what it lacks or "". */
  kinds: Record<string, string>;
  values: Value[];
  apart: number[][];
  from?: Value;
  count: number;
}

/** What may be chosen on the step "Privacy". */
export interface Choices {
  models: ModelChoice[];
  /** The same models, in words about people. */
  models_in_people: ModelChoice[];
  algorithms: AlgorithmChoice[];
  options: Record<string, { kind: string; label: string; help: string; choices: [string, string][]; default: any }>;
  measures: { name: string; text: string; higher: boolean }[];
  presets: Preset[];
}

export interface ModelChoice {
  name: string;
  title: string;
  fear: string;
  protects: string;
  audience: string;
  example: string;
  leaves_open: string[];
  sensitive: boolean;
  categories: boolean;
  numbers: boolean;
  parameters: Parameter[];
}

/** Which numbers a field takes. */
export interface Bounds {
  kind: string;
  low?: number;
  high?: number | null;
  open_low?: boolean;
  step?: number;
  start?: any;
  optional?: boolean;
  placeholder?: string;
}

export interface Parameter extends Bounds {
  name: string;
  label: string;
  help: string;
  /** The names of the numbers of each entry of a mapping. */
  parts: string[];
  /** The words to choose from, each with its meaning. */
  choices: [string, string][];
}

export interface AlgorithmChoice {
  name: string;
  scope: string;
  does: string;
  when: string;
  drawback: string;
  options: string[];
  needs: string[];
  shared: string[];
  weights: { role: string; help: string };
}

export interface Preset {
  id: string;
  title: string;
  why: string;
  /** The model that every release needs. */
  size: ModelEntry;
  /** The model for each sensitive column that has categories. */
  categories?: ModelEntry;
  suppression?: number;
}

export type Verdict = "reachable" | "unreachable" | "open";

export interface Forecast {
  verdict: Verdict;
  by_algorithm: Verdict;
  overall: string[];
  table: string[];
  suggestions: Suggestion[];
  models: ModelForecast[];
}

export interface ModelForecast {
  entry: number;
  model: string;
  sensitive?: string | null;
  alone: Verdict;
  sentences: string[];
}

export interface Estimate {
  low: number;
  high: number;
  typical: string;
  range: string;
  basis: string[];
}

/** What is known of the policy as it stands. */
export interface PolicyReview {
  problems: Problem[];
  forecast: Forecast | null;
  estimate: Estimate | null;
  trouble: string;
  /** Whether other answers are on their way. */
  renewing: boolean;
  /** The policy that the answers are about. */
  of: Policy | null;
}

export interface ReleasedRecord {
  record: number;
  class: number | null;
  size: number;
  before: Value[];
  /** What is released; null where the record is left out. */
  after: Value[] | null;
  changed: boolean[] | null;
}

export interface RecordsAnswer {
  records: number;
  found: number;
  offset: number;
  before: { name: string; role: string | null }[];
  after: { name: string; role: string; of: string }[];
  rows: ReleasedRecord[];
  starred: boolean;
  suppressed: number;
  classes: number;
}

export interface WeakestClass {
  model: string;
  title: string;
  sensitive: string | null;
  parameter: string;
  strength: number | null;
  size: number;
  people: number | null;
  as_weak: number;
  labels: Record<string, Value>;
  class: number | null;
}

export interface ListedClass {
  class: number;
  size: number;
  people: number | null;
  labels: Record<string, Value>;
  secrets: Record<string, { values: number; most: Value; records: number }>;
}

export interface ClassesAnswer {
  classes: number;
  offset: number;
  quasi: string[];
  listed: ListedClass[];
  weakest: WeakestClass[];
}

export interface Bar {
  label: Value;
  others: number;
  before: number;
  sure: number;
  after: number;
}

export interface BarSpread {
  kind: "bars";
  name: string;
  role: string;
  values: number;
  labels: number;
  published?: string;
  bars: Bar[];
}

export interface HistogramSpread {
  kind: "histogram";
  name: string;
  role: string;
  edges: number[];
  before: number[];
  sure: number[];
  after: number[];
  missing: [number, number] | null;
}

export interface DistributionsAnswer {
  records: number;
  suppressed: number;
  columns: (BarSpread | HistogramSpread)[];
  not_released: string[];
}

export interface WhyColumn {
  column: string;
  verdict: string;
  released: string;
  lines: string[];
}

export interface WhyAnswer {
  head: string[];
  summary: string[];
  columns: WhyColumn[];
  record: number | null;
  class: number | null;
  size: number;
}

export interface PlotPoint {
  run: string;
  name: string;
  algorithm: string;
  across: number;
  up: number;
  rank: number | null;
}

export interface PlotAnswer {
  measures: [string, string][];
  risks: [string, string, string][];
  points: PlotPoint[];
  without: string[];
  higher_is_better: boolean;
  figure: string | null;
}

export interface LatticeNode {
  id: string;
  levels: Record<string, number>;
  classes: number;
  suppressed: number;
  loss: number;
}

export interface LatticeAnswer {
  figure: string;
  /** What each drawn node is, and its figures. */
  texts: Record<string, string[]>;
  minimal: LatticeNode[];
  metric: string;
  quasi: string[];
  heights: Record<string, number>;
  satisfiable: boolean;
  changed: boolean;
}

/** Sections of the report as HTML, by name; only those that were asked for. */
export interface RunReport {
  verdict: string;
  attackers: string;
  sizes: string;
  limitations: string;
  remedies: Remedy[];
}

/** What would stop an attack that leaks, each change by itself. */
export interface Remedy {
  index: number;
  changes: Change[];
}

/** A change of the policy, with the model that it adds or makes stricter. */
export interface Change extends Suggestion {
  model: string | null;
}

export interface RunFile {
  what: string;
  name: string;
  bytes: number;
  sha256: string;
}

export interface ReleaseForm {
  form: string;
  files: RunFile[];
  make: string;
  check: string;
}

export interface RunFiles {
  forms: ReleaseForm[];
  data: string;
  formulas: { column: string; cells: number; example: Value }[];
}

// --- parts of the page --------------------------------------------------------------------------------------------

/** A node of a tree: a value, which has no kids, or a group of nodes. */
export interface TreeValue {
  label: Value;
  kids: null;
}
export interface TreeGroup {
  label: string;
  kids: TreeNode[];
}
export type TreeNode = TreeValue | TreeGroup;

/** What a tree lacks of a column's values, has twice, has without need; and its empty groups. */
export interface TreeFindings {
  unplaced: Value[];
  doubled: { label: Value; paths: string[] }[];
  absent: Value[];
  empty: string[];
}

export interface TreeWords {
  group: string;
  groups: string;
  top: string;
  unplaced: string;
  unplacedHelp: string;
  make: string;
  newGroup: string;
  up?: string;
  down?: string;
}

/** What an editor of a tree is made with. */
export interface TreeParts {
  words: TreeWords;
  label?: string;
  /** One level of groups only. */
  flat?: boolean;
  /** The order of the groups matters. */
  ordered?: boolean;
  missingMustBePlaced?: boolean;
  /** The values of the column and their records. */
  values(): Map<Value, number>;
  /** Whether there are more values than those. */
  partial?(): boolean;
  read(): TreeGroup;
  write(root: TreeGroup): unknown;
  renamed?(from: string, to: string): unknown;
  /** The limits; null where there are none. */
  limit?(): Limit | null;
  setLimit?: ((labels: Value[]) => unknown) | null;
  /** A remark beside a group. */
  note?(node: TreeNode, path: string): string | null;
}

/** What a reader has selected, opened, cut and searched for in a tree. */
export interface TreeView {
  selected: Set<string>;
  flipped: Set<string>;
  search: string;
  rows: number;
  spare: number;
  focus: string;
  cut: Set<string> | null;
  dragged: string[] | null;
  late: boolean;
  seen: Policy | null;
}

export interface TreeEditor {
  given: TreeParts;
  own: TreeView;
  element: HTMLElement;
  root: TreeGroup;
  values: Map<Value, number>;
  amounts: Map<string, TreeAmount>;
  found: TreeFindings;
  doubled: Set<Value>;
  height: number;
  draw(): void;
}

export interface TreeAmount {
  records: number;
  values: number;
}

/** A row of a tree as it is shown. */
export interface TreeRow {
  node: TreeNode;
  path: string;
  depth: number;
  open: boolean;
}

/** What is selected in a tree: paths of nodes, and values that are not in it. */
export interface Selection {
  paths: string[];
  labels: Value[];
}

/** A part of the page that draws itself anew into one element. */
export interface Editor {
  element: HTMLElement;
  draw(): void;
}

/** The settings of a hierarchy by the order of the values. */
export interface OrderSpec {
  values?: unknown[];
  groups?: number[];
}

/** What an editor of an order is made with. */
export interface OrderParts {
  spec(): OrderSpec;
  values(): Map<Value, number>;
  change(spec: OrderSpec): unknown;
}

export interface OrderEditor extends Editor {
  given: OrderParts;
  own: { at: number; rows: number; search: string; dragged: number | null; late: boolean };
}

/** The step "Hierarchies" while it shows a column; facts, values and boxes come with the first answer. */
export interface HierarchyPage {
  boxes?: { head: HTMLElement; editor: HTMLElement; levels: HTMLElement; limit: HTMLElement };
  facts: ColumnFacts;
  values: Map<Value, number>;
  name: string;
  role: string | undefined;
  parts: { list: HTMLElement; body: HTMLElement };
  answer: HierarchyAnswer | null;
  proposals?: Record<string, any>;
  view: View;
  /** The number of the last question. */
  requests: number;
  /** Resolves when the first answer is there. */
  known?: Promise<void>;
  editors: { tree?: Editor; order?: Editor; forms?: EditorParts["forms"] };
  kind?: string;
  /** Whether the answer is about a policy before the last change. */
  stale: boolean;
  gone: boolean;
}

/** The step "Sensitive values" while it shows a column; what it draws into comes with the first answer. */
export interface SensitivePage {
  name: string;
  parts: { list: HTMLElement; body: HTMLElement };
  drawn?: { facts: ColumnFacts; editor: Editor; head: HTMLElement; problems: HTMLElement; rest: HTMLElement };
  answer: SensitivityAnswer | null;
  view: { distance?: string; value?: string };
  requests: number;
  gone: boolean;
  /** New names of categories by their old ones. */
  renamed: Map<string, string>;
  /** What was typed as another unknown value. */
  typed?: string;
}

/** A control that says how a file is read. */
export interface ReadingControl {
  name: string;
  read(): string;
  element: HTMLElement;
}

/** The card of a run that goes on. */
export interface RunCard {
  element: HTMLElement;
  show(run: Run): void;
}

/** A setting of a policy as text, in full and as far as there is room for it. */
export interface Setting {
  whole: string;
  shown: string;
}

/** Where the lattice is drawn. */
export interface LatticeView {
  going: HTMLElement;
  box: HTMLElement;
  alive(): boolean;
  number: string | undefined;
  shown: string | null;
}

/** Where records before and after are drawn; `only` is a class, 0 for what is left out, null for all. */
export interface RecordsView {
  run: Run;
  box: HTMLElement;
  only: number | null;
  alive(): boolean;
  address: Address;
}

/** What an editor of a kind of hierarchy is made with. */
export interface EditorParts {
  spec: any;
  facts: ColumnFacts;
  answer: HierarchyAnswer | null;
  stale: boolean;
  change(spec: any): unknown;
  forms: { open?: boolean; cuts?: any; widths?: any };
}

/** A bar of a strip: from where to where, and how many records. */
export interface StripBar {
  from: number;
  to: number;
  count: number;
  label: Value;
}

/** A column whose values are all numbers. */
export interface NumericFacts extends ColumnFacts {
  histogram: Histogram;
}

/** A cut point, and the level up to which it is kept. */
export interface CutPoint {
  at: number;
  upto: number;
}

export interface Cuts extends Scale {
  levels: number;
  points: CutPoint[];
}

/** What is looked at of a hierarchy: a value on its way up, a page of the groups of a level. */
export interface View {
  value?: string;
  level?: number;
  offset?: number;
  search?: string;
}

export interface Scale {
  low: number;
  high: number;
}

/** The address of a view of a run. */
export type Address = (view: string, run?: string) => string;

/** What a view of the step "Understand" is drawn with; a view that needs a run is only drawn with one. */
export interface ViewParts {
  run: Run;
  body: HTMLElement;
  rest: string[];
  alive(): boolean;
  address: Address;
}
