import type { CardCurve, CurveKind, PlanCurves } from "../../analysis/plan-curves.ts";
import { curveEdges, type PriceCurve } from "../../analysis/price-curve.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, parseDecimal, maximum, multiply, subtract, ZERO } from "../../numbers/decimal.ts";
import { escapeHtml } from "../printable.ts";
import { buildColorStyle, FONT } from "../tokens.ts";
import {
  createAmountAxis,
  type Axis,
  createQuantityAxis,
  drawCurvePath,
  type Point,
  formatCost,
  describeJumps,
  findJumps,
  formatQuantity,
  describeSlabs,
} from "./curves.ts";

const WIDTH = 720;
/** The space around the content. */
const MARGIN = 24;
/** The left end of the plot. */
const LEFT = 104;
const PLOT_WIDTH = WIDTH - LEFT - MARGIN;
const PLOT_HEIGHT = 230;
const LINE_HEIGHT = 18;
/** The approximate width of a character in pixels. */
const CHARACTER_WIDTH = 6.2;
/** The maximum number of sentences of one kind; the rest is counted. */
const SENTENCES_MAX = 8;
/** The maximum number of slab edges drawn; more are too close to distinguish. */
const EDGES_MAX = 60;
/** The maximum number of characters of a heading. */
const NAME_LENGTH_MAX = 60;
const FIVE = parseDecimal(5);

const STYLE = `
svg { font-family: ${FONT}; }
${buildColorStyle("svg", ["surface", "line", "ink", "ink-2", "ink-3", "s1", "danger", "more"])}
.paper { fill: var(--surface); }
text { fill: var(--ink); font-size: 13px; }
.name { font-size: 17px; font-weight: 600; }
.soft { fill: var(--ink-2); font-size: 12px; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.grid { stroke: var(--line); fill: none; }
.edge { stroke: var(--ink-2); stroke-dasharray: 2 4; fill: none; }
.card { stroke: var(--s1); stroke-width: 2.5; fill: none; stroke-linejoin: round; stroke-linecap: round; }
.total { stroke: var(--ink-3); stroke-width: 1.8; stroke-dasharray: 7 4; fill: none; }
.jump-line { stroke-dasharray: 2 3; fill: none; stroke: var(--more); }
.dot { fill: var(--more); } .ring { fill: var(--surface); stroke: var(--more); stroke-width: 1.8; }
.FALL.jump-line { stroke: var(--danger); } .FALL.dot { fill: var(--danger); } .FALL.ring { stroke: var(--danger); }
text.FALL { fill: var(--danger); } text.JUMP { fill: var(--more); }
`;

const MODELS: Readonly<Record<CardCurve["slabs"]["pricingModel"], string>> = {
  TIERED: "graduated",
  VOLUME: "volume",
};

const KINDS: Readonly<Record<CurveKind, string>> = {
  USAGE: "usage",
  LICENSE: "licenses held for the whole cycle",
  ENTITLEMENT_OVERAGE: "overage",
};

/**
 * Draws the chart of a plan, with a panel for each card that prices a quantity.
 * @param title for example the plan's name
 */
export function drawPlanChart(title: string, curves: PlanCurves): string {
  const digits = minorUnitDigits(curves.currency);
  const head = drawHeader(title, curves, digits);
  let y = head.height;
  const panels = curves.cards.map((card) => {
    const panel = drawPanel(card, curves, { digits, top: y });
    y += panel.height;
    return panel;
  });
  const height = Math.round(y + 12);
  const description = [...head.sentences, ...panels.flatMap(({ sentences }) => sentences)].join(". ");
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escapeHtml(`What ${title} costs`)}</title>`,
    `<desc id="desc">${escapeHtml(description)}.</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    ...head.parts,
    ...panels.flatMap(({ parts }) => parts),
    "</svg>",
    "",
  ];
  return parts.join("\n");
}

