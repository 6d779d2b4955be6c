/** Recalculates every amount of an invoice from its explanations and reports differences (S13.6). */
import {
  largestQuantity,
  computeCharge,
  type DaySharing,
  verifyRounding,
  verifyRowUnits,
  verifyAmount,
  verifyLinesBelow,
} from "./charges.ts";
import { type CreditLineContext, findCreditLineContexts, type PaidInvoice, verifyCredit } from "./credits.ts";
import {
  compare,
  createTally,
  countDays,
  fractionOrZero,
  maxFraction,
  type JsonObject,
  minFraction,
  asList,
  type Check,
  runCheck,
  ONE,
  asObject,
  formatValue,
  subtract,
  sumFigures,
  type Tally,
  asText,
  formatFraction,
  toWholeFraction,
  ZERO,
} from "./figures.ts";
import {
  cardKind,
  cardType,
  flattenLines,
  isPriceProrated,
  readUsageLines,
  isLate,
  verifyPeriod,
  verifyServed,
} from "./invoice-lines.ts";
import { type Usage, verifyQuantities } from "./quantities.ts";

/** The counts of verified invoices, amount lines and meter quantities. */
export interface VerifiedInvoices extends Readonly<Record<"heads" | "amounts" | "quantities", Tally>> {
  /** Meters that are permitted to be missing from the usage, and are. */
  readonly unverifiedMeters: ReadonlySet<string>;
}

/** Minor-unit digits of the ISO 4217 currencies that don't have two. */
const DIGITS: Readonly<Record<string, number>> = Object.fromEntries([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ").map((code) => [code, 0]),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map((code) => [code, 3]),
  ..."CLF UYW".split(" ").map((code) => [code, 4]),
]);
/** The types of the lines directly below a line that is their sum, each followed by a space. Cards are CARD (S13.2). */
const LINES_BELOW: Readonly<Record<string, RegExp>> = {
  TOTAL_AMOUNT: /^NET_AMOUNT $/,
  NET_AMOUNT: /^(TOTAL_CREDITS )?GROSS_AMOUNT $/,
  TOTAL_CREDITS: /^(SUB_CREDITS )+$/,
  GROSS_AMOUNT: /^PRICE_PLAN_AMOUNT $/,
  PRICE_PLAN_AMOUNT: /^SUB_TOTAL_AMOUNT (TRUE_UP_AMOUNT )?$/,
  SUB_TOTAL_AMOUNT: /^(CUSTOM_TAG |CARD )*$/,
  CUSTOM_TAG: /^(CARD )+$/,
};

/** An invoice under verification. */
interface InvoiceContext extends PaidInvoice {
  readonly invoice: JsonObject;
  /** All invoices of the account. */
  readonly account: readonly JsonObject[];
  /** The context of each line of the account's credits. */
  readonly creditLineContexts: ReadonlyMap<JsonObject, CreditLineContext>;
}

/**
 * Verifies invoices that have explanations, in any order. Invoices of a cycle, or that share a credit, must be
 * together.
 */
export function verifyInvoices(invoiceValues: readonly unknown[], usage?: Usage): VerifiedInvoices {
  const tallies = { heads: createTally(), amounts: createTally(), quantities: createTally() };
  const unverifiedMeters = new Set<string>();
  const invoices = asList(invoiceValues);
  const invoicesByAccount = new Map<unknown, JsonObject[]>();
  for (const invoice of invoices) {
    const accountInvoices = invoicesByAccount.get(invoice["accountId"]) ?? [];
    accountInvoices.push(invoice);
    invoicesByAccount.set(invoice["accountId"], accountInvoices);
  }
  const contextsByAccount = new Map(
    [...invoicesByAccount].map(([accountId, accountInvoices]) => {
      const lines = accountInvoices.flatMap(({ revenueInfo }) => flattenLines(asObject(revenueInfo)));
      return [accountId, findCreditLineContexts(lines.filter(({ type }) => type === "SUB_CREDITS"))];
    }),
  );
  for (const invoice of invoices) {
    const { accountId } = invoice;
    const lines = flattenLines(asObject(invoice["revenueInfo"]));
    const payableLines = [...lines.filter(cardKind), ...lines.filter(({ type }) => type === "TRUE_UP_AMOUNT")];
    const context: InvoiceContext = {
      invoice,
      digits: DIGITS[asText(invoice["currency"])] ?? 2,
      account: invoicesByAccount.get(accountId) ?? [],
      isDraft: invoice["status"] === "DRAFT",
      payable: payableLines.map((line) => ({
        line,
        isPayable: cardKind(line) !== "CREDIT_GRANT",
        unpaid: maxFraction(fractionOrZero(line["value"]), ZERO),
      })),
      unpaidTotal: sumFigures(payableLines, "value"),
      creditLineContexts: contextsByAccount.get(accountId) ?? new Map<JsonObject, CreditLineContext>(),
      priority: undefined,
    };
    const name = [accountId, invoice["invoiceType"], invoice["invoiceDate"]].map(formatValue).join(" ");
    runCheck(tallies.heads, name, (check) => verifyInvoiceHead(context, lines.filter(cardKind), check));
    for (const line of lines) {
      const { type, id } = line;
      if (/_SLAB_AMOUNT$|^RATE_CONFIG/.test(asText(type))) continue;
      runCheck(
        tallies.amounts,
        `${name}: ${formatValue(type)}${id === undefined ? "" : ` ${formatValue(id)}`}`,
        (check) => verifyLine(line, context, check),
      );
    }
    if (usage === undefined) continue;
    const cards = lines.filter((line) => cardKind(line) === "USAGE");
    for (const id of verifyQuantities(name, { invoice, cards }, usage, tallies.quantities)) unverifiedMeters.add(id);
  }
  return { ...tallies, unverifiedMeters };
}

