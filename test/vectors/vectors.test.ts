/** The vectors match our engine, and the independent verifier where both compute the same. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";

import { nameTexts } from "../../src/book/resources/event-schema.ts";
import type { RatePlanInput } from "../../src/book/resources/rate-card.ts";
import { rateRows, rateTable } from "../../src/book/resources/rate-table.ts";
import { type Cycle, type CycleConfig, shareOfDays } from "../../src/calendar/cycle.ts";
import { dayOf, formatDate, parseDate } from "../../src/calendar/instant.ts";
import { applyCredits, compareCredits } from "../../src/credits/monetary-credits.ts";
import { cyclesBetween, Decimal, type EventInput, preview, priceQuantity } from "../../src/index.ts";
import { allLines } from "../../src/invoicing/invoice.ts";
import { add, sum } from "../../src/numbers/decimal.ts";
import {
  decimalOfFraction,
  roundFraction,
  multiplyByShare,
  subtractFractions,
  sumFractions,
  toFraction,
} from "../../src/numbers/fraction.ts";
import { roundLines, type UnpricedUsage } from "../../src/rating/charge.ts";
import { priceUsageByTable } from "../../src/rating/rate-table.ts";
import { joinTableRates } from "../../src/rating/rated-table.ts";
import { chargeByTable } from "../../src/rating/table-charge.ts";
import {
  type CreditsVector,
  type InvoicesVector,
  type PriceVector,
  type QuantityVector,
  type RemaindersVector,
  type TableVector,
  type Vector,
  type VectorDays,
  type VectorGroupQuantity,
  vectors,
} from "../../src/vectors.ts";
import { divide, fractionOrZero, multiply, roundToDigits, formatFraction } from "../../src/verify/figures.ts";
import { createMetering } from "../../src/verify/metering.ts";
import { usageFromCells, verify } from "../../src/verify/verify.ts";

const root = join(import.meta.dirname, "../..");

function daysOf({ from, until }: VectorDays): Cycle {
  return { start: parseDate(from), end: parseDate(until) };
}

/** The result of our engine for a vector, in the vector's format. */
function runVector(vector: Vector): Vector["expected"] {
  switch (vector.kind) {
    case "price":
      return madePrice(vector.input);
    case "table":
      return madeTable(vector.input);
    case "quantity":
      return madeQuantity(vector.input);
    case "invoices":
      return madeInvoices(vector.input);
    case "cycles": {
      const { pricingCycleConfig, from, until } = vector.input;
      const cycles = cyclesBetween(pricingCycleConfig as CycleConfig, from, until);
      return { starts: cycles.map(({ start }) => formatDate(start)) };
    }
    case "proration": {
      const { amount, served, natural, digits, rounding } = vector.input;
      const { days, of } = shareOfDays(daysOf(served), daysOf(natural));
      return {
        days,
        of,
        amount: roundFraction(multiplyByShare(toFraction(new Decimal(amount)), days, of), digits, rounding).toFixed(),
      };
    }
    case "remainders":
      return madeRemainders(vector.input);
    case "credits":
      return madeCredits(vector.input);
  }
}

function madePrice({ ratePlan, rateValue, quantity }: PriceVector["input"]): PriceVector["expected"] {
  const { amount, slabs, adjustment } = priceQuantity(ratePlan as RatePlanInput, rateValue, quantity);
  const slabRows = slabs.map((slab) => ({
    order: slab.order,
    quantity: slab.quantity.toFixed(),
    amount: slab.amount.toFixed(),
  }));
  return { amount: amount.toFixed(), slabs: slabRows, adjustment: adjustment.toFixed() };
}

function madeTable(input: TableVector["input"]): TableVector["expected"] {
  const { groupBy, currency, rateTable: table, rows, multiply: factor, served, natural, usage } = input;
  const pricing = {
    rateTable: rateTable.parse(table),
    rows: rows && rateRows.parse(rows),
    multiply: factor === undefined ? undefined : new Decimal(factor),
  };
  const groups = usage.map(({ date, group, quantity }) => ({
    group: groupBy.map((dimension) => group[dimension] ?? ""),
    day: dayOf(parseDate(date)),
    quantity: new Decimal(quantity),
  }));
  const ratedTable = joinTableRates(pricing, groupBy, currency);
  const period = { served: daysOf(served), natural: daysOf(natural) };
  const tableUsage = { meterId: "units", quantity: sum(groups.map(({ quantity }) => quantity)), groups };
  const { charged, bounded, slabs, explanation, unpriced } = chargeByTable(ratedTable, tableUsage, period);
  const priced = priceUsageByTable(ratedTable, groups, {
    from: dayOf(period.served.start),
    until: dayOf(period.served.end),
    share: shareOfDays(period.served, period.natural),
  });
  const free = explanation.free?.map(({ when, quantity }) => ({ when, quantity: quantity.toFixed() }));
  const belowZero = priced.belowZero.map(({ row, groups: [group], quantity }) => ({
    group: row.countsByGroup ? nameTexts(group ?? [], groupBy) : row.when,
    quantity: quantity.toFixed(),
  }));
  return {
    amount: decimalOfFraction(charged).toFixed(),
    adjustment: decimalOfFraction(subtractFractions(bounded, charged)).toFixed(),
    lines: slabs.map(({ order, quantity, rate, amount, usage: usageOfLine }) => ({
      group: usageOfLine?.group ?? {},
      from: usageOfLine?.startDate ?? "",
      until: usageOfLine?.endDate ?? "",
      tier: order,
      quantity: quantity.toFixed(),
      rate: rate.toFixed(),
      amount: decimalOfFraction(amount).toFixed(),
    })),
    ...(free && { free }),
    ...(unpriced && { unpriced: unpriced.map(formatGroupQuantity) }),
    ...(belowZero.length > 0 && { belowZero }),
  };
}

