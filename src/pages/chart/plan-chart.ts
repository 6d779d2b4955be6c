/**
 * The cost curves of a plan as one SVG: nothing in it runs or is loaded, and a screen reader reads it in sentences.
 *
 * @module
 */
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, parseDecimal, greatest, multiply, subtract, ZERO } from "../../numbers/decimal.ts";
import { curveEdges } from "../../proof/curve-edges.ts";
import type { CardCurve, CurveKind, PlanCurves } from "../../proof/plan-curves.ts";
import type { PriceCurve } from "../../proof/price-curve.ts";
import { escaped } from "../escaped.ts";
import { curvePath, type Point } from "./curve-path.ts";
import { amountText, type CurveEvent, curveEvents, leapsOf, quantityText, slabSentences } from "./curve-words.ts";
import { amountAxis, type Axis, quantityAxis } from "./scale.ts";

const WIDTH = 720;
/** A chart of less has its words below each other that stand beside each other elsewhere, in pixels. */
const NARROW_BELOW = 600;
const PLOT_HEIGHT = 230;
const LINE = 18;
/** A letter of a sentence is about so wide, in pixels. */
const LETTER = 6.2;
/** So many sentences of a kind are shown; the rest is counted. */
const SENTENCES_MAX = 8;
/** So many slab edges are drawn; more are closer than a person can tell apart. */
const EDGES_MAX = 60;
const FIVE = parseDecimal(5);

const STYLE = `
svg { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; --paper: #ffffff; --ink: #1d2433; --soft: #5b6475; --line: #d5dae3; --card: #1f5fd1; --total: #6d7484; --fall: #b3261e; --jump: #8a5a00; }
@media (prefers-color-scheme: dark) { svg { --paper: #12161f; --ink: #e6e9f0; --soft: #a3acbd; --line: #333c4d; --card: #7fb0ff; --total: #97a1b3; --fall: #ff9c93; --jump: #f0c063; } }
.paper { fill: var(--paper); }
text { fill: var(--ink); font-size: 13px; }
.name { font-size: 17px; font-weight: 600; }
.soft { fill: var(--soft); font-size: 12px; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.grid { stroke: var(--line); fill: none; }
.edge { stroke: var(--soft); stroke-dasharray: 2 4; fill: none; }
.card { stroke: var(--card); stroke-width: 2.5; fill: none; stroke-linejoin: round; stroke-linecap: round; }
.total { stroke: var(--total); stroke-width: 1.8; stroke-dasharray: 7 4; fill: none; }
.leap { stroke-dasharray: 2 3; fill: none; stroke: var(--jump); }
.dot { fill: var(--jump); } .ring { fill: var(--paper); stroke: var(--jump); stroke-width: 1.8; }
.FALL.leap { stroke: var(--fall); } .FALL.dot { fill: var(--fall); } .FALL.ring { stroke: var(--fall); }
text.FALL { fill: var(--fall); } text.JUMP { fill: var(--jump); }
`;

const MODELS: Readonly<Record<CardCurve["slabs"]["pricingModel"], string>> = {
  TIERED: "each slab by itself",
  VOLUME: "all at one slab",
};

const KINDS: Readonly<Record<CurveKind, string>> = {
  USAGE: "usage",
  LICENSE: "licenses held for the whole cycle",
  ENTITLEMENT_OVERAGE: "overage",
};

/** A chart, and what it says in sentences. */
export interface DescribedChart {
  readonly svg: string;
  readonly description: string;
}

/** Where things stand across a chart of some width, in pixels. */
interface Frame {
  readonly width: number;
  readonly isNarrow: boolean;
  /** Between the sheet and what is on it. */
  readonly margin: number;
  /** Where the plot begins, and how wide it is. */
  readonly left: number;
  readonly plotWidth: number;
}

function frameOf(width: number): Frame {
  const isNarrow = width < NARROW_BELOW;
  const [margin, left] = isNarrow ? [12, 84] : [24, 104];
  return { width, isNarrow, margin, left, plotWidth: width - left - margin };
}

/** The chart of a plan: a panel for each card whose price depends on a quantity. @param title such as the plan's name */
export function planChart(title: string, curves: PlanCurves): string {
  return describedChart(title, curves).svg;
}