interface ChartPart {
  readonly parts: readonly string[];
  readonly sentences: readonly string[];
  /** Pixels. */
  readonly height: number;
}

function drawHeader(title: string, { cards, fixed, commitment, currency }: PlanCurves, digits: number): ChartPart {
  const facts = [
    `Amounts in ${currency} of a whole cycle, before lines are rounded`,
    ...(fixed.isZero() ? [] : [`fees and grants of the cycle: ${formatCost(fixed, digits)}`]),
    ...(commitment === undefined ? [] : [`at least ${formatCost(commitment, digits)} in all`]),
    ...(cards.length === 0 ? ["all fees of this plan are fixed"] : []),
  ];
  const rows = facts.flatMap((fact) => wrapText(fact, charactersPerLine(WIDTH - 2 * MARGIN)));
  return {
    parts: [
      drawText(MARGIN, 34, truncateText(title, NAME_LENGTH_MAX), "name"),
      ...rows.map((row, index) => drawText(MARGIN, 54 + index * LINE_HEIGHT, row, "soft")),
    ],
    sentences: facts,
    height: 60 + rows.length * LINE_HEIGHT,
  };
}

interface PanelPosition {
  readonly digits: number;
  /** Pixels from the top. */
  readonly top: number;
}

function drawPanel(curve: CardCurve, { currency, cards }: PlanCurves, { digits, top }: PanelPosition): ChartPart {
  const extraCost = findConstantDifference(curve);
  const showsTotal = extraCost === undefined || (!extraCost.isZero() && isVisibleBesideTotal(curve));
  const amounts = [...curveAmounts(curve.card), ...(showsTotal ? curveAmounts(curve.total) : [])];
  const [xAxis, yAxis] = [createQuantityAxis(curve.upTo, 6), createAmountAxis(amounts, 5)];
  const headHeight = 70;
  const plotTop = top + headHeight;
  const toPoint = (quantity: Decimal, amount: Decimal): Point => ({
    x: LEFT + xAxis.toPosition(quantity) * PLOT_WIDTH,
    y: plotTop + (1 - yAxis.toPosition(amount)) * PLOT_HEIGHT,
  });
  const plotBottom = plotTop + PLOT_HEIGHT;
  const sentenceRows = drawSentences(curve, digits, plotBottom + 74);
  const name = truncateText(curve.name, NAME_LENGTH_MAX);
  const kind = `${KINDS[curve.kind]}, ${MODELS[curve.slabs.pricingModel]}`;
  const heading = `${truncateText(curve.name, 60)}: ${kind}`;
  const others = describeOtherCards(cards.filter((card) => card !== curve));
  return {
    parts: [
      `<path class="grid" d="M${MARGIN} ${top + 8}H${WIDTH - MARGIN}"/>`,
      drawText(MARGIN, top + 34, name, "name"),
      drawText(WIDTH - MARGIN, top + 34, kind, "soft end"),
      drawText(LEFT - 10, plotTop - 12, currency, "soft end"),
      ...drawLegend(showsTotal, `the whole cycle${others}`, plotTop - 12),
      ...(showsTotal || extraCost === undefined || extraCost.isZero()
        ? []
        : [
            drawText(
              LEFT + 12,
              plotTop - 12,
              truncateText(
                `the whole cycle costs ${formatCost(extraCost, digits)} more${others}`,
                charactersPerLine(PLOT_WIDTH - 12),
              ),
              "soft",
            ),
          ]),
      ...drawAxes(xAxis, yAxis, toPoint, digits),
      drawText(WIDTH - MARGIN, plotBottom + 52, name, "soft end"),
      ...drawSlabEdges(curve.card, xAxis, toPoint, plotTop),
      ...(showsTotal ? [`<path class="total" d="${drawCurvePath(curve.total, toPoint)}"/>`] : []),
      `<path class="card" d="${drawCurvePath(curve.card, toPoint)}"/>`,
      ...drawJumps(curve.card, toPoint),
      ...sentenceRows.parts,
    ],
    sentences: [heading, ...sentenceRows.sentences],
    height: headHeight + PLOT_HEIGHT + 74 + sentenceRows.height,
  };
}

