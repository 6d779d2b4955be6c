/**
 * Computes every amount of an invoice again, from its explanations, and tells what differs (S13.6).
 *
 * @module
 */

import { daysOf, expectedCard, kindOf, shareOfPeriod, usageLine, WHOLE } from "./charges.ts";
import {
  compare,
  createTally,
  type Tally,
  divide,
  figure,
  type Fraction,
  greatest,
  type Json,
  kept,
  least,
  list,
  modeOf,
  multiply,
  ONE,
  record,
  rounded,
  subtract,
  sumOf,
  text,
  textOf,
  type Usage,
  ZERO,
} from "./figures.ts";

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
interface Reading {
  readonly invoice: Json;
  readonly digits: number;
  /** All invoices of the account. */
  readonly account: readonly Json[];
  /** The lines that credits pay, in their order, and what is open of each. */
  readonly payable: { readonly line: Json; open: Fraction }[];
  /** What is left to pay of all of them. */
  net: Fraction;
  /** What was left of each credit of the account when an earlier invoice had taken its part. */
  readonly credits: Map<unknown, Fraction>;
  /** The priority of the credit above. */
  priority: Fraction;
}

/** What was verified: invoices as a whole, their lines of money, and the quantities of meters. */
export type VerifiedInvoices = Readonly<Record<"heads" | "amounts" | "quantities", Tally>>;

/**
 * Verifies invoices that carry explanations.
 *
 * @param given in the order in which they take credits; those of one cycle all together
 * @param usage where quantities are to be verified, too
 */
export function verifyInvoices(given: unknown, usage?: Usage): VerifiedInvoices {
  const tallies: VerifiedInvoices = { heads: createTally(), amounts: createTally(), quantities: createTally() };
  const invoices = list(given);
  const accounts = new Map<unknown, Json[]>();
  for (const invoice of invoices) {
    const { accountId } = invoice;
    accounts.set(accountId, [...(accounts.get(accountId) ?? []), invoice]);
  }
  const credits = new Map([...accounts.keys()].map((accountId) => [accountId, new Map<unknown, Fraction>()]));
  for (const invoice of invoices) {
    const { accountId, currency } = invoice;
    const lines = treeOf(record(invoice["revenueInfo"]));
    const paid = [...lines.filter(kindOf), ...lines.filter(({ type }) => type === "TRUE_UP_AMOUNT")];
    const reading: Reading = {
      invoice,
      digits: DIGITS[text(currency)] ?? 2,
      account: accounts.get(accountId) ?? [],
      payable: paid.map((line) => ({ line, open: greatest(figure(line["value"]), ZERO) })),
      net: sumOf(paid, "value"),
      credits: credits.get(accountId) ?? new Map(),
      priority: ZERO,
    };
    const name = [accountId, invoice["invoiceType"], invoice["invoiceDate"]].map(text).join(" ");
    verifyHead(reading, lines, name, tallies.heads);
    for (const line of lines) verifyLine(line, reading, name, tallies.amounts);
    if (usage !== undefined) verifyQuantities(invoice, usage, name, tallies.quantities);
  }
  return tallies;
}

/** A line with, of a card, the lines below it. */
function verifyLine(line: Json, reading: Reading, name: string, tally: Tally): void {
  const type = text(line["type"]);
  if (/_SLAB_AMOUNT$|^RATE_CONFIG/.test(type)) return;
  const where = `${name}: ${type}${line["id"] === undefined ? "" : ` ${text(line["id"])}`}`;
  const { lineItems = [], ...expected } = expectedOf(line, reading);
  tally.expect(where, expected, Object.fromEntries(Object.entries(line).filter(([part]) => part !== "lineItems")));
  const items = type in BELOW ? [] : list(line["lineItems"]);
  for (const index of Array.from({ length: Math.max(lineItems.length, items.length) }).keys()) {
    tally.expect(`${where}, line ${index + 1} below`, lineItems[index], items[index]);
  }
}

/** The usage that a STANDARD invoice shows; a meter without usage has no line. */
function verifyQuantities(invoice: Json, usage: Usage, name: string, tally: Tally): void {
  const { accountId, invoiceType, startDate, endDate } = invoice;
  const ids = list(record(invoice["usageInfo"])["lineItems"]).map(({ id }) => text(id));
  for (const meterId of invoiceType === "STANDARD" ? new Set([...ids, ...usage.meterIds]) : []) {
    const units = usage.between(text(accountId), meterId, text(startDate), text(endDate));
    const found = usageLine(invoice, meterId)?.["quantity"];
    const none = found === undefined && units?.over === 0n;
    if (units !== undefined && !none) tally.expect(`${name}: usage of ${meterId}`, units, found);
  }
}

/** Whole days; a STANDARD invoice is dated at its end, shares no day with another, and has each card once (S13.1). */
function verifyHead({ invoice, account }: Reading, lines: readonly Json[], name: string, tally: Tally): void {
  const cards = lines.filter(kindOf).map(({ type, id }) => `${text(type)} ${text(id)}`);
  const { invoiceType, startDate, endDate, invoiceDate } = invoice;
  const standard = invoiceType === "STANDARD";
  const overlaps = (other: Json): boolean =>
    other !== invoice &&
    other["invoiceType"] === "STANDARD" &&
    text(other["startDate"]) < text(endDate) &&
    text(startDate) < text(other["endDate"]);
  const expected = {
    startDate: standard && account.some(overlaps) ? "days that no other STANDARD invoice has" : startDate,
    endDate: daysOf({ from: startDate, until: endDate }) > 0 ? endDate : "whole days after the start",
    invoiceDate: standard ? endDate : invoiceType === "STANDARD_ADVANCED" ? startDate : invoiceDate,
    cards: standard ? [...new Set(cards)] : cards,
  };
  tally.expect(name, expected, { startDate, endDate, invoiceDate, cards });
}