/**
 * Verifies that days are whole and nothing is charged twice (S13.1): each card appears once; a STANDARD invoice is
 * dated at its end and overlaps no other; an invoice in advance is the only one for its days and plan; no increase
 * appears twice.
 */
function verifyInvoiceHead({ invoice, account }: InvoiceContext, cards: readonly JsonObject[], check: Check): void {
  const { invoiceType, startDate, endDate, invoiceDate, usageInfo, revenueInfo } = invoice;
  const standard = account.filter((each) => each["invoiceType"] === "STANDARD");
  const overlaps = (each: JsonObject): boolean =>
    each !== invoice && asText(each["startDate"]) < asText(endDate) && asText(startDate) < asText(each["endDate"]);
  const names = cards.map(({ type, id }) => `${formatValue(type)} ${formatValue(id)}`);
  const isDays = countDays({ from: startDate, until: endDate }) > 0;
  check.expect(", endDate", isDays ? endDate : "whole days after the start", endDate);
  check.expect(", cards", [...new Set(names)].join(), names.join());
  check.expect(", revenueInfo, type", "TOTAL_AMOUNT", asObject(revenueInfo)["type"]);
  for (const { type, lineItems } of usageInfo === undefined ? [] : [asObject(usageInfo)]) {
    check.expect(", usageInfo, type", "TOTAL_USAGE", type);
    for (const line of asList(lineItems)) check.expect(", usageInfo, line, type", "USAGE_METER_USAGE", line["type"]);
  }
  if (invoiceType === "STANDARD") {
    check.expect(", invoiceDate", endDate, invoiceDate);
    check.expect(
      ", startDate",
      standard.some(overlaps) ? "days that no other STANDARD invoice has" : startDate,
      startDate,
    );
    return;
  }
  // An AD_HOC invoice contains only increases (S10.3), or what an ended plan had not charged by its end (S9.3).
  const increases = cards.filter(({ explanation }) => asObject(explanation)["least"] !== undefined).length;
  check.expect(", increases", invoiceType === "AD_HOC" ? (isLate(invoice) ? 0 : cards.length) : increases, increases);
  const charge = chargeIdentity(invoice);
  const isRepeatedCharge = account.some((each) => each !== invoice && chargeIdentity(each) === charge);
  if (isRepeatedCharge)
    check.expect(", invoiceType", "one invoice of its kind, days and plan", "another with the same");
  else check.expect(", invoiceType", invoiceType, invoiceType);
  verifyDates(invoice, standard, check);
}

/**
 * Verifies the start and the date of an invoice in advance or AD_HOC.
 * @param standard the account's STANDARD invoices
 */
function verifyDates(
  { invoiceType, startDate, endDate, invoiceDate, dueSince }: JsonObject,
  standard: readonly JsonObject[],
  check: Check,
): void {
  // A plan change starts on its day or later, and doesn't move the start of a cycle (S16.1).
  const cycle = standard.find((each) => {
    return asText(each["startDate"]) <= asText(startDate) && asText(startDate) < asText(each["endDate"]);
  });
  check.expect(", startDate", cycle?.["startDate"] ?? startDate, startDate);
  const isWithin = asText(startDate) <= asText(invoiceDate) && asText(invoiceDate) <= asText(endDate);
  const date = isWithin ? invoiceDate : "an instant within the billing period, or its end";
  check.expect(", invoiceDate", invoiceType === "STANDARD_ADVANCED" ? startDate : date, invoiceDate);
  const isAfter = dueSince === undefined || asText(dueSince) > asText(invoiceDate);
  check.expect(", dueSince", isAfter ? dueSince : "an instant after its date", dueSince);
}

