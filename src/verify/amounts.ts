/**
 * Computes every amount of an invoice again, from its explanations, and tells what differs (S13.6).
 *
 * @module
 */
import { mostOf, reckon, roundingOf, verifyAmount, verifyBelow } from "./charges.ts";
import { type CreditPlace, creditPlaces, type PaidInvoice, verifyCredit } from "./credits.ts";
import {
  compare,
  createTally,
  daysOf,
  figure,
  type Fraction,
  greatest,
  type Json,
  least,
  list,
  type Look,
  look,
  ONE,
  record,
  shown,
  subtract,
  sumOf,
  type Tally,
  text,
  textOf,
  whole,
  ZERO,
} from "./figures.ts";

/** The usage of accounts. */
export interface Usage {
  readonly meterIds: ReadonlySet<string>;
  /** Whether it may lack meters whose events consume a feature: they have no usage cells to be priced (S17.1). */
  readonly mayLackFeatureMeters: boolean;
  /** Units of a meter on the UTC days `[from, until)`; undefined where that cannot be told. */
  readonly between: (accountId: string, meterId: string, from: string, until: string) => Fraction | undefined;
}

/** The counts of what was verified: invoices as a whole, their lines of money, and the quantities of meters. */
export interface VerifiedInvoices extends Readonly<Record<"heads" | "amounts" | "quantities", Tally>> {
  /** Meters that the usage lacks and may lack. */
  readonly unverifiedMeters: ReadonlySet<string>;
}

const KINDS = ["USAGE", "FIXED_FEE", "LICENSE", "BILLING_ENTITLEMENT", "ENTITLEMENT_OVERAGE", "CREDIT_GRANT"];
/** Digits after the point of the currencies of ISO 4217 that have not two. */
const DIGITS: Readonly<Record<string, number>> = Object.fromEntries([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ").map((code) => [code, 0]),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map((code) => [code, 3]),
  ..."CLF UYW".split(" ").map((code) => [code, 4]),
]);
/** The types of the lines right below one that is their sum, each with a space behind it; cards are CARD (S13.2). */
const BELOW: Readonly<Record<string, RegExp>> = {
  TOTAL_AMOUNT: /^NET_AMOUNT $/,
  NET_AMOUNT: /^(TOTAL_CREDITS )?GROSS_AMOUNT $/,
  TOTAL_CREDITS: /^(SUB_CREDITS )+$/,
  GROSS_AMOUNT: /^PRICE_PLAN_AMOUNT $/,
  PRICE_PLAN_AMOUNT: /^SUB_TOTAL_AMOUNT (TRUE_UP_AMOUNT )?$/,
  SUB_TOTAL_AMOUNT: /^(CUSTOM_TAG |CARD )*$/,
  CUSTOM_TAG: /^(CARD )+$/,
};

/** An invoice that is looked through. */
interface Reading extends PaidInvoice {
  readonly invoice: Json;
  /** All invoices of the account. */
  readonly account: readonly Json[];
  /** The places of the lines of the account's credits. */
  readonly places: ReadonlyMap<Json, CreditPlace>;
}