/**
 * As {@link planChart}, with what it says beside it: for where the picture is not read itself.
 *
 * @param width of the picture in pixels, at least 240
 */
export function describedChart(title: string, curves: PlanCurves, width = WIDTH): DescribedChart {
  const frame = frameOf(width);
  const digits = minorUnitDigits(curves.currency);
  const head = headOf(title, curves, digits, frame);
  let y = head.height;
  const panels = curves.cards.map((card) => {
    const panel = panelOf(card, curves, { digits, top: y, frame });
    y += panel.height;
    return panel;
  });
  const height = Math.round(y + 12);
  const description = [...head.sentences, ...panels.flatMap(({ sentences }) => sentences)].join(". ");
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(`What ${title} costs`)}</title>`,
    `<desc id="desc">${escaped(description)}.</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...head.parts,
    ...panels.flatMap(({ parts }) => parts),
    "</svg>",
    "",
  ];
  return { svg: parts.join("\n"), description };
}

interface Drawn {
  readonly parts: readonly string[];
  readonly sentences: readonly string[];
  /** Pixels. */
  readonly height: number;
}

function headOf(
  title: string,
  { cards, fixed, commitment, currency }: PlanCurves,
  digits: number,
  frame: Frame,
): Drawn {
  const facts = [
    `Amounts in ${currency} of a whole cycle, before lines are rounded`,
    ...(fixed.isZero() ? [] : [`fees and grants of the cycle: ${amountText(fixed, digits)}`]),
    ...(commitment === undefined ? [] : [`at least ${amountText(commitment, digits)} in all`]),
    ...(cards.length === 0 ? ["nothing of this plan depends on a quantity"] : []),
  ];
  const { margin, width } = frame;
  const rows = facts.flatMap((fact) => wrapped(fact, lettersIn(width - 2 * margin)));
  return {
    parts: [
      text(margin, 34, cut(title, nameLength(frame)), "name"),
      ...rows.map((row, place) => text(margin, 54 + place * LINE, row, "soft")),
    ],
    sentences: facts,
    height: 60 + rows.length * LINE,
  };
}

/** Where a panel is drawn. */
interface PanelPlace {
  readonly digits: number;
  /** Pixels from above. */
  readonly top: number;
  readonly frame: Frame;
}

function panelOf(curve: CardCurve, { currency, cards }: PlanCurves, { digits, top, frame }: PanelPlace): Drawn {
  const { width, isNarrow, margin, left, plotWidth } = frame;
  const more = constantMore(curve);
  const showsTotal = more === undefined || (!more.isZero() && isSeenBeside(curve));
  const amounts = [...amountsOf(curve.card), ...(showsTotal ? amountsOf(curve.total) : [])];
  const [across, up] = [quantityAxis(curve.upTo, isNarrow ? 3 : 6), amountAxis(amounts, 5)];
  const headHeight = isNarrow ? 70 + 2 * LINE : 70;
  const plotTop = top + headHeight;
  const at = (quantity: Decimal, amount: Decimal): Point => ({
    x: left + across.at(quantity) * plotWidth,
    y: plotTop + (1 - up.at(amount)) * PLOT_HEIGHT,
  });
  const below = plotTop + PLOT_HEIGHT;
  const words = wordsOf(curve, digits, below + 74, frame);
  const name = cut(curve.name, nameLength(frame));
  const kind = `${KINDS[curve.kind]}, ${MODELS[curve.slabs.pricingModel]}`;
  const what = `${cut(curve.name, 60)}: ${kind}`;
  const others = othersAt(cards.filter((card) => card !== curve));
  return {
    parts: [
      `<path class="grid" d="M${margin} ${top + 8}H${width - margin}"/>`,
      text(margin, top + 34, name, "name"),
      isNarrow ? text(margin, top + 34 + LINE, kind, "soft") : text(width - margin, top + 34, kind, "soft end"),
      text(left - 10, plotTop - 12, currency, "soft end"),
      ...legend(showsTotal, `the whole cycle${others}`, plotTop - 12, frame),
      ...(showsTotal || more === undefined || more.isZero()
        ? []
        : [
            text(
              left + 12,
              plotTop - 12,
              cut(`the whole cycle costs ${amountText(more, digits)} more${others}`, lettersIn(plotWidth - 12)),
              "soft",
            ),
          ]),
      ...axesOf(across, up, at, { digits, frame }),
      text(width - margin, below + 52, name, "soft end"),
      ...slabEdges(curve.card, across, at, { top: plotTop, width }),
      ...(showsTotal ? [`<path class="total" d="${curvePath(curve.total, at)}"/>`] : []),
      `<path class="card" d="${curvePath(curve.card, at)}"/>`,
      ...leaps(curve.card, at),
      ...words.parts,
    ],
    sentences: [what, ...words.sentences],
    height: headHeight + PLOT_HEIGHT + 74 + words.height,
  };
}