/**
 * Identifies what an invoice in advance charges: its days and its plan, which may replace one already charged for them
 * (S9.5). An increase is identified by its cards and the quantity charged before, too (S10.3).
 */
function chargeIdentity(invoice: JsonObject): string {
  const { invoiceType, revenueInfo } = invoice;
  const names = "invoiceType invoiceDate startDate endDate pricePlanId pricePlanVersion planDecidedAt".split(" ");
  const identity = names.map((name) => invoice[name]);
  if (invoiceType !== "AD_HOC") return identity.map(formatValue).join(" ");
  const cards = flattenLines(asObject(revenueInfo)).filter(cardKind);
  const before = cards.map(
    ({ id, explanation }) => `${formatValue(id)} above ${formatValue(asObject(explanation)["chargedBefore"])}`,
  );
  return [...identity, ...before].map(formatValue).join(" ");
}

/** Verifies a line and, for a card, the lines below it. */
function verifyLine(line: JsonObject, context: InvoiceContext, check: Check): void {
  const explanation = asObject(line["explanation"]);
  const type = asText(line["type"]);
  const items = asList(line["lineItems"]);
  const kind = cardKind(line);
  const expectedKind =
    kind === undefined ? ({ TRUE_UP_AMOUNT: "TRUE_UP", SUB_CREDITS: "CREDIT" }[type] ?? "SUM") : "CARD";
  check.expect(", explanation, of", expectedKind, explanation["of"]);
  if (kind !== undefined) return verifyCard(line, explanation, kind, context, check);
  if (expectedKind === "TRUE_UP") return verifyTrueUp(line, explanation, context, check);
  if (expectedKind === "CREDIT") return verifyCredit(line, context.creditLineContexts.get(line) ?? {}, context, check);
  const typesBelow = items.map((item) => `${cardKind(item) === undefined ? asText(item["type"]) : "CARD"} `).join("");
  check.expect(
    ", type",
    LINES_BELOW[type]?.test(typesBelow) === true ? type : `a type that can contain ${typesBelow.trim()}`,
    type,
  );
  check.expect(", value", sumFigures(items, "value"), line["value"]);
}

/** Verifies a card: its parts, its quantity, and the lines below it. */
function verifyCard(
  line: JsonObject,
  explanation: JsonObject,
  kind: string,
  { invoice, digits }: InvoiceContext,
  check: Check,
): void {
  check.expect(", type", cardType(kind, invoice["invoiceType"] !== "STANDARD"), line["type"]);
  const sharing = findSharing(line, kind);
  const { parts, priceTotal, chargeTotal, exact } = computeCharge(explanation, sharing, check);
  verifyServed(explanation, { kind, isWhole: parts.every(({ share }) => compare(share, ONE) === 0) }, invoice, check);
  verifyLimitDays(explanation, kind, sharing, check);
  const round = verifyRounding(explanation, digits, check);
  verifyAmount(line, exact, round(exact), check);
  const priceable = largestQuantity(parts, 1);
  if (kind === "FIXED_FEE") check.expect(", quantity", undefined, line["quantity"]);
  else if (explanation["least"] === undefined) {
    const usedUnits = kind === "USAGE" ? (readUsageLines(invoice).get(line["id"]) ?? ZERO) : priceable;
    check.expect(", quantity", usedUnits, line["quantity"]);
    // A negative quantity is priced as 0 (S7.5).
    const unpriced = asList(invoice["unpriced"]).filter(({ meterId }) => meterId === line["id"]);
    if (JSON.stringify(explanation["rules"]).includes("#s18."))
      verifyRowUnits(explanation, unpriced, fractionOrZero(usedUnits), check);
    else check.expect(", quantity of its parts", maxFraction(fractionOrZero(usedUnits), ZERO), priceable);
  } else {
    // An increase counts from the quantity charged, not from the quantity paid for (S10.3).
    const above = subtract(priceable, parts.length === 0 ? ZERO : check.readFigure(explanation, "chargedBefore"));
    const isMore = above.numerator > 0n || parts.length === 0;
    check.expect(", quantity", isMore ? above : "more than was charged before", line["quantity"]);
    verifyIncreaseDays(explanation, invoice, check);
  }
  const partsBelow = compare(chargeTotal, priceTotal) > 0 ? [] : parts;
  verifyLinesBelow(line, kind, partsBelow, { charged: round(chargeTotal), value: round(exact), digits }, check);
}