function formatGroupQuantity({ group, quantity }: Pick<UnpricedUsage, "group" | "quantity">): VectorGroupQuantity {
  return { group, quantity: quantity.toFixed() };
}

function madeQuantity(input: QuantityVector["input"]): QuantityVector["expected"] {
  const { book, events } = bookOfMeter(input);
  const { invoices } = preview(book, events as readonly EventInput[], input.period);
  const quantities = invoices.flatMap(({ usageInfo }) => usageInfo?.lineItems ?? []).map(({ quantity }) => quantity);
  return { quantity: sum(quantities).toFixed() };
}

function madeInvoices({ book, events }: InvoicesVector["input"]): InvoicesVector["expected"] {
  const { invoices } = preview(book, events as readonly EventInput[]);
  return {
    invoices: invoices.map(({ accountId, startDate, endDate, revenueInfo, unpriced }) => ({
      accountId,
      from: startDate.slice(0, 10),
      until: endDate.slice(0, 10),
      value: revenueInfo.value.toFixed(),
      lines: allLines(revenueInfo)
        .filter(({ lineItems, value }) => lineItems === undefined && !value.isZero())
        .map(({ type, id, value }) => ({ type, ...(id !== undefined && { id }), value: value.toFixed() })),
      ...(unpriced && { unpriced: unpriced.map(formatGroupQuantity) }),
    })),
  };
}

/** A book with a card of the vector's table, and an event for each of its usage. */
function bookOfTable({
  groupBy,
  currency,
  rateTable: table,
  rows,
  multiply: factor,
  served,
  usage,
}: TableVector["input"]): InvoicesVector["input"] {
  const changes = { ...(rows && { rows }), ...(factor !== undefined && { multiply: factor }) };
  const override = { usage: [{ meter: "units", ...changes }] };
  const period = { plan: "pp", from: served.from, until: served.until };
  const book = {
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: groupBy }],
    usageMeters: [{ id: "units", schema: "call", sum: "n", groupBy }],
    pricePlans: [
      {
        id: "pp",
        cycle: "MONTHLY",
        currencies: currency === "USD" ? ["USD"] : ["USD", currency],
        usage: [{ meter: "units", rateTable: table }],
      },
    ],
    accounts: [
      {
        id: "acme",
        invoiceCurrency: currency,
        plans: [Object.keys(changes).length === 0 ? period : { ...period, override }],
      },
    ],
  };
  const events = usage.map(({ date, group, quantity }, index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `${date}T00:00:00Z`,
    accountId: "acme",
    attributes: { n: quantity },
    dimensions: group,
  }));
  return { book, events };
}

/** A book with the vector's meter and a plan that covers the period. */
function bookOfMeter({ meter, period, events }: QuantityVector["input"]): InvoicesVector["input"] {
  const namesOf = (field: "attributes" | "dimensions"): readonly string[] => [
    ...new Set(events.flatMap((event) => Object.keys(event[field]))),
  ];
  const book = {
    eventSchemas: [{ name: "sample", attributes: namesOf("attributes"), dimensions: namesOf("dimensions") }],
    usageMeters: [{ id: "m", schema: "sample", ...meter }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "m", rate: 1 }] }],
    accounts: [{ id: "acme", plans: [{ plan: "pp", ...period }] }],
  };
  return { book, events: events.map((event) => ({ schemaName: "sample", accountId: "acme", ...event })) };
}

