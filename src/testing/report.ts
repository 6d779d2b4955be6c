/**
 * The output of a failing law: the plan and usage of the smallest counterexample, as tables.
 *
 * @module
 */
import type { BookInput } from "../book/resources/book.ts";
import type { RatePlanInput, RateValueInput } from "../book/resources/rates.ts";
import type { DecimalInput } from "../numbers/decimal.ts";
import { fastCheck } from "./fast-check.ts";
import type { PlanInput } from "./plan-arbitrary.ts";
import { listQuantityCards } from "./quantities.ts";

type TableRow = readonly string[];

/** A table with two spaces between columns, indented by four spaces. */
export function formatTable(head: TableRow, rows: readonly TableRow[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

/** Makes fast-check print `text` for a value instead of its fields. @returns the value */
export function withPrintedText<Value extends object>(value: Value, text: (value: Value) => string): Value {
  return Object.defineProperty(value, fastCheck().toStringMethod, { value: () => `\n${text(value)}\n` });
}

/** A card to print, with slabs. */
export interface PrintableCard {
  readonly id: string;
  /** For example `usage`. */
  readonly kind: string;
  readonly ratePlan: RatePlanInput;
  readonly rateValues: readonly RateValueInput[];
}

/** A card's slabs in one currency, with rates, flat rates and bounds. */
export function formatCard({ id, kind, ratePlan, rateValues }: PrintableCard, currency: string): string {
  const value = rateValues.find((each) => each.currency === currency);
  const rows = ratePlan.slabs.map(({ order, startAfter, priceType, slabConfig }, index): TableRow => {
    const ratesOfSlab = value?.slabRates.find((each) => each.order === order);
    const size = slabConfig?.packageSize;
    return [
      formatInput(startAfter),
      formatInput(ratePlan.slabs[index + 1]?.startAfter) || "…",
      priceType === "PACKAGE" ? `PACKAGE of ${formatInput(size)}` : priceType,
      formatInput(ratesOfSlab?.rate),
      formatInput(ratesOfSlab?.slabRateConfig?.flatRate),
      formatBounds(ratesOfSlab?.slabRateConfig),
    ];
  });
  const bounds = formatBounds(value?.rateConfig);
  const head = `  ${kind} ${id}, ${ratePlan.pricingModel}, ${currency}${bounds === "" ? "" : `, ${bounds}`}`;
  return `${head}\n${formatTable(["above", "up to", "type", "rate", "flat", "bounds"], rows)}`;
}

interface RateBoundsInput {
  readonly minimumRate?: DecimalInput | null | undefined;
  readonly maximumRate?: DecimalInput | null | undefined;
}

function formatBounds(bounds: RateBoundsInput | null | undefined): string {
  const [low, high] = [formatInput(bounds?.minimumRate), formatInput(bounds?.maximumRate)];
  return [low && `at least ${low}`, high && `at most ${high}`].filter((text) => text !== "").join(", ");
}

/** All charges of a plan: a table for each card, a line for each fee, grant and commitment. */
export function formatPlan({ id, pricePlanDetails: details }: PlanInput): string {
  const currencies = details.supportedCurrencies ?? ["USD"];
  const cards = [
    ...listQuantityCards({ id, name: id, pricePlanDetails: details }),
    ...(details.billingEntitlementRateCards ?? []).map(({ featureId, ...card }) => ({
      ...card,
      id: featureId,
      kind: "entitlement",
    })),
  ];
  const tables = cards.flatMap((card) => currencies.map((currency) => formatCard(card, currency)));
  const lines = [
    ...(details.billingEntitlementRateCards ?? []).map(
      ({ featureId, featureConfigs }) =>
        `  grants ${featureConfigs.map(({ featureCreditLimit }) => formatInput(featureCreditLimit)).join(" + ")} of ${featureId}`,
    ),
    ...(details.fixedFeeRateCards ?? []).map(
      (card) => `  fee ${card.id}: ${formatRates(card.rateValues)}, ${card.invoiceTiming ?? "IN_ARREARS"}`,
    ),
    ...(details.creditGrantRateCards ?? []).map((card) => `  credits ${card.id}`),
    ...(details.minimumCommitment ? [`  at least ${formatRates(details.minimumCommitment.rateValues)}`] : []),
  ];
  return [`plan ${id}`, ...tables, ...lines].join("\n");
}

function formatRates(values: readonly { readonly currency: string; readonly rate: DecimalInput }[]): string {
  return values.map(({ currency, rate }) => `${formatInput(rate)} ${currency}`).join(", ");
}

/** The plans of a book's accounts, and the plan of each account. */
export function formatBook(book: BookInput): string {
  const associations = (book.accounts ?? []).flatMap(({ id, pricePlans }) =>
    (pricePlans ?? []).map(({ pricePlanId, effectiveFrom, effectiveUntil }): TableRow => [
      id,
      pricePlanId,
      effectiveFrom,
      effectiveUntil ?? "…",
    ]),
  );
  const plans = (book.pricePlans ?? []).filter(({ id, name }) =>
    associations.some(([, plan]) => plan === id || plan === name),
  );
  const accounts = formatTable(["account", "plan", "from", "until"], associations);
  return [...plans.map(formatPlan), accounts].join("\n");
}

/** A number as plain text; empty if undefined. */
function formatInput(value: DecimalInput | null | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? value.toFixed() : String(value);
}