/** Which days the parts of a card are charged for. */
function findSharing(line: JsonObject, kind: string): DaySharing {
  if (kind === "USAGE") return isPriceProrated(line) ? "EACH" : "NONE";
  return kind === "FIXED_FEE" || kind === "LICENSE" ? "RUNS" : "NONE";
}

/** Verifies the days by which limits and an allowance are prorated: an allowance is not if the price is (S19.4). */
function verifyLimitDays(explanation: JsonObject, kind: string, sharing: DaySharing, check: Check): void {
  for (const name of ["bounds", "allowance"]) {
    if (explanation[name] === undefined) continue;
    const { days, of } = asObject(asObject(explanation[name])["share"]);
    const isOnce = kind === "BILLING_ENTITLEMENT" || kind === "CREDIT_GRANT";
    const isWhole = isOnce || (name === "allowance" && sharing === "EACH");
    check.expect(`, ${name}, days`, isWhole ? ONE : toWholeFraction(countDays(explanation["served"])), days);
    check.expect(`, ${name}, of`, isWhole ? ONE : toWholeFraction(countDays(explanation["natural"])), of);
  }
}

/**
 * Verifies that an increase is charged in full, or from its day to the end of its invoice (S10.3). If it became known
 * later it is charged for fewer days, which older invoices don't state.
 */
function verifyIncreaseDays(
  explanation: JsonObject,
  { invoiceDate, endDate, dueSince, planDecidedAt }: JsonObject,
  check: Check,
): void {
  const from = `${asText(invoiceDate).slice(0, 10)}T00:00:00.000Z`;
  const maximum = toWholeFraction(countDays({ from, until: endDate }));
  const isLate = dueSince !== undefined || planDecidedAt === undefined;
  for (const [index, part] of asList(explanation["parts"]).entries()) {
    const { days, of } = asObject(part["share"]);
    if (compare(fractionOrZero(days), fractionOrZero(of)) === 0) continue;
    check.expect(
      `, part ${index + 1}, share, days`,
      isLate ? minFraction(fractionOrZero(days), maximum) : maximum,
      days,
    );
  }
}

/** Verifies a true-up: the prorated commitment, minus the invoices of the cycle, plus their refunds (S13.3). */
function verifyTrueUp(
  line: JsonObject,
  explanation: JsonObject,
  { invoice, account, digits }: InvoiceContext,
  check: Check,
): void {
  verifyPeriod(explanation, invoice, check);
  const { exact, parts } = computeCharge(explanation, "RUNS", check);
  const value = verifyRounding(explanation, digits, check)(exact);
  verifyAmount(line, exact, value, check);
  check.expect(
    ", value",
    value.numerator > 0n ? value : "no true-up, because the commitment is reached",
    line["value"],
  );
  // Any version of the plan may have charged for days of the cycle.
  const isOfCycle = (other: JsonObject): boolean =>
    !isLate(other) &&
    (other === invoice || other["invoiceType"] !== "STANDARD") &&
    formatValue(other["pricePlanId"]) === formatValue(invoice["pricePlanId"]) &&
    asText(invoice["startDate"]) <= asText(other["startDate"]) &&
    asText(other["startDate"]) < asText(invoice["endDate"]);
  const cycleInvoices = account.filter(isOfCycle).map((other) => {
    const subTotal = flattenLines(asObject(other["revenueInfo"])).find(({ type }) => type === "SUB_TOTAL_AMOUNT");
    return { ...other, value: subTotal?.["value"] };
  });
  const describeInvoice = (each: JsonObject): string =>
    [each["invoiceType"], each["invoiceDate"], formatFraction(fractionOrZero(each["value"]))].join(" ");
  check.expect(
    ", invoiced",
    cycleInvoices.map(describeInvoice).toSorted().join(),
    asList(explanation["invoiced"]).map(describeInvoice).toSorted().join(),
  );
  check.expect(", part 2, rate", sumFigures(cycleInvoices, "value"), parts[1]?.price);
  const refunds = asList(explanation["refunds"]);
  for (const [index, refund] of refunds.entries()) {
    const amount = verifyRounding(refund, digits, check)(computeCharge(refund, "RUNS", check).exact);
    check.expect(`, refund ${index + 1}, value`, amount, refund["value"]);
  }
  // Refunds that round to 0 are listed, but have no part.
  const refundTotal = sumFigures(refunds, "value");
  check.expect(", parts", refundTotal.numerator === 0n ? 2 : 3, parts.length);
  check.expect(", part 3, rate", refundTotal.numerator === 0n ? undefined : refundTotal, parts[2]?.price);
}