/** Verifies invoices that carry explanations, in any order; those of a cycle, and those that share a credit, all together. */
export function verifyInvoices(given: readonly unknown[], usage?: Usage): VerifiedInvoices {
  const tallies = { heads: createTally(), amounts: createTally(), quantities: createTally() };
  const unverifiedMeters = new Set<string>();
  const invoices = list(given);
  const invoicesOf = new Map<unknown, Json[]>();
  for (const invoice of invoices) {
    const { accountId } = invoice;
    const others = invoicesOf.get(accountId);
    if (others === undefined) invoicesOf.set(accountId, [invoice]);
    else others.push(invoice);
  }
  const placesOf = new Map(
    [...invoicesOf].map(([accountId, own]) => {
      const lines = own.flatMap(({ revenueInfo }) => treeOf(record(revenueInfo)));
      return [accountId, creditPlaces(lines.filter(({ type }) => type === "SUB_CREDITS"))];
    }),
  );
  for (const invoice of invoices) {
    const { accountId } = invoice;
    const lines = treeOf(record(invoice["revenueInfo"]));
    const paid = [...lines.filter(kindOf), ...lines.filter(({ type }) => type === "TRUE_UP_AMOUNT")];
    const reading: Reading = {
      invoice,
      digits: DIGITS[text(invoice["currency"])] ?? 2,
      account: invoicesOf.get(accountId) ?? [],
      isDraft: invoice["status"] === "DRAFT",
      payable: paid.map((line) => {
        return { line, isPayable: kindOf(line) !== "CREDIT_GRANT", open: greatest(figure(line["value"]), ZERO) };
      }),
      net: sumOf(paid, "value"),
      places: placesOf.get(accountId) ?? new Map<Json, CreditPlace>(),
      priority: ZERO,
    };
    const name = [accountId, invoice["invoiceType"], invoice["invoiceDate"]].map(shown).join(" ");
    look(tallies.heads, name, (on) => verifyHead(reading, lines.filter(kindOf), on));
    for (const line of lines) {
      const { type, id } = line;
      if (/_SLAB_AMOUNT$|^RATE_CONFIG/.test(text(type))) continue;
      look(tallies.amounts, `${name}: ${shown(type)}${id === undefined ? "" : ` ${shown(id)}`}`, (on) =>
        verifyLine(line, reading, on),
      );
    }
    if (usage === undefined) continue;
    for (const id of verifyQuantities(name, invoice, usage, tallies.quantities)) unverifiedMeters.add(id);
  }
  return { ...tallies, unverifiedMeters };
}

/** The usage of each meter. @returns the meters that the usage lacks and may lack */
function verifyQuantities(name: string, invoice: Json, usage: Usage, tally: Tally): readonly string[] {
  if (invoice["invoiceType"] !== "STANDARD") return [];
  // A meter without usage has no line; usage stands on STANDARD invoices alone.
  const used = usageIn(invoice);
  const lacking = usage.mayLackFeatureMeters ? featureMetersIn(invoice).filter((id) => !usage.meterIds.has(id)) : [];
  for (const id of new Set([...used.keys(), ...usage.meterIds])) {
    if (lacking.includes(text(id))) continue;
    const units = usage.between(
      text(invoice["accountId"]),
      text(id),
      text(invoice["startDate"]),
      text(invoice["endDate"]),
    );
    if (units === undefined || (!used.has(id) && units.over === 0n)) continue;
    look(tally, `${name}: usage of ${shown(id)}`, (on) => on.expect("", units, used.get(id)));
  }
  return lacking;
}

/**
 * Whole days, and nothing charged twice (S13.1): an invoice has each card once, a STANDARD one is dated at its end and shares
 * no day with another, one in advance is the only one of its days and plan, and no increase is there again.
 */
function verifyHead({ invoice, account }: Reading, cards: readonly Json[], on: Look): void {
  const { invoiceType, startDate, endDate, invoiceDate, usageInfo, revenueInfo } = invoice;
  const standard = account.filter((each) => each["invoiceType"] === "STANDARD");
  const overlaps = (each: Json): boolean =>
    each !== invoice && text(each["startDate"]) < text(endDate) && text(startDate) < text(each["endDate"]);
  const names = cards.map(({ type, id }) => `${shown(type)} ${shown(id)}`);
  const isDays = daysOf({ from: startDate, until: endDate }) > 0;
  on.expect(", endDate", isDays ? endDate : "whole days after the start", endDate);
  on.expect(", cards", [...new Set(names)].join(), names.join());
  on.expect(", revenueInfo, type", "TOTAL_AMOUNT", record(revenueInfo)["type"]);
  for (const { type, lineItems } of usageInfo === undefined ? [] : [record(usageInfo)]) {
    on.expect(", usageInfo, type", "TOTAL_USAGE", type);
    for (const line of list(lineItems)) on.expect(", usageInfo, line, type", "USAGE_METER_USAGE", line["type"]);
  }
  if (invoiceType === "STANDARD") {
    on.expect(", invoiceDate", endDate, invoiceDate);
    on.expect(
      ", startDate",
      standard.some(overlaps) ? "days that no other STANDARD invoice has" : startDate,
      startDate,
    );
    return;
  }
  // An AD_HOC invoice charges increases alone (S10.3), or what a plan that ended at its end had not charged yet (S9.3).
  const increases = cards.filter(({ explanation }) => record(explanation)["least"] !== undefined).length;
  on.expect(", increases", invoiceType === "AD_HOC" ? (isLate(invoice) ? 0 : cards.length) : increases, increases);
  const charge = chargeOf(invoice);
  const isAgain = account.some((each) => each !== invoice && chargeOf(each) === charge);
  on.expect(", invoiceType", isAgain ? "one invoice of its kind, days and plan" : invoiceType, invoiceType);
  verifyDates(invoice, standard, on);
}

