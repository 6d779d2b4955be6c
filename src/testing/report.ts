/**
 * What a failing law prints: the plan and the usage of the smallest case that was found, as tables.
 *
 * @module
 */
import type { BookInput } from "../book/model/book.ts";
import type { RatePlanInput, RateValueInput } from "../book/model/rate-card.ts";
import type { DecimalInput } from "../numbers/decimal.ts";
import { fastCheck } from "./fast-check.ts";
import type { PlanInput } from "./plan-arbitrary.ts";
import { quantityCardsOf } from "./quantities.ts";

/** A text for each column. */
type Row = readonly string[];

/** Rows under a head, columns two blanks apart, each row indented by four. */
export function tableOf(head: Row, rows: readonly Row[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

/** Makes fast-check print a value by this text in place of its fields. @returns the value */
export function shownAs<Value extends object>(value: Value, text: (value: Value) => string): Value {
  return Object.defineProperty(value, fastCheck().toStringMethod, { value: () => `\n${text(value)}\n` });
}

/** What is priced through slabs: a line that says what it is, then its slabs. */
export interface ShownCard {
  readonly id: string;
  /** Such as `usage`. */
  readonly kind: string;
  readonly ratePlan: RatePlanInput;
  readonly rateValues: readonly RateValueInput[];
}

/** A card in one currency: its slabs with their rates, flat rates and bounds. */
export function cardTable({ id, kind, ratePlan, rateValues }: ShownCard, currency: string): string {
  const value = rateValues.find((each) => each.currency === currency);
  const rows = ratePlan.slabs.map(({ order, startAfter, priceType, slabConfig }, index): Row => {
    const rated = value?.slabRates.find((each) => each.order === order);
    const size = slabConfig?.packageSize;
    return [
      textOf(startAfter),
      textOf(ratePlan.slabs[index + 1]?.startAfter) || "…",
      priceType === "PACKAGE" ? `PACKAGE of ${textOf(size)}` : priceType,
      textOf(rated?.rate),
      textOf(rated?.slabRateConfig?.flatRate),
      boundsText(rated?.slabRateConfig),
    ];
  });
  const bounds = boundsText(value?.rateConfig);
  const head = `  ${kind} ${id}, ${ratePlan.pricingModel}, ${currency}${bounds === "" ? "" : `, ${bounds}`}`;
  return `${head}\n${tableOf(["above", "up to", "type", "rate", "flat", "bounds"], rows)}`;
}

interface GivenBounds {
  readonly minimumRate?: DecimalInput | null | undefined;
  readonly maximumRate?: DecimalInput | null | undefined;
}

function boundsText(bounds: GivenBounds | null | undefined): string {
  const [low, high] = [textOf(bounds?.minimumRate), textOf(bounds?.maximumRate)];
  return [low && `at least ${low}`, high && `at most ${high}`].filter((text) => text !== "").join(", ");
}

/** All that a plan charges: the tables of its cards, and a line for each fee, grant and commitment. */
export function planTables({ id, pricePlanDetails: details }: PlanInput): string {
  const currencies = details.supportedCurrencies ?? ["USD"];
  const cards = [
    ...quantityCardsOf({ id, name: id, pricePlanDetails: details }),
    ...(details.billingEntitlementRateCards ?? []).map(({ featureId, ...card }) => ({
      ...card,
      id: featureId,
      kind: "entitlement",
    })),
  ];
  const tables = cards.flatMap((card) => currencies.map((currency) => cardTable(card, currency)));
  const lines = [
    ...(details.billingEntitlementRateCards ?? []).map(
      ({ featureId, featureConfigs }) =>
        `  grants ${featureConfigs.map(({ featureCreditLimit }) => textOf(featureCreditLimit)).join(" + ")} of ${featureId}`,
    ),
    ...(details.fixedFeeRateCards ?? []).map(
      (card) => `  fee ${card.id}: ${ratesText(card.rateValues)}, ${card.invoiceTiming ?? "IN_ARREARS"}`,
    ),
    ...(details.creditGrantRateCards ?? []).map((card) => `  credits ${card.id}`),
    ...(details.minimumCommitment ? [`  at least ${ratesText(details.minimumCommitment.rateValues)}`] : []),
  ];
  return [`plan ${id}`, ...tables, ...lines].join("\n");
}

function ratesText(values: readonly { readonly currency: string; readonly rate: DecimalInput }[]): string {
  return values.map(({ currency, rate }) => `${textOf(rate)} ${currency}`).join(", ");
}

/** The plans that a book's accounts have, and which has which. */
export function bookTables(book: BookInput): string {
  const used = (book.accounts ?? []).flatMap(({ id, pricePlans }) =>
    (pricePlans ?? []).map(({ pricePlanId, effectiveFrom, effectiveUntil }): Row => [
      id,
      pricePlanId,
      effectiveFrom,
      effectiveUntil ?? "…",
    ]),
  );
  const plans = (book.pricePlans ?? []).filter(({ id, name }) => used.some(([, plan]) => plan === id || plan === name));
  const accounts = tableOf(["account", "plan", "from", "until"], used);
  return [...plans.map(planTables), accounts].join("\n");
}

/** A given number as plain text; nothing where there is none. */
function textOf(value: DecimalInput | null | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? value.toFixed() : String(value);
}
