/** The style of invoices, on screens and on paper. */
import { buildPageTokens } from "../tokens.ts";

/** In print, table heads are repeated, no row is split, and drafts have a watermark on every sheet. */
export const INVOICE_STYLE = `${buildPageTokens()}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 400 var(--text-m)/1.5 var(--font); }
main { max-width: 52rem; margin: var(--space-6) auto; padding: 0 var(--space-4); }
article { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 3rem; }
article + article { margin-top: var(--space-6); }
h1, h2, p, dl, dd, ul { margin: 0; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: var(--space-5); }
h1 { font-size: var(--text-2xl); font-weight: 600; line-height: 1.2; letter-spacing: -.01em; }
h2, dt, thead th { font-size: var(--text-s); line-height: 1.5rem; font-weight: 500; color: var(--ink-2); }
.badge { display: inline-block; vertical-align: middle; margin-left: var(--space-2); padding: 0 var(--space-2); border-radius: 99px; background: var(--mark); color: var(--mark-ink); font-size: var(--text-s); font-weight: 500; line-height: 1.5rem; letter-spacing: 0; }
.logo { max-width: 12rem; max-height: 4.5rem; }
.brand { font-size: var(--text-l); font-weight: 600; text-align: right; }
.brand, address span, dd, th[scope=row], .note td, .notes { unicode-bidi: plaintext; overflow-wrap: anywhere; }
.letter { display: grid; grid-template-columns: 1fr 1fr auto; gap: var(--space-5); margin: var(--space-6) 0; }
.facts { display: grid; grid-template-columns: auto auto; gap: 0 var(--space-3); align-content: start; max-width: 22rem; }
.facts div { display: contents; }
.facts dt, .facts dd { line-height: 1.5rem; }
address { font-style: normal; }
address span { display: block; text-align: left; }
address span:first-child { font-weight: 600; }
address .tax-id { color: var(--ink-2); }
.status { font-size: var(--text-xl); font-weight: 600; line-height: 1.3; margin: var(--space-6) 0; text-wrap: balance; }
.status.muted { font-size: var(--text-m); font-weight: 400; color: var(--ink-2); }
table { border-collapse: collapse; width: 100%; }
th, td { font-weight: 400; text-align: right; vertical-align: top; font-variant-numeric: tabular-nums; white-space: nowrap; }
th[scope=row], .note td { text-align: left; white-space: normal; }
.u, .b { text-align: left; color: var(--ink-2); white-space: normal; overflow-wrap: break-word; }
.card th { font-weight: 500; }
.group > *, .total > * { font-weight: 600; }
.slab > *, .item > *, .note td { color: var(--ink-2); }
.note td { font-size: var(--text-s); }
.note td::first-letter { text-transform: uppercase; }
.total:not(:has(~ .total)) > * { font-size: var(--text-l); }
.notices { margin-top: var(--space-5); padding: var(--space-3) var(--space-4) var(--space-3) var(--space-6); background: var(--mark); color: var(--mark-ink); border-radius: var(--radius); overflow-wrap: anywhere; }
.notes { margin-top: var(--space-6); padding-top: var(--space-4); border-top: 1px solid var(--line); }
.notes span { display: block; }
footer { margin-top: var(--space-5); color: var(--ink-3); font-size: var(--text-xs); overflow-wrap: anywhere; }
.watermark { display: none; }
@media (max-width: 40rem) {
  main { margin: 0; padding: 0; }
  article { border-width: 0 0 1px; border-radius: 0; padding: var(--space-5) var(--space-4); }
  h1 { font-size: 1.5rem; }
  .logo { max-width: 8rem; max-height: 3rem; }
}
@media print, (min-width: 40.01rem) {
  th, td { padding: .3rem 0 .3rem var(--space-4); }
  thead th { padding-bottom: var(--space-2); border-bottom: 1px solid var(--line-strong); }
  th[scope=row], thead th:first-child { padding-left: 0; text-align: left; }
  th[scope=row] { width: 100%; min-width: 12rem; }
  .u, .b { padding-left: .35em; max-width: 9rem; }
  .u:empty, .b:empty { padding: 0; }
  [data-pad]::after { content: attr(data-pad) / ""; visibility: hidden; }
  .card > *, .group > * { border-top: 1px solid var(--line); padding-top: var(--space-2); }
  tbody tr:first-child > *, .group + .card > * { border-top: 0; }
  .slab th, .subtotal th { padding-left: var(--space-4); }
  .item th { padding-left: var(--space-6); }
  .note td { padding: 0 0 .3rem var(--space-4); }
  .sum th, .total th, .sum + .note td { width: auto; padding-left: 50%; }
  .first > * { border-top: 1px solid var(--line-strong); padding-top: var(--space-3); }
  .total > * { padding-top: var(--space-2); }
}
@media screen and (max-width: 40rem) {
  .letter { grid-template-columns: 1fr; margin: var(--space-5) 0; }
  .facts { order: -1; justify-content: start; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table, tbody { display: block; }
  tbody tr { display: flex; flex-wrap: wrap; column-gap: .35em; padding: var(--space-1) 0; }
  th[scope=row], .note td { flex: 1 0 100%; }
  .bare th[scope=row] { flex: 1 1 0; }
  .a { margin-left: auto; padding-left: var(--space-3); }
  .q, .r { color: var(--ink-2); }
  .u, .b { min-width: 0; overflow-wrap: anywhere; }
  .q:not(:empty) ~ .r:not(:empty)::before { content: "× " / ""; }
  td:empty { display: none; }
  .card, .group, .first, .total { border-top: 1px solid var(--line); }
  tbody tr:first-child, .group + .card { border-top: 0; }
  .slab, .subtotal, .note { padding-left: var(--space-4); }
  .item { padding-left: var(--space-6); }
  .sum + .note { padding-left: 0; }
}
@page { margin: 16mm 15mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #5c5c55; } }
@media print {
  :root { font-size: 10.5pt; }
  body, article { background: none; }
  main { max-width: none; margin: 0; padding: 0; }
  article { border: 0; border-radius: 0; padding: 0; }
  article + article { margin: 0; break-before: page; }
  .letter, .status { margin: var(--space-5) 0; }
  thead { display: table-header-group; }
  tr, .letter, .notices, .notes, footer { break-inside: avoid; }
  .note, .sum, .total, footer { break-before: avoid; }
  .card:has(+ :is(.slab, .subtotal, .note)), .subtotal, .group { break-after: avoid; }
  .badge, .notices { border: 1px solid; background: none; }
  .watermark { position: fixed; inset: 0; display: flex; align-items: center; justify-content: center; font-size: 9rem; font-weight: 700; color: var(--danger); opacity: .1; transform: rotate(-28deg); overflow: hidden; }
}
`;
