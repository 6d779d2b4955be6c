/**
 * The style of an invoice: for any screen width, light or dark, and for A4 or Letter paper.
 *
 * @module
 */

/** The style sheet. In print no row is split, and drafts have a watermark on every sheet. */
export const INVOICE_STYLE = `
:root { color-scheme: light dark; --ink: #1d2433; --soft: #5b6475; --line: #c9cfda; --paper: #fff; --mark: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --soft: #a3acbd; --line: #3b4557; --paper: #12161f; --mark: #ff9c93; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper); max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.5rem; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; }
h2 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 0 0 .25rem; }
.logo { max-width: 12rem; max-height: 4.5rem; }
.parties { display: flex; flex-wrap: wrap; gap: 1.5rem 4rem; margin: 1.75rem 0; }
.parties > div { flex: 1 1 14rem; min-width: 0; }
address { font-style: normal; overflow-wrap: anywhere; }
address span:first-child { font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .9rem 1.5rem; margin: 0 0 1.5rem; padding: 1rem 0; border: solid var(--line); border-width: 1px 0; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; overflow-wrap: anywhere; }
dl div:first-child dd { white-space: nowrap; }
.status { font-size: 1.15rem; font-weight: 600; margin: 0 0 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; font-weight: normal; padding: .3rem 0 .3rem 1rem; vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
th[scope=row], td[colspan] { text-align: left; padding-left: 0; }
thead th { color: var(--soft); font-size: .8rem; }
thead td { padding: 0; }
tr.card > *, tr.group > * { border-top: 1px solid var(--line); padding-top: .5rem; }
tr.group th, tr.card th { font-weight: 600; }
tr.slab th { padding-left: 1.25rem; color: var(--soft); }
tr.note td { padding-left: 1.25rem; padding-top: 0; color: var(--soft); font-size: .85rem; }
tr.sum > * { padding-top: .2rem; padding-bottom: .2rem; }
tr:not(.sum, .total) + tr.sum > *, tr.total > * { border-top: 1px solid var(--line); }
tr.total > * { font-weight: 700; font-size: 1.05rem; }
.notices { padding: .75rem 1rem .75rem 2rem; border-left: 3px solid var(--mark); margin: 1.5rem 0 0; }
.notes { margin-top: 1.75rem; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .75rem; overflow-wrap: anywhere; }
.draft { position: fixed; inset: 0; display: flex; align-items: center; justify-content: center; font-size: min(26vw, 14rem); font-weight: 800; letter-spacing: .05em; color: var(--mark); opacity: .1; transform: rotate(-28deg); pointer-events: none; overflow: hidden; }
.draft::before { content: "Draft"; }
@media (max-width: 36rem) {
  body { padding: 1.25rem 1rem; }
  h1 { font-size: 1.5rem; }
  .logo { max-width: 8rem; max-height: 3rem; }
  dl { grid-template-columns: 1fr 1fr; }
  table, thead, tbody { display: block; }
  thead { display: none; }
  tr { display: grid; grid-template-columns: auto 1fr auto; gap: 0 .4rem; padding: .3rem 0; }
  tr.card, tr.group, tr.total { border-top: 1px solid var(--line); }
  tr:not(.sum, .total) + tr.sum { border-top: 1px solid var(--line); }
  tr > *, tr.card > *, tr.group > *, tr.sum > *, tr.total > *, tr:not(.sum, .total) + tr.sum > *, tr.note td { padding: 0; border: 0; }
  tr > th[scope=row] { grid-column: 1 / -1; }
  tr > td[colspan] { grid-column: 1 / -1; }
  tr:has(> td:nth-of-type(2):empty):has(> td:nth-of-type(1):empty) > th[scope=row] { grid-column: 1 / 3; }
  tr:has(> td:nth-of-type(2):empty):has(> td:nth-of-type(1):empty) > td:empty { display: none; }
  tr.slab, tr.note { padding-left: .9rem; }
  tr.slab th { padding-left: 0; }
  tr td:nth-of-type(1), tr td:nth-of-type(2) { text-align: left; }
  tr td:nth-of-type(2):not(:empty)::before { content: "× "; color: var(--soft); }
}
.parties:empty { margin: 1rem 0; }
@page { margin: 14mm 15mm; }
@media print {
  :root { color-scheme: light; font-size: 10.67pt; --ink: #000; --soft: #444; --line: #999; --paper: #fff; --mark: #b3261e; }
  body { max-width: none; padding: 0; font-size: 10pt; line-height: 1.4; }
  .parties { margin: 1.25rem 0; }
  dl, .status { margin-bottom: 1rem; }
  .notes, footer { margin-top: 1rem; }
  tr, dl, .parties, .notices, .notes, footer { break-inside: avoid; }
  thead { display: table-header-group; }
  tr.note, tr.total, tr.sum { break-before: avoid; }
  tr.card:has(+ tr.slab), tr.group { break-after: avoid; }
}
`;
