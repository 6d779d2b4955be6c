/** Events of random cases, the figures of invoices as a reader parses them, and invoices with another digit in one of them. */
import fc from "fast-check";
import { expect } from "vitest";

import { type EventInput, meter, type Preview, preview, readBook, type ShortBookInput } from "../../src/index.ts";
import { createMetering, type Difference, type Metering, verify } from "../../src/verify.ts";
import { catalogBook } from "../book/catalog-book.ts";
import type { Golden } from "../support/golden.ts";

/** What a reader parses of a printed value. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The invoices of a golden case, with explanations. */
export function previewGolden({ book, events, options }: Golden): Preview {
  return preview(catalogBook(book), events as Iterable<EventInput>, { ...options, explain: true });
}

/** The path of a figure in a JSON value: names and indexes from the root. */
export type FigurePath = readonly (string | number)[];

/** Decimal texts that are names or dates. */
const NO_FIGURES = new Set([
  "id",
  "accountId",
  "customerId",
  "pricePlanId",
  "pricePlanVersion",
  "description",
  "rules",
]);

/** The paths of all figures. */
export function listFigures(value: unknown, path: FigurePath = []): readonly FigurePath[] {
  if (typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value))) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    NO_FIGURES.has(name) ? [] : listFigures(part, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** The value with another digit at one position of one figure; position and digit wrap around. */
export function withOtherDigit(value: unknown, path: FigurePath, place: number, step: number): unknown {
  const [name, ...rest] = path;
  if (name === undefined) {
    const text = String(value);
    const places = Array.from(text).flatMap((letter, index) => (/\d/.test(letter) ? [index] : []));
    const at = places[place % places.length] ?? 0;
    const digit = (Number(text[at]) + 1 + (step % 9)) % 10;
    const withOtherDigits = `${text.slice(0, at)}${digit}${text.slice(at + 1)}`;
    return typeof value === "number" ? Number(withOtherDigits) : withOtherDigits;
  }
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  (copy as Record<string | number, unknown>)[name] = withOtherDigit(
    (copy as Record<string | number, unknown>)[name],
    rest,
    place,
    step,
  );
  return copy;
}

/**
 * Figures that may change without changing an amount: bounds that do not apply, the order of a VOLUME slab and its end,
 * rates of a slab limited by a bound, the priority of a credit, usage without a price, the start of a VOLUME slab of an
 * increase or a refund. Only the book and the events determine them.
 */
export function isTerm(path: FigurePath, invoices: unknown): boolean {
  const name = path.findLast((part) => typeof part === "string");
  const valueAt = (place: FigurePath): unknown =>
    place.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], invoices);
  const inside = path.indexOf("explanation");
  const how = inside < 0 ? [...path.slice(0, -1), "explanation"] : path.slice(0, inside + 1);
  const { least } = (valueAt(how) ?? {}) as { readonly least?: unknown };
  if (name === "startAfter" && (least !== undefined || path.includes("refund"))) return true;
  if (isHeld(valueAt(path.slice(0, -1))) && ["rate", "flatRate", "packageSize"].some((term) => term === name))
    return true;
  return (
    path.includes("usageInfo") ||
    ["minimumRate", "maximumRate", "endAt", "order", "priority"].some((term) => term === name)
  );
}

/** Whether a bound determines the price of a slab: its price without the bound may then be another amount. */
function isHeld(slab: unknown): boolean {
  const { amount, minimumRate, maximumRate } = (slab ?? {}) as Readonly<Record<string, unknown>>;
  return amount !== undefined && (amount === minimumRate || amount === maximumRate);
}

/** The choice of a figure, of a place in it, and of another digit. */
export const digitChoices = fc.tuple(fc.nat(), fc.nat(40), fc.nat(8));

/** Changes a digit of one of the figures, if there is one, and expects that the verifier finds it. */
export function expectDigitFound(
  invoices: unknown,
  verifyChanged: (invoices: unknown) => readonly Difference[],
  [choice, place, step]: readonly [number, number, number],
  isIgnored: (path: FigurePath) => boolean = () => false,
): void {
  const figures = listFigures(invoices).filter((path) => !isTerm(path, invoices) && !isIgnored(path));
  const path = figures[choice % figures.length];
  if (path === undefined) return;
  const differences = verifyChanged(withOtherDigit(invoices, path, place, step));
  expect([path.join("."), differences.length > 0]).toEqual([path.join("."), true]);
}

/** An event of a meter that does not sum. */
export interface Sample {
  readonly day: number;
  readonly time: string;
  readonly value: number | string;
  readonly region: string;
  readonly user: string;
}

/** Events in time order; of equal times not in that of their ids. @param toDate the date of a numbered day */
export function toSampleEvents(samples: readonly Sample[], toDate: (day: number) => string): readonly EventInput[] {
  return samples
    .map(({ day, time, value, region, user }, index): EventInput => ({
      schemaName: "sample",
      id: `e${(index * 7) % 17}`,
      accountId: "acme",
      timestamp: `${toDate(day)}T${time}`,
      attributes: { value },
      dimensions: { region, user },
    }))
    .toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
}

/** A book with meters of samples, each with the terms of its price, and an account with their plan on some days. */
export function sampleBook(
  meters: readonly (readonly [meter: object, terms: object])[],
  plans: readonly (readonly [from: string, until: string])[],
  cycle = "MONTHLY",
): ShortBookInput {
  return {
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["region", "user"] }],
    usageMeters: meters.map(([meter], index) => ({ id: `m${index}`, schema: "sample", ...meter })),
    pricePlans: [{ id: "p", cycle, usage: meters.map(([, terms], index) => ({ meter: `m${index}`, ...terms })) }],
    accounts: [{ id: "acme", plans: plans.map(([from, until]) => ({ plan: "p", from, until })) }],
  } as ShortBookInput;
}

/** The invoices of a book and events, and the differences of changed ones, with usage rows or the book in place of events too. */
export function previewToVerify(
  source: ShortBookInput,
  events: readonly EventInput[],
  options: object = {},
): { readonly invoices: unknown; readonly check: (invoices: unknown) => readonly Difference[] } {
  const book = readBook(source);
  const usage = asJson(meter(book, events).usage) as readonly unknown[];
  const metering = meterEvents(source, events);
  return {
    invoices: asJson(preview(book, events, { ...options, explain: true }).invoices),
    check: (invoices) =>
      [{ metering }, { usage, metering }, { usage, book: source }].flatMap(
        (input) => verify({ invoices, ...input }).differences,
      ),
  };
}

/** The metering of a verifier that has read these events. */
export function meterEvents(book: unknown, events: Iterable<unknown>, creditsSuffice = false): Metering {
  const metering = createMetering(book, creditsSuffice);
  for (const event of events) metering.add(event);
  return metering;
}