/** The start and the date of an invoice in advance or AD_HOC. @param standard the STANDARD invoices of the account */
function verifyDates(
  { invoiceType, startDate, endDate, invoiceDate, dueSince }: Json,
  standard: readonly Json[],
  on: Look,
): void {
  // A change of plan begins on its day or later: it moves no start of a cycle (S16.1).
  const cycle = standard.find((each) => {
    return text(each["startDate"]) <= text(startDate) && text(startDate) < text(each["endDate"]);
  });
  on.expect(", startDate", cycle?.["startDate"] ?? startDate, startDate);
  const isWithin = text(startDate) <= text(invoiceDate) && text(invoiceDate) <= text(endDate);
  const date = isWithin ? invoiceDate : "an instant within the billing period, or its end";
  on.expect(", invoiceDate", invoiceType === "STANDARD_ADVANCED" ? startDate : date, invoiceDate);
  const isAfter = dueSince === undefined || text(dueSince) > text(invoiceDate);
  on.expect(", dueSince", isAfter ? dueSince : "an instant after its date", dueSince);
}

/**
 * What an invoice in advance is about: its days and its plan, as it was decided, which may replace another that was charged for
 * them (S9.5); an increase (S10.3) also its cards, and the seats that were charged before.
 */
function chargeOf(invoice: Json): string {
  const { invoiceType, revenueInfo } = invoice;
  const names = [
    "invoiceType",
    "invoiceDate",
    "startDate",
    "endDate",
    "pricePlanId",
    "pricePlanVersion",
    "planDecidedAt",
  ];
  const about = names.map((name) => invoice[name]);
  if (invoiceType !== "AD_HOC") return about.map(shown).join(" ");
  const cards = treeOf(record(revenueInfo)).filter(kindOf);
  const before = cards.map(
    ({ id, explanation }) => `${shown(id)} above ${shown(record(explanation)["chargedBefore"])}`,
  );
  return [...about, ...before].map(shown).join(" ");
}

/** Whether an invoice charges what was known only after the STANDARD one of its cycle was final: at its end (S9.3). */
function isLate({ invoiceType, invoiceDate, endDate }: Json): boolean {
  return invoiceType === "AD_HOC" && invoiceDate === endDate;
}

/** A line; of a card with the lines below it. */
function verifyLine(line: Json, reading: Reading, on: Look): void {
  const how = record(line["explanation"]);
  const type = text(line["type"]);
  const items = list(line["lineItems"]);
  const kind = kindOf(line);
  const of = kind === undefined ? ({ TRUE_UP_AMOUNT: "TRUE_UP", SUB_CREDITS: "CREDIT" }[type] ?? "SUM") : "CARD";
  on.expect(", explanation, of", of, how["of"]);
  if (kind !== undefined) return verifyCard(line, how, kind, reading, on);
  if (of === "TRUE_UP") return verifyTrueUp(line, how, reading, on);
  if (of === "CREDIT") return verifyCredit(line, reading.places.get(line) ?? {}, reading, on);
  const below = items.map((item) => `${kindOf(item) === undefined ? text(item["type"]) : "CARD"} `).join("");
  on.expect(", type", BELOW[type]?.test(below) === true ? type : `a line over other lines than ${below}`, type);
  on.expect(", value", sumOf(items, "value"), line["value"]);
}