function madeRemainders({ amounts, digits, rounding }: RemaindersVector["input"]): RemaindersVector["expected"] {
  const exact = amounts.map((amount) => toFraction(new Decimal(amount)));
  const exactSum = sumFractions(exact);
  const nothing = new Decimal(0);
  const slabs = exact.map((amount, index) => ({ order: index + 1, quantity: nothing, rate: nothing, amount }));
  const lines = roundLines({ charged: exactSum, bounded: exactSum, slabs }, digits, rounding);
  return { value: lines.value.toFixed(), lines: lines.slabs.map((line) => line.toFixed()) };
}

function madeCredits({ lines, credits, digits }: CreditsVector["input"]): CreditsVector["expected"] {
  const payable = lines.map(({ kind, id, value }) => ({ kind, billableId: id, value: new Decimal(value) }));
  const creditList = credits.map(
    ({ left, effectiveFrom, effectiveUntil, applicableEntityIds, ...credit }, createdAt) => ({
      ...credit,
      kind: "MANUAL" as const,
      purpose: "",
      creditAmount: new Decimal(left),
      left: new Decimal(left),
      effectiveFrom: parseDate(effectiveFrom),
      ...(effectiveUntil === undefined ? {} : { effectiveUntil: parseDate(effectiveUntil) }),
      applicableEntityIds: applicableEntityIds ?? null,
      createdAt,
    }),
  );
  const { uses } = applyCredits(creditList.toSorted(compareCredits), payable, digits);
  return {
    taken: uses.map((use) => ({
      creditId: use.creditId,
      paid: use.lines.map(({ index, amount }) => ({ line: index, amount: amount.toFixed() })),
    })),
  };
}

/** The vectors of a kind, with their ids. */
function listVectors<Kind extends Vector["kind"]>(kind: Kind): [string, Extract<Vector, { readonly kind: Kind }>][] {
  return vectors
    .filter((vector): vector is Extract<Vector, { readonly kind: Kind }> => vector.kind === kind)
    .map((vector) => [vector.id, vector]);
}

describe("vectors", () => {
  test("match their schema, and have unique names", () => {
    const readVectors = (file: string): object =>
      JSON.parse(readFileSync(join(root, "docs/vectors", file), "utf8")) as object;
    const ajv = new Ajv({ allErrors: true, formats: { date: (day: string) => formatDate(parseDate(day)) === day } });
    const validate = ajv.compile(readVectors("vectors.schema.json"));
    validate(readVectors("vectors.json"));
    expect(validate.errors).toBeNull();
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
  });

  test.each(vectors.map((vector): [string, Vector] => [`${vector.rule} ${vector.id}`, vector]))("%s", (_, vector) => {
    const { because, expected } = vector;
    expect({ because, ...runVector(vector) }).toEqual({ because, ...expected });
  });

  test.each(listVectors("table"))(
    "an invoice has the price of the table, and the verifier agrees: %s",
    (_, { input, expected }) => {
      const { book, events } = bookOfTable(input);
      const { from, until } = input.served;
      const options = { from, until, explain: true };
      const { invoices } = preview(book, events as readonly EventInput[], options);
      const price = toFraction(add(new Decimal(expected.amount), new Decimal(expected.adjustment)));
      // Without lines there is no invoice.
      const total = sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
      expect(total.toFixed()).toBe(roundFraction(price, 2, "HALF_UP").toFixed());
      const { differences, amounts } = verify({ invoices: JSON.parse(JSON.stringify(invoices)) });
      expect(differences).toEqual([]);
      expect(amounts.verified).toBe(amounts.total);
    },
  );

  test.each(listVectors("quantity"))("the verifier computes the quantity: %s", (_, { input, expected }) => {
    const { book, events } = bookOfMeter(input);
    const metering = createMetering(book);
    for (const event of events) metering.add(event);
    const usage = usageFromCells(metering.cells, metering.unverified, metering.aggregations);
    const { from, until } = input.period;
    expect(formatFraction(usage.unitsBetween("acme", "m", from, until) ?? fractionOrZero("-1"))).toBe(
      expected.quantity,
    );
  });

  test.each(listVectors("invoices"))(
    "the verifier recomputes the invoices from the events: %s",
    (_, { input: { book, events } }) => {
      const { invoices } = preview(book, events as readonly EventInput[], { explain: true });
      const metering = createMetering(book);
      for (const event of events) metering.add(event);
      const { differences, amounts, quantities } = verify({ invoices: JSON.parse(JSON.stringify(invoices)), metering });
      expect(differences).toEqual([]);
      expect(amounts.verified).toBe(amounts.total);
      expect(quantities.total).toBeGreaterThan(0);
    },
  );

  test.each(listVectors("proration"))("the verifier rounds in the same way: %s", (_, { input, expected }) => {
    const share = multiply(
      fractionOrZero(input.amount),
      divide(fractionOrZero(expected.days), fractionOrZero(expected.of)),
    );
    expect(formatFraction(roundToDigits(share, input.digits, input.rounding))).toBe(expected.amount);
  });
});