/** A sentence on the quantities of the other cards in a total. */
function describeOtherCards(others: readonly CardCurve[]): string {
  if (others.length === 0) return "";
  const nonZero = others.filter(({ fixedQuantity }) => !fixedQuantity.isZero());
  if (nonZero.length === 0) return ", all else at 0";
  return truncateText(
    `, with ${nonZero.map(({ name, fixedQuantity }) => `${name} at ${formatQuantity(fixedQuantity)}`).join(", ")}`,
    60,
  );
}

function drawLegend(showsTotal: boolean, total: string, y: number): readonly string[] {
  if (!showsTotal) return [];
  const [first, second] = [LEFT + 12, LEFT + 120];
  return [
    `<path class="card" d="M${first} ${y - 4}h26"/>`,
    drawText(first + 34, y, "this card", "soft"),
    `<path class="total" d="M${second} ${y - 4}h26"/>`,
    drawText(second + 34, y, truncateText(total, charactersPerLine(LEFT + PLOT_WIDTH - second - 34)), "soft"),
  ];
}

function drawAxes(
  xAxis: Axis,
  yAxis: Axis,
  toPoint: (quantity: Decimal, amount: Decimal) => Point,
  digits: number,
): readonly string[] {
  const amounts = yAxis.ticks.flatMap((tick) => {
    const { x, y } = toPoint(xAxis.min, tick);
    return [
      `<path class="grid" d="M${x} ${y.toFixed(1)}h${PLOT_WIDTH}"/>`,
      drawText(x - 10, y + 4, formatTick(tick, digits), "soft end"),
    ];
  });
  const quantities = xAxis.ticks.map((tick, index) => {
    const { x, y } = toPoint(tick, yAxis.min);
    const className = index === 0 ? "soft" : x > WIDTH - MARGIN - 24 ? "soft end" : "soft mid";
    return drawText(x, y + LINE_HEIGHT, formatQuantity(tick), className);
  });
  return [...amounts, ...quantities];
}

/** The amount at a tick, without insignificant digits; large ones are shortened. */
function formatTick(tick: Decimal, digits: number): string {
  return tick.isInteger() ? formatQuantity(tick) : formatCost(tick, digits);
}

function drawSlabEdges(
  curve: PriceCurve,
  xAxis: Axis,
  toPoint: (quantity: Decimal, amount: Decimal) => Point,
  top: number,
): readonly string[] {
  const edges = curveEdges(curve).filter(({ isSlabEdge }) => isSlabEdge);
  const ticks = new Set(xAxis.ticks.map(formatQuantity));
  let lastLabel = Number.NEGATIVE_INFINITY;
  return edges.slice(0, EDGES_MAX).flatMap((edge) => {
    const { x } = toPoint(edge.at.quantity, edge.below);
    const label = formatQuantity(edge.at.quantity);
    const halfWidth = label.length * 3.4 + 4;
    const fits = !ticks.has(label) && x - halfWidth > lastLabel && x + halfWidth < WIDTH;
    if (fits) lastLabel = x + halfWidth;
    return [
      `<path class="edge" d="M${x.toFixed(1)} ${top}v${PLOT_HEIGHT}"/>`,
      ...(fits ? [drawText(x, top + PLOT_HEIGHT + 36, label, "soft mid")] : []),
    ];
  });
}