/** A card: its parts, the quantity of its line, and the lines below it. */
function verifyCard(line: Json, how: Json, kind: string, { invoice, digits }: Reading, on: Look): void {
  on.expect(", type", cardType(kind, invoice["invoiceType"] !== "STANDARD"), line["type"]);
  const isByDays = kind === "FIXED_FEE" || kind === "LICENSE";
  const { parts, priced, charged, exact } = reckon(how, isByDays, on);
  verifyServed(how, { kind, isWhole: parts.every(({ share }) => compare(share, ONE) === 0) }, invoice, on);
  if (how["bounds"] !== undefined) {
    const { days, of } = record(record(how["bounds"])["share"]);
    const isWhole = kind === "BILLING_ENTITLEMENT" || kind === "CREDIT_GRANT";
    on.expect(", bounds, days", isWhole ? ONE : whole(daysOf(how["served"])), days);
    on.expect(", bounds, of", isWhole ? ONE : whole(daysOf(how["natural"])), of);
  }
  const round = roundingOf(how, digits, on);
  verifyAmount(line, exact, round(exact), on);
  const priceable = mostOf(parts, 1);
  if (kind === "FIXED_FEE") on.expect(", quantity", undefined, line["quantity"]);
  else if (how["least"] === undefined) {
    const used = kind === "USAGE" ? (usageIn(invoice).get(line["id"]) ?? ZERO) : priceable;
    on.expect(", quantity", used, line["quantity"]);
    // Below zero is priced as zero (S7.5).
    on.expect(", quantity of its parts", greatest(figure(used), ZERO), priceable);
  } else {
    // An increase counts above what was charged, not above what paid for it (S10.3).
    const above = subtract(priceable, parts.length === 0 ? ZERO : on.read(how, "chargedBefore"));
    const isMore = above.over > 0n || parts.length === 0;
    on.expect(", quantity", isMore ? above : "more than was charged before", line["quantity"]);
    verifyIncreaseDays(how, invoice, on);
  }
  const below = compare(charged, priced) > 0 ? [] : parts;
  verifyBelow(line, kind, below, { charged: round(charged), value: round(exact), digits }, on);
}

/**
 * An increase is charged in full, or for the days from its own to the end of its invoice (S10.3); for fewer where it became known
 * later, which older invoices do not say.
 */
function verifyIncreaseDays(how: Json, { invoiceDate, endDate, dueSince, planDecidedAt }: Json, on: Look): void {
  const from = `${text(invoiceDate).slice(0, 10)}T00:00:00.000Z`;
  const most = whole(daysOf({ from, until: endDate }));
  const isLate = dueSince !== undefined || planDecidedAt === undefined;
  for (const [index, part] of list(how["parts"]).entries()) {
    const { days, of } = record(part["share"]);
    if (compare(figure(days), figure(of)) === 0) continue;
    on.expect(`, part ${index + 1}, share, days`, isLate ? least(figure(days), most) : most, days);
  }
}

/** The commitment by days, less what the invoices that charge for the cycle come to, plus what was given back of them (S13.3). */
function verifyTrueUp(line: Json, how: Json, { invoice, account, digits }: Reading, on: Look): void {
  verifyPeriod(how, invoice, on);
  const { exact, parts } = reckon(how, true, on);
  const value = roundingOf(how, digits, on)(exact);
  verifyAmount(line, exact, value, on);
  on.expect(", value", value.over > 0n ? value : "no line where nothing is lacking", line["value"]);
  // Any version of the plan may have charged what begins on a day of the cycle.
  const isOfCycle = (other: Json): boolean =>
    !isLate(other) &&
    (other === invoice || other["invoiceType"] !== "STANDARD") &&
    shown(other["pricePlanId"]) === shown(invoice["pricePlanId"]) &&
    text(invoice["startDate"]) <= text(other["startDate"]) &&
    text(other["startDate"]) < text(invoice["endDate"]);
  const invoiced = account.filter(isOfCycle).map((other) => {
    const subTotal = treeOf(record(other["revenueInfo"])).find(({ type }) => type === "SUB_TOTAL_AMOUNT");
    return { ...other, value: subTotal?.["value"] };
  });
  const named = (each: Json): string =>
    [each["invoiceType"], each["invoiceDate"], textOf(figure(each["value"]))].join(" ");
  on.expect(", invoiced", invoiced.map(named).toSorted().join(), list(how["invoiced"]).map(named).toSorted().join());
  on.expect(", part 2, rate", sumOf(invoiced, "value"), parts[1]?.price);
  const refunds = list(how["refunds"]);
  for (const [index, refund] of refunds.entries()) {
    const amount = roundingOf(refund, digits, on)(reckon(refund, true, on).exact);
    on.expect(`, refund ${index + 1}, value`, amount, refund["value"]);
  }
  // Refunds that round to nothing are listed, and make no part.
  const refunded = sumOf(refunds, "value");
  on.expect(", parts", refunded.over === 0n ? 2 : 3, parts.length);
  on.expect(", part 3, rate", refunded.over === 0n ? undefined : refunded, parts[2]?.price);
}

