/** Random events of a book's schemas and accounts. */
import type { Arbitrary } from "fast-check";

import { type BookSource, toBookInput } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import {
  DAY_MS,
  formatDate,
  formatInstant,
  type Instant,
  toInstant,
  addDays,
  daysBetween,
} from "../calendar/instant.ts";
import { type Decimal, formatDecimal, type DecimalInput } from "../numbers/decimal.ts";
import { fastCheck, findEdges, listPricedCards } from "./report.ts";

/** An event in the form in which it is sent. */
export interface GeneratedEvent {
  readonly schemaName: string;
  readonly id: string;
  readonly accountId: string;
  /** ISO 8601, in UTC. */
  readonly timestamp: string;
  readonly attributes: readonly { readonly name: string; readonly value: DecimalInput }[];
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Options of random events. */
export interface EventOptions {
  /** A date. Default: the first on which an account of the book has a plan. */
  readonly from?: string;
  /** A date, exclusive. Default: 62 days after `from`. */
  readonly until?: string;
  /** The maximum number of events in a list. Default 12. */
  readonly eventsMax?: number;
  /** Values of attributes. Default: the edges of the book's slabs and packages, and small numbers. */
  readonly values?: Arbitrary<unknown>;
  /** Names of the schemas. Default: all ACTIVE ones. */
  readonly schemas?: readonly string[];
}

const SPAN_DAYS = 62;

/** The accounts of a book that are not archived. */
export function listAccountIds({ accounts }: BookInput): readonly string[] {
  return (accounts ?? []).filter(({ status }) => status !== "ARCHIVED").map(({ id }) => id);
}

/** The days of the events of {@link eventsArbitrary}, `[from, until)`. */
export function eventRange(
  book: BookInput,
  { from, until }: EventOptions = {},
): { readonly from: string; readonly until: string } {
  const starts = (book.accounts ?? []).flatMap(({ pricePlans }) =>
    (pricePlans ?? []).map((each) => each.effectiveFrom),
  );
  const first = from ?? starts.toSorted()[0] ?? "2024-01-01";
  return { from: first, until: until ?? formatDate(addDays(toInstant(first), SPAN_DAYS)) };
}

/** The schemas of generated events, and those whose events consume a feature. */
export function listSchemas(book: BookInput): {
  readonly all: readonly string[];
  readonly featureSchemas: ReadonlySet<string>;
} {
  const all = (book.eventSchemas ?? []).flatMap(({ name, status }) =>
    (status ?? "ACTIVE") === "ACTIVE" ? [name] : [],
  );
  const featureSchemas = (book.features ?? []).flatMap(({ schemaAssociations, schemaAssocitions }) =>
    (schemaAssociations ?? schemaAssocitions ?? []).map((each) => (typeof each === "string" ? each : each.schemaName)),
  );
  return { all: [...new Set(all)], featureSchemas: new Set(featureSchemas) };
}

/** Instants of `[from, until)`. Half are the first or last millisecond of a day, where cycles can be split. */
function instantArbitrary(from: Instant, until: Instant): Arbitrary<Instant> {
  const fc = fastCheck();
  const days = Math.max(Math.floor(daysBetween(from, until)), 1);
  return fc
    .tuple(
      fc.nat(days - 1),
      fc.oneof(
        fc.constantFrom(0, DAY_MS - 1),
        fc.nat(86_399).map((second) => second * 1000),
      ),
    )
    .map(([day, ms]) => addDays(from, day) + ms);
}

/** The edges of all slabs and packages of a book. */
function listSlabEdges({ pricePlans }: BookInput): readonly Decimal[] {
  return (pricePlans ?? []).flatMap((plan) => listPricedCards(plan).flatMap(findEdges));
}

/** The edges of a book's slabs and packages, and small numbers. */
function valueArbitrary(book: BookInput): Arbitrary<unknown> {
  const fc = fastCheck();
  const small = fc.oneof(fc.nat(20), fc.constantFrom<unknown>("0.01", "0.5", "1.25"));
  const edges = [...new Set(listSlabEdges(book).map(formatDecimal))];
  return edges.length === 0 ? small : fc.oneof(small, fc.constantFrom<unknown>(...edges));
}

/**
 * Texts that the book's rules compare with, so that matchers are true, those of rows of price tables, and one text that
 * none matches.
 */
function ruleTextArbitrary(book: BookInput): Arbitrary<string> {
  const texts = new Set<string>();
  const rules = (book.usageMeters ?? []).flatMap(({ computations }) => computations.map(({ matcher }) => matcher));
  const search = (rule: unknown): void => {
    if (typeof rule === "string") {
      // A rule can be a string.
      const parsedRule = /^\s*[[{]/.test(rule) ? parseJsonOrText(rule) : rule;
      if (typeof parsedRule === "string") texts.add(parsedRule);
      else search(parsedRule);
    } else if (Array.isArray(rule)) rule.forEach(search);
    else if (typeof rule === "object" && rule !== null)
      for (const [operator, operands] of Object.entries(rule)) if (operator !== "var") search(operands);
  };
  rules.forEach(search);
  for (const { pricePlanDetails } of book.pricePlans ?? []) {
    const rows = (pricePlanDetails.usageRateCards ?? []).flatMap(({ rateTable }) => rateTable?.rows ?? []);
    for (const text of rows.flatMap(({ when }) => Object.values(when ?? {}))) texts.add(String(text));
  }
  return fastCheck().constantFrom(...[...texts].toSorted(), "other");
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An event without id and time. */
export type EventContent = Pick<GeneratedEvent, "schemaName" | "accountId" | "attributes" | "dimensions">;

/** Random contents of events for a book's schemas and accounts. */
export function eventContentArbitrary(
  book: BookInput,
  { values, schemas }: EventOptions = {},
): Arbitrary<EventContent> {
  const fc = fastCheck();
  const names = schemas ?? listSchemas(book).all;
  const [value, text] = [values ?? valueArbitrary(book), ruleTextArbitrary(book)];
  const contentsBySchema = names.map((schemaName) => {
    const schema = (book.eventSchemas ?? []).findLast(({ name }) => name === schemaName);
    return fc.record({
      schemaName: fc.constant(schemaName),
      accountId: fc.constantFrom(...listAccountIds(book)),
      attributes: fc.tuple(
        ...(schema?.attributes ?? []).map(({ name }) => value.map((each) => ({ name, value: each as DecimalInput }))),
      ),
      dimensions: fc.record(Object.fromEntries((schema?.dimensions ?? []).map(({ name }) => [name, text]))),
    });
  });
  return fc.oneof(...contentsBySchema);
}

/**
 * Lists of valid events for a book, with unique ids, in time order within `[from, until)`. They favor quantities at
 * slab edges and times at the start and end of days.
 *
 * @throws {RatebookError} ERR_REFUSED without fast-check
 */
export function eventsArbitrary(source: BookSource, options: EventOptions = {}): Arbitrary<readonly GeneratedEvent[]> {
  const fc = fastCheck();
  const book = toBookInput(source);
  const { from, until } = eventRange(book, options);
  const contents = eventContentArbitrary(book, options);
  const at = instantArbitrary(toInstant(from), toInstant(until));
  return fc
    .array(fc.record({ at, content: contents }), { maxLength: options.eventsMax ?? 12 })
    .map((timedContents) =>
      timedContents
        .toSorted((a, b) => a.at - b.at)
        .map(({ at, content }, index) => ({ ...content, id: `event-${index + 1}`, timestamp: formatInstant(at) })),
    );
}