/** A line as it should be; of a card with the lines below it. */
function expectedOf(line: Json, reading: Reading): Json & { readonly lineItems?: readonly Json[] } {
  const how = record(line["explanation"]);
  const type = text(line["type"]);
  const items = list(line["lineItems"]);
  const below = items.map((item) => `${kindOf(item) === undefined ? text(item["type"]) : "CARD"} `).join("");
  const face = kept(line, "id", "description");
  if (type in BELOW) {
    const shape = BELOW[type]?.test(below) === true ? type : `a line over other lines than ${below}`;
    return { ...face, type: shape, value: sumOf(items, "value"), explanation: { of: "SUM", ...kept(how, "rules") } };
  }
  if (kindOf(line) !== undefined) return expectedCard(line, how, reading.invoice, reading.digits);
  if (type === "TRUE_UP_AMOUNT") return { ...face, type, ...expectedTrueUp(how, reading) };
  if (type === "SUB_CREDITS") return { ...face, type, ...expectedCredit(line, how, reading) };
  return { type: "a line of an invoice" };
}

/** The commitment by days, less what the invoices of the cycle come to (S13.3). */
function expectedTrueUp(how: Json, { invoice, account, digits }: Reading): Json {
  const { startDate, endDate } = invoice;
  const [commitment = {}, taken = {}] = list(how["parts"]);
  const cards = treeOf(record(invoice["revenueInfo"])).filter((line) => kindOf(line) === "USAGE");
  const natural = shareOfPeriod(record(cards[0]?.["explanation"])).of;
  const of = cards.length === 0 ? figure(record(commitment["share"])["of"]) : natural;
  const share = { days: figure(daysOf({ from: startDate, until: endDate })), of };
  const named = (each: Json): string =>
    [each["invoiceType"], each["invoiceDate"], textOf(figure(each["value"]))].map(text).join(" ");
  const said = list(how["invoiced"]).map(named);
  const sameCycle = (other: Json): boolean =>
    ["startDate", "pricePlanId", "pricePlanVersion"].every((name) => text(other[name]) === text(invoice[name]));
  const invoiced = account.filter(sameCycle).map((other): Json => {
    const subTotal = treeOf(record(other["revenueInfo"])).find(({ type }) => type === "SUB_TOTAL_AMOUNT");
    return { ...kept(other, "invoiceType", "invoiceDate"), value: figure(subTotal?.["value"]) };
  });
  const rate = figure(commitment["rate"]);
  const total = sumOf(invoiced, "value");
  const mode = modeOf(how);
  const value = rounded(subtract(multiply(rate, divide(share.days, share.of)), total), digits, mode);
  return {
    value: value.over > 0n ? value : "no line where nothing is lacking",
    explanation: {
      of: "TRUE_UP",
      ...kept(how, "rules"),
      parts: [
        { ...kept(commitment, "because"), sign: ONE, share, rate },
        { ...kept(taken, "because"), sign: figure(-1), share: WHOLE, rate: total },
      ],
      least: ZERO,
      invoiced: invoiced.toSorted((a, b) => said.indexOf(named(a)) - said.indexOf(named(b))),
      rounding: { mode, digits: figure(digits) },
    },
  };
}

/** A credit pays line after line all that it can, cut to the minor unit (S12.3). */
function expectedCredit(line: Json, how: Json, reading: Reading): Json {
  const { payable, credits, digits } = reading;
  const left = credits.get(line["id"]) ?? figure(how["left"]);
  const priority = figure(how["priority"]);
  let open = least(rounded(left, digits, "DOWN"), reading.net);
  let place = -1;
  const paid = list(how["paid"]).map((payment): Json => {
    place = payable.findIndex(
      (each, index) =>
        index > place &&
        each.open.over > 0n &&
        each.line["type"] === payment["type"] &&
        each.line["id"] === payment["id"],
    );
    const item = payable[place];
    if (item === undefined || kindOf(item.line) === "CREDIT_GRANT")
      return { type: "a line of this invoice that is open" };
    const amount = least(item.open, open);
    item.open = subtract(item.open, amount);
    open = subtract(open, amount);
    reading.net = subtract(reading.net, amount);
    return { ...kept(payment, "type", "id"), amount: amount.over > 0n ? amount : "more than 0" };
  });
  const taken = sumOf(paid, "amount");
  const expected = compare(priority, reading.priority) < 0 ? `${textOf(reading.priority)} or more` : priority;
  reading.priority = priority;
  credits.set(line["id"], subtract(left, taken));
  return {
    value: subtract(ZERO, taken),
    explanation: {
      of: "CREDIT",
      ...kept(how, "rules"),
      priority: expected,
      left,
      paid,
      remaining: subtract(left, taken),
    },
  };
}

/** A line and all lines below it, in the order of the invoice. */
function treeOf(line: Json): readonly Json[] {
  return [line, ...list(line["lineItems"]).flatMap(treeOf)];
}
