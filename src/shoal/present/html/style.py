"""The style sheet: Okabe-Ito colours, light and dark, narrow screens, projectors, and A4 paper."""

from __future__ import annotations

LIGHT = """
  --paper: #ffffff; --ink: #1b1f23; --soft: #4d565f; --line: #c9d0d6; --panel: #f3f5f7;
  --bar: #0072b2; --track: #e3e8ec; --good: #009e73; --bad: #d55e00;
"""

DARK = """
  --paper: #15191d; --ink: #e8ebee; --soft: #aeb7bf; --line: #424b54; --panel: #20262c;
  --bar: #56b4e9; --track: #323a42; --good: #009e73; --bad: #e69f00;
"""

STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
html {{ font-size: clamp(16px, 13px + 0.35vw, 24px); -webkit-text-size-adjust: 100%; }}
body {{ margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif; }}
header, nav, main, footer {{ max-width: 54rem; margin: 0 auto; padding: 0 1rem; }}
header {{ padding-top: 1.5rem; }}
h1 {{ font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.25rem; }}
h2 {{ font-size: 1.3rem; line-height: 1.25; margin: 2.5rem 0 0.5rem; padding-top: 0.75rem;
  border-top: 1px solid var(--line); }}
h3 {{ font-size: 1.05rem; margin: 1.5rem 0 0.25rem; }}
p, ul {{ margin: 0.5rem 0; max-width: 44rem; }}
ul {{ padding-left: 1.25rem; }}
li {{ margin: 0.35rem 0; }}
nav ul {{ display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; list-style: none; font-size: 0.9rem; }}
nav li {{ margin: 0; }}
a {{ color: inherit; text-underline-offset: 0.2em; }}
.soft, caption, figcaption, .axis, footer {{ color: var(--soft); }}
.long, code, pre {{ overflow-wrap: anywhere; }}
th, td, li, p {{ overflow-wrap: break-word; }}
code, pre {{ font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
  font-size: 0.85rem; }}
pre {{ white-space: pre-wrap; background: var(--panel); border-radius: 0.3rem; padding: 0.75rem; margin: 0.5rem 0; }}
.verdict {{ background: var(--panel); border-left: 0.5rem solid var(--bad); border-radius: 0.3rem;
  padding: 0.75rem 1rem; margin: 1rem 0; }}
.verdict.good {{ border-color: var(--good); }}
.verdict p {{ font-size: 1.1rem; margin: 0.25rem 0; max-width: none; }}
.verdict .word {{ font-size: 1.35rem; font-weight: 700; }}
dl.facts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr));
  gap: 0.75rem; margin: 1rem 0; }}
dl.facts div {{ border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.5rem 0.75rem; }}
dl.facts dt {{ font-size: 0.85rem; color: var(--soft); }}
dl.facts dd {{ margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }}
dl.facts dd small {{ display: block; font-size: 0.8rem; font-weight: 400; color: var(--soft); }}
.table {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.95rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; padding-bottom: 0.35rem; font-size: 0.9rem; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; }}
th:last-child, td:last-child {{ padding-right: 0; }}
thead th {{ border-bottom: 2px solid var(--line); font-size: 0.85rem; color: var(--soft); vertical-align: bottom; }}
table:not(.paired) tbody tr, .paired tbody {{ border-bottom: 1px solid var(--line); }}
tbody th {{ font-weight: 600; min-width: 5.5em; }}
tr.why td {{ padding-top: 0; font-size: 0.9rem; color: var(--soft); }}
td > span.line {{ display: block; }}
.mark {{ font-weight: 600; }}
td .mark {{ white-space: nowrap; }}
.mark::before {{ content: "\\2717\\00a0"; color: var(--bad); }}
.mark.good::before {{ content: "\\2713\\00a0"; color: var(--good); }}
figure {{ margin: 1rem 0; }}
figcaption {{ font-size: 0.9rem; margin-bottom: 0.35rem; max-width: 44rem; }}
svg {{ display: block; font-size: 0.9rem; overflow: visible; }}
svg text {{ fill: var(--ink); font-variant-numeric: tabular-nums; unicode-bidi: isolate; }}
svg text.axis {{ fill: var(--soft); }}
svg .bar {{ fill: var(--bar); }}
svg .track {{ fill: var(--track); }}
svg .rule {{ stroke: var(--ink); stroke-width: 2px; stroke-dasharray: 4 3; }}
svg .hollow {{ fill: none; stroke: var(--bar); stroke-width: 1.5px; }}
svg .scale {{ stroke: var(--soft); stroke-width: 1px; }}
svg .interval {{ stroke: var(--bar); stroke-width: 5px; opacity: 0.45; }}
svg .dot {{ fill: var(--bar); }}
svg .baseline {{ stroke: var(--ink); stroke-width: 2px; }}
.success {{ max-width: 30rem; margin: 0.5rem 0.5rem 0.25rem; }}
.outcome {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 1.5rem; }}
.why p {{ margin: 0.2rem 0; max-width: none; }}
.why .outcome > div:first-child p:first-child {{ color: var(--ink); }}
tbody th small {{ font-weight: 400; color: var(--soft); }}
ul.short {{ max-width: none; }}
.columns {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr)); gap: 1rem 2rem;
  align-items: start; margin: 1rem 0; }}
table.pair {{ font-size: 0.85rem; table-layout: fixed; }}
table.pair caption {{ font-size: 0.9rem; }}
table.pair th:last-child, table.pair td:last-child {{ padding-right: 0.75rem; }}
table.pair th, table.pair td {{ padding-top: 0.1rem; padding-bottom: 0.1rem; vertical-align: middle; }}
table.pair tbody th {{ font-weight: 400; min-width: 0; }}
table.pair tbody tr {{ border-bottom: 0; }}
.cell {{ display: grid; grid-template-columns: 3.2rem 1fr; align-items: center; gap: 0.4rem; }}
.cell span {{ text-align: right; }}
details {{ margin: 0.75rem 0; }}
summary {{ cursor: pointer; font-weight: 600; }}
footer {{ padding-top: 1.5rem; padding-bottom: 2rem; font-size: 0.85rem; }}
@media (max-width: 30rem) {{
  table {{ font-size: 0.88rem; }}
  th, td {{ padding-right: 0.5rem; }}
  dl.facts {{ grid-template-columns: 1fr 1fr; gap: 0.5rem; }}
  svg {{ font-size: 0.85rem; }}
}}
@page {{ size: A4; margin: 16mm 15mm; }}
@media print {{
  :root {{ color-scheme: light; {LIGHT} }}
  html {{ font-size: 10.5pt; }}
  body {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  header, main, footer {{ max-width: none; padding-left: 0; padding-right: 0; }}
  header {{ padding-top: 0; }}
  nav {{ display: none; }}
  h2, h3, caption, figcaption, summary {{ break-after: avoid; }}
  h2 {{ margin-top: 1.5rem; }}
  .columns {{ grid-template-columns: 1fr 1fr; gap: 0.75rem 1.5rem; }}
  figure, svg, tr, .verdict, dl.facts, li {{ break-inside: avoid; }}
  .paired tbody, table:not(.paired) {{ break-inside: avoid; }}
  thead {{ display: table-header-group; }}
  .table {{ overflow: visible; }}
  p, ul, figcaption {{ max-width: none; orphans: 3; widows: 3; }}
  details::details-content {{ content-visibility: visible; display: block; block-size: auto; }}
}}
"""