/**
 * The days that a card served: those of the invoice for usage and seats in arrears, all of the period for what is charged
 * whole (S9.2), and never fewer than those of the invoice. A period that is not served whole begins with an invoice in advance
 * and ends with one in arrears; seats by days are charged up to the end of their invoice, overage where its window ends (S11.7).
 */
function verifyServed(
  how: Json,
  { kind, isWhole }: { readonly kind: string; readonly isWhole: boolean },
  invoice: Json,
  on: Look,
): void {
  const { served, natural } = how;
  const isInArrears = invoice["invoiceType"] === "STANDARD" || isLate(invoice);
  if (kind === "USAGE" || (kind === "LICENSE" && isInArrears)) return verifyPeriod(how, invoice, on);
  const isCut = shown(served) !== shown(natural);
  // A cycle that was cut by the time of an increase is charged to the cut: the days of its parts say so.
  const isStanding = kind === "LICENSE" && !isWhole && how["least"] === undefined;
  const isAtEnd = kind === "ENTITLEMENT_OVERAGE" || (isCut && (isInArrears || isStanding));
  verifyHolds(how, invoice, { isAtStart: isCut && !isInArrears, isAtEnd }, on);
  if (kind !== "ENTITLEMENT_OVERAGE" && kind !== "LICENSE" && isWhole)
    on.expect(", served", shown(natural), shown(served));
}

/** The days that a card served hold those of the invoice, and begin or end with them where that is asked. */
function verifyHolds(
  how: Json,
  { startDate, endDate }: Json,
  { isAtStart, isAtEnd }: { readonly isAtStart: boolean; readonly isAtEnd: boolean },
  on: Look,
): void {
  const { from, until } = record(how["served"]);
  on.expect(", served, from", isAtStart || text(from) > text(startDate) ? startDate : from, from);
  on.expect(", served, until", isAtEnd || text(until) < text(endDate) ? endDate : until, until);
}

/** The billing period is what usage and a commitment are for (S6.7). */
function verifyPeriod(how: Json, { startDate, endDate }: Json, on: Look): void {
  const { from, until } = record(how["served"]);
  on.expect(", served, from", startDate, from);
  on.expect(", served, until", endDate, until);
}

/** The units of each meter that an invoice shows. */
function usageIn(invoice: Json): ReadonlyMap<unknown, unknown> {
  return new Map(list(record(invoice["usageInfo"])["lineItems"]).map(({ id, quantity }) => [id, quantity]));
}

/** The meters with usage whose events consume a feature, as the invoice says. */
function featureMetersIn(invoice: Json): readonly string[] {
  const lines = list(record(invoice["usageInfo"])["lineItems"]);
  return lines.filter(({ featureId }) => featureId !== undefined).map(({ id }) => text(id));
}

/** A line and all lines below it, in the order of the invoice. */
function treeOf(line: Json): readonly Json[] {
  return [line, ...list(line["lineItems"]).flatMap(treeOf)];
}

/** `USAGE` of a usage card's line; undefined of a line that is no card's. */
function kindOf({ type }: Json): string | undefined {
  return KINDS.find((kind) => type === cardType(kind, false) || type === cardType(kind, true));
}

/** The type of a card's line (S13.2). */
function cardType(kind: string, inAdvance: boolean): string {
  if (inAdvance && kind === "FIXED_FEE") return "ADVANCED_FIXED_FEE";
  return `${inAdvance ? "ADVANCED_" : ""}${kind}_RATE_CARD_AMOUNT`;
}