/** A sentence on the quantities at which a total holds the other cards. */
function othersAt(others: readonly CardCurve[]): string {
  if (others.length === 0) return "";
  const held = others.filter(({ heldAt }) => !heldAt.isZero());
  if (held.length === 0) return ", all else at 0";
  return cut(`, with ${held.map(({ name, heldAt }) => `${name} at ${quantityText(heldAt)}`).join(", ")}`, 60);
}

/** Which line is which: beside each other, or one below the other where there is little room. */
function legend(
  showsTotal: boolean,
  total: string,
  y: number,
  { isNarrow, left, plotWidth }: Frame,
): readonly string[] {
  if (!showsTotal) return [];
  const [first, second] = isNarrow
    ? [
        { x: left + 12, y: y - LINE },
        { x: left + 12, y },
      ]
    : [
        { x: left + 12, y },
        { x: left + 120, y },
      ];
  return [
    `<path class="card" d="M${first.x} ${first.y - 4}h26"/>`,
    text(first.x + 34, first.y, "this card", "soft"),
    `<path class="total" d="M${second.x} ${second.y - 4}h26"/>`,
    text(second.x + 34, second.y, cut(total, lettersIn(left + plotWidth - second.x - 34)), "soft"),
  ];
}

function axesOf(
  across: Axis,
  up: Axis,
  at: (quantity: Decimal, amount: Decimal) => Point,
  { digits, frame: { width, margin, plotWidth } }: Pick<PanelPlace, "digits" | "frame">,
): readonly string[] {
  const amounts = up.ticks.flatMap((tick) => {
    const { x, y } = at(across.min, tick);
    return [
      `<path class="grid" d="M${x} ${y.toFixed(1)}h${plotWidth}"/>`,
      text(x - 10, y + 4, tickText(tick, digits), "soft end"),
    ];
  });
  const quantities = across.ticks.map((tick, index) => {
    const { x, y } = at(tick, up.min);
    const side = index === 0 ? "soft" : x > width - margin - 24 ? "soft end" : "soft mid";
    return text(x, y + LINE, quantityText(tick), side);
  });
  return [...amounts, ...quantities];
}

/** An amount at a tick: without digits that say nothing, and short where it is very large. */
function tickText(tick: Decimal, digits: number): string {
  return tick.isInteger() ? quantityText(tick) : amountText(tick, digits);
}

function slabEdges(
  curve: PriceCurve,
  across: Axis,
  at: (quantity: Decimal, amount: Decimal) => Point,
  { top, width }: { readonly top: number; readonly width: number },
): readonly string[] {
  const edges = curveEdges(curve).filter(({ isSlabEdge }) => isSlabEdge);
  const ticks = new Set(across.ticks.map(quantityText));
  let lastLabel = Number.NEGATIVE_INFINITY;
  return edges.slice(0, EDGES_MAX).flatMap((edge) => {
    const { x } = at(edge.at.quantity, edge.below);
    const label = quantityText(edge.at.quantity);
    const half = label.length * 3.4 + 4;
    const fits = !ticks.has(label) && x - half > lastLabel && x + half < width;
    if (fits) lastLabel = x + half;
    return [
      `<path class="edge" d="M${x.toFixed(1)} ${top}v${PLOT_HEIGHT}"/>`,
      ...(fits ? [text(x, top + PLOT_HEIGHT + 36, label, "soft mid")] : []),
    ];
  });
}