/** Jumps and falls: a dot for the price at the edge, a ring for the one above it. */
function drawJumps(curve: PriceCurve, toPoint: (quantity: Decimal, amount: Decimal) => Point): readonly string[] {
  const jumps = findJumps(curve);
  const radius = jumps.length > 12 ? 2.5 : 4;
  return jumps.slice(0, EDGES_MAX).flatMap(({ at: { quantity }, kind, below, above }) => {
    const [from, to] = [toPoint(quantity, below), toPoint(quantity, above)];
    return [
      `<path class="jump-line ${kind}" d="M${from.x.toFixed(1)} ${from.y.toFixed(1)}V${to.y.toFixed(1)}"/>`,
      `<circle class="dot ${kind}" cx="${from.x.toFixed(1)}" cy="${from.y.toFixed(1)}" r="${radius}"/>`,
      `<circle class="ring ${kind}" cx="${to.x.toFixed(1)}" cy="${to.y.toFixed(1)}" r="${radius}"/>`,
    ];
  });
}

function drawSentences(curve: CardCurve, digits: number, top: number): ChartPart {
  const slabs = describeSlabs(curve, digits).map((sentence) => ({ kind: "", sentence }));
  const notes = describeJumps(curve, digits);
  const rows = [...limitSentences(slabs, "tiers"), ...limitSentences(notes, "jumps and falls")].flatMap(
    ({ kind, sentence }) => wrapText(sentence, charactersPerLine(WIDTH - MARGIN - LEFT)).map((row) => ({ kind, row })),
  );
  return {
    parts: rows.map(({ kind, row }, index) => drawText(LEFT, top + index * LINE_HEIGHT, row, kind)),
    sentences: [...slabs, ...notes].map(({ sentence }) => sentence),
    height: rows.length * LINE_HEIGHT + 8,
  };
}

interface ChartSentence {
  readonly kind: string;
  readonly sentence: string;
}

function limitSentences(sentences: readonly ChartSentence[], noun: string): readonly ChartSentence[] {
  if (sentences.length <= SENTENCES_MAX) return sentences;
  const more = sentences.length - SENTENCES_MAX;
  return [...sentences.slice(0, SENTENCES_MAX), { kind: "soft", sentence: `and ${more} more ${noun}` }];
}

function curveAmounts({ atZero, pieces }: PriceCurve): readonly Decimal[] {
  return [atZero, ...pieces.flatMap(({ first, last }) => [first, last])];
}

/** How much more the whole cycle costs than the card, if constant. */
function findConstantDifference({ card, total }: CardCurve): Decimal | undefined {
  const [cardAmounts, totalAmounts] = [curveAmounts(card), curveAmounts(total)];
  const differences = totalAmounts.map((amount, index) => subtract(amount, cardAmounts[index] ?? ZERO));
  const [first] = differences;
  if (first === undefined || cardAmounts.length !== totalAmounts.length) return undefined;
  return differences.every((difference) => difference.eq(first)) ? first : undefined;
}

/** Whether the card's curve would be visible on the axis of the whole cycle. */
function isVisibleBesideTotal({ card, total }: CardCurve): boolean {
  const largest = (curve: PriceCurve): Decimal =>
    curveAmounts(curve)
      .map((amount) => amount.abs())
      .reduce(maximum, ZERO);
  return multiply(largest(card), FIVE).gte(largest(total));
}

/** The number of characters that fit a width. */
function charactersPerLine(pixels: number): number {
  return Math.floor(pixels / CHARACTER_WIDTH);
}

/** Wraps a sentence to a number of characters per line; longer words are cut. */
function wrapText(sentence: string, length: number): readonly string[] {
  const rows: string[] = [];
  for (const word of sentence.split(" ")) {
    const row = rows.at(-1);
    if (row !== undefined && row.length + 1 + word.length <= length) rows[rows.length - 1] = `${row} ${word}`;
    else rows.push(truncateText(word, length));
  }
  return rows;
}

function truncateText(content: string, length: number): string {
  const characters = Array.from(content);
  return characters.length <= length ? content : `${characters.slice(0, length - 1).join("")}…`;
}

function drawText(x: number, y: number, content: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${kind === "" ? "" : ` class="${kind}"`}>${escapeHtml(content)}</text>`;
}