/** Jumps and falls: a dot for the price that holds at the edge, a ring for the one that holds above it. */
function leaps(curve: PriceCurve, at: (quantity: Decimal, amount: Decimal) => Point): readonly string[] {
  const found = leapsOf(curve);
  const radius = found.length > 12 ? 2.5 : 4;
  return found.slice(0, EDGES_MAX).flatMap(({ at: { quantity }, kind, below, above }) => {
    const [from, to] = [at(quantity, below), at(quantity, above)];
    return [
      `<path class="leap ${kind}" d="M${from.x.toFixed(1)} ${from.y.toFixed(1)}V${to.y.toFixed(1)}"/>`,
      `<circle class="dot ${kind}" cx="${from.x.toFixed(1)}" cy="${from.y.toFixed(1)}" r="${radius}"/>`,
      `<circle class="ring ${kind}" cx="${to.x.toFixed(1)}" cy="${to.y.toFixed(1)}" r="${radius}"/>`,
    ];
  });
}

function wordsOf(curve: CardCurve, digits: number, top: number, { width, isNarrow, margin, left }: Frame): Drawn {
  const slabs = slabSentences(curve, digits).map((sentence) => ({ kind: "", sentence }));
  const events: readonly CurveEvent[] = curveEvents(curve, digits);
  const x = isNarrow ? margin : left;
  const rows = [...firstOf(slabs, "slabs"), ...firstOf(events, "jumps and falls")].flatMap(({ kind, sentence }) =>
    wrapped(sentence, lettersIn(width - margin - x)).map((row) => ({ kind, row })),
  );
  return {
    parts: rows.map(({ kind, row }, place) => text(x, top + place * LINE, row, kind)),
    sentences: [...slabs, ...events].map(({ sentence }) => sentence),
    height: rows.length * LINE + 8,
  };
}

interface Said {
  readonly kind: string;
  readonly sentence: string;
}

function firstOf(said: readonly Said[], what: string): readonly Said[] {
  if (said.length <= SENTENCES_MAX) return said;
  const more = said.length - SENTENCES_MAX;
  return [...said.slice(0, SENTENCES_MAX), { kind: "soft", sentence: `and ${more} more ${what}` }];
}

function amountsOf({ atZero, pieces }: PriceCurve): readonly Decimal[] {
  return [atZero, ...pieces.flatMap(({ first, last }) => [first, last])];
}

/** What the whole cycle costs more than the card, where that is one amount at every quantity. */
function constantMore({ card, total }: CardCurve): Decimal | undefined {
  const [mine, all] = [amountsOf(card), amountsOf(total)];
  const differences = all.map((amount, index) => subtract(amount, mine[index] ?? ZERO));
  const [first] = differences;
  if (first === undefined || mine.length !== all.length) return undefined;
  return differences.every((difference) => difference.eq(first)) ? first : undefined;
}

/** Whether the card's curve would still be seen on the axis of the whole cycle's. */
function isSeenBeside({ card, total }: CardCurve): boolean {
  const largest = (curve: PriceCurve): Decimal =>
    amountsOf(curve)
      .map((amount) => amount.abs())
      .reduce(greatest, ZERO);
  return multiply(largest(card), FIVE).gte(largest(total));
}

/** How many letters stand beside each other in so many pixels. */
function lettersIn(pixels: number): number {
  return Math.floor(pixels / LETTER);
}

/** So many letters of a name in large letters fit a chart. */
function nameLength({ isNarrow, width, margin }: Frame): number {
  return isNarrow ? Math.floor((width - 2 * margin) / 9) : 60;
}

/** A sentence in rows of so many letters; a word that is longer is cut. */
function wrapped(sentence: string, length: number): readonly string[] {
  const rows: string[] = [];
  for (const word of sentence.split(" ")) {
    const row = rows.at(-1);
    if (row !== undefined && row.length + 1 + word.length <= length) rows[rows.length - 1] = `${row} ${word}`;
    else rows.push(cut(word, length));
  }
  return rows;
}

function cut(content: string, length: number): string {
  const letters = Array.from(content);
  return letters.length <= length ? content : `${letters.slice(0, length - 1).join("")}…`;
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${kind === "" ? "" : ` class="${kind}"`}>${escaped(content)}</text>`;
}
