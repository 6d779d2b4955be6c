/**
 * Random choices, and random records of each kind. Choices are the same on every run: the suite must work without
 * fast-check. What never changes of a record follows from its number: its id, account and times.
 */
import { inspect } from "node:util";

import { DAY_MS, addDays, formatInstant, instantOfDay, parseDate } from "../../calendar/instant.ts";
import type { Changes, DocumentKind } from "../../ledger/decision.ts";
import { INGEST_STATUSES, describeStored } from "../../ledger/outcome.ts";
import type { AccountRecord, EventRecord, UsageDelta } from "../../ledger/records.ts";
import { Decimal } from "../../numbers/decimal.ts";
import type { Store } from "../store.ts";
import {
  LONG,
  NOON,
  ODD_TEXTS,
  TODAY,
  account,
  billedUsage,
  cell,
  credit,
  document,
  entry,
  event,
  invoice,
  withOddKeys,
} from "./samples.ts";

export interface Random {
  /** A whole number, 0 or more and below the limit. */
  below(limit: number): number;
  /** True once in so many times. */
  isOneIn(count: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Some of the items, in their order. */
  some<Item>(items: readonly Item[]): Item[];
  /** An object with some of the fields, each one in so many times. */
  fields<Fields extends object>(fields: Fields, oneIn?: number): Partial<Fields>;
}

/** Creates random choices that follow from a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const some = <Item>(items: readonly Item[]): Item[] => items.filter(() => below(2) === 0);
  return {
    below,
    isOneIn: (count) => below(count) === 0,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
    some,
    fields: <Fields extends object>(fields: Fields, oneIn = 2) =>
      Object.fromEntries(Object.entries(fields).filter(() => below(oneIn) === 0)) as Partial<Fields>,
  };
}

/** A commit or a read. */
export interface Step {
  /** What it does, for messages. */
  readonly describe: () => string;
  /** Returns what must be equal in all stores. */
  readonly run: (store: Store) => Promise<unknown>;
  /** The same step, each time without one of its records. */
  readonly smaller: () => readonly Step[];
}

/** A value as one text, for messages. */
export function print(value: unknown): string {
  return inspect(value, { depth: null, breakLength: 120, maxArrayLength: null, maxStringLength: 100 });
}

/** Ids whose order by code points differs from other orders; every third one has the same time of creation. */
export const IDS: readonly string[] = ["b", "a", "B", "\u{1F9FE}", "é", "a.b", "\uFF5E", "a-b", "#1", "bb"];
/** The accounts that have most of the records. */
export const OWNERS: readonly string[] = ["b", "bb", "\u{1F9FE}", "\uFF5E"];
export const CUSTOMERS: readonly string[] = ["c.one", "c.two"];
export const FEATURES: readonly string[] = ["f.one", "f.one", "##"];
export const GROUPS: readonly string[] = ["g.one", ""];
export const SCHEMAS: readonly string[] = ["request", "äöü 漢字 🧾"];
export const KINDS: readonly DocumentKind[] = ["feature", "setting"];
/** The times of creation of most records. */
export const TIMES: readonly number[] = [NOON, NOON + 1, NOON + 2];
export const AROUND_TIMES: readonly number[] = [NOON - 1, ...TIMES, NOON + 3];
export const STATUSES = ["DUE", "PAID", "MERGED"] as const;
const toDecimals = (...texts: readonly (Decimal | string)[]): readonly Decimal[] =>
  texts.map((text) => new Decimal(text));
const AMOUNTS = toDecimals("0", "10", "9.99", "0.00000000000000000001", LONG);
const QUANTITIES = toDecimals("1", "2.5", "-1", "-2.50", "0", "0.1", "-0.1", LONG, LONG.neg());
const EVENT_IDS: readonly string[] = ["", "#1", "nothing\u0000here", "half \ud83d", "\\N", "漢".repeat(512)];
export const METERS: readonly string[] = ["b", "bb", "um.\\N"];
/** The first days of the billing periods of invoices and drafts, and their number of days. */
const DAYS = {
  "2025-06-01": 365,
  "2026-01-01": 90,
  "2026-02-01": 28,
  "2026-03-01": 31,
  "2026-03-09": 7,
  "2026-03-31": 1,
};
const PERIODS = Object.entries(DAYS).map(([date, days]) => [parseDate(date), days] as const);
/** Where billing periods begin and end, and instants within them. */
export const PERIOD_BOUNDS: readonly number[] = PERIODS.flatMap(([start, days]) => {
  const end = addDays(start, days);
  return [start, start + 1, addDays(start, 1), end - 1, end];
});

const idAt = (number: number): string => IDS[number % IDS.length] ?? "";
const ownerAt = (number: number): string => OWNERS[number % OWNERS.length] ?? "";
const timeAt = (number: number): number => TIMES[number % TIMES.length] ?? NOON;

/** The id of something that only one account has. */
export const idOf = (accountId: string, number: number): string => `${idAt(number)} ${accountId}`;

export const referenceIdAt = (number: number): string => `${idAt(number)}${number}`;
/** Every sixth event has the same event id, and no two of these have one time of ingest. */
export const eventIdAt = (number: number): string => EVENT_IDS[number % 6] ?? "";
export const eventIdsAt = (number: number): { readonly referenceId: string; readonly eventId: string } => ({
  referenceId: referenceIdAt(number),
  eventId: eventIdAt(number),
});
export const ingestedAt = (number: number): number => NOON + 4 * Math.floor(number / 12) + 3 - (number % 4);

type Made = Required<
  Pick<Changes, "documents" | "accounts" | "events" | "entries" | "credits" | "invoices" | "billedUsage">
>;
/** Makes a record with a number. Its own id and its account's id follow from the number unless given. */
type Maker<Item> = (random: Random, number: number, id?: string, accountId?: string) => Item;

/** How to make a record of each kind that has an id. */
export const MAKERS: { readonly [Part in keyof Made]: Maker<Made[Part][number]> } = {
  documents: (random, number, id = idAt(number)) => ({
    ...document(random.pick(KINDS), id, randomData(random), timeAt(number)),
    updatedAt: random.pick(TIMES),
  }),

  accounts: (random, number, id = idAt(number)) =>
    account(id, {
      customerId: random.pick(CUSTOMERS),
      name: random.pick(ODD_TEXTS),
      status: random.pick(["ACTIVE", "ARCHIVED"]),
      createdAt: timeAt(number),
      nextDueAt: random.pick([-Infinity, ...TIMES, Infinity]),
      caughtUpTo: random.pick([-Infinity, ...TIMES]),
      ...random.fields({
        ...ACCOUNT_FIELDS,
        invoiceGroupId: random.pick(GROUPS),
        metadata: { ...randomData(random), long: LONG },
        tags: random.some(ODD_TEXTS),
        drafts: randomDrafts(random, id),
      }),
    }),

  events: (random, number, id, accountId = eventAccountIdAt(number)) => {
    const status = random.isOneIn(3) ? random.pick(INGEST_STATUSES) : "INGESTION_COMPLETED_EVENT_METERED";
    const inDay = random.pick([0, 1, DAY_MS - 1]);
    const { schemaVersion, ...record } = event(accountId, number + 1);
    const attributes = [
      { name: "tokens", value: LONG, unit: "tok" },
      { name: "bad", value: "1,5" },
      { name: "", value: new Decimal(7) },
    ];
    return {
      ...record,
      ...(id === undefined ? eventIdsAt(number) : { referenceId: id, eventId: id }),
      customerId: random.pick(CUSTOMERS),
      schemaName: random.pick(SCHEMAS),
      timestamp: random.isOneIn(8) ? random.below(20) : instantOfDay(TODAY + random.below(3) - 1) + inDay,
      createdAt: ingestedAt(number),
      status,
      description: describeStored(status, "why it failed"),
      payload: {
        accountId: random.pick([accountId, "alias"]),
        attributes: random.some(attributes),
        dimensions: { ...withOddKeys(), note: random.pick(ODD_TEXTS), zone: LONG.toFixed() },
        ...random.fields({ numericDimensions: ["zone"] }),
      },
      enriched: {
        attributes: random.some([{ name: "cost", value: LONG.neg() }]),
        dimensions: random.pick([{}, withOddKeys()]),
      },
      units: random.some(METERS).map((meterId) => ({ meterId, quantity: random.pick(QUANTITIES) })),
      ...random.fields({ schemaVersion }),
      ...(random.isOneIn(4) ? {} : { feature: randomConsumption(random) }),
    };
  },

  entries: (random, number, id = idAt(number), accountId = ownerAt(number)) =>
    entry(accountId, id, {
      featureId: FEATURES[number % FEATURES.length] ?? "",
      source: random.pick(["PRICE_PLAN", "PURCHASE"]),
      granted: random.pick(AMOUNTS),
      balance: random.pick(AMOUNTS),
      effectiveUntil: random.pick([...TIMES, 253_370_764_800_000]),
      createdAt: timeAt(number),
      voided: random.isOneIn(4),
      ...random.fields({ key: "#key", idempotencyKey: "", spentAtBefore: NOON }),
      ...random.fields({ requested: { granted: LONG, effectiveUntil: NOON } }),
    }),

  credits: (random, number, id = idAt(number), accountId = ownerAt(number)) =>
    credit(accountId, id, {
      kind: random.pick(["MANUAL", "NEGATIVE_INVOICE"]),
      purpose: random.pick(ODD_TEXTS),
      consumedAmount: random.pick(AMOUNTS.slice(0, 3)),
      priority: random.below(3),
      createdAt: timeAt(number),
      voided: random.isOneIn(4),
      ...random.fields({ effectiveUntil: random.pick(TIMES), cause: "card|1", idempotencyKey: "" }),
      ...random.fields({ applicableEntityIds: random.some(ODD_TEXTS) }),
      transactions: random.some([{ invoiceId: "i.one", amount: LONG.neg(), at: NOON }]),
    }),

  invoices: (random, number, id = idAt(number), accountId = ownerAt(number)) => {
    const [start, days] = PERIODS[number % PERIODS.length] ?? [NOON, 1];
    const isAdHoc = number % 3 === 2;
    const endDate = formatInstant(addDays(start, days));
    const record = invoice(accountId, id, isAdHoc ? formatInstant(addDays(start, days / 2)) : endDate);
    return {
      ...record,
      invoice: {
        ...record.invoice,
        customerId: random.pick(CUSTOMERS),
        invoiceType: isAdHoc ? "AD_HOC" : "STANDARD",
        status: random.pick(STATUSES),
        startDate: formatInstant(start),
        endDate,
      },
      ...random.fields({ mergedInto: "i.all", key: "#key", invoiceGroupId: random.pick(GROUPS) }),
    };
  },

  billedUsage: (_, number, id = idAt(number), accountId = ownerAt(number)) =>
    billedUsage(accountId, id, TODAY - 2 + (number % 4), 1 + (number % 3)),
};

/** The account of an event, mostly the same as of the one before; some have no known account. */
export const eventAccountIdAt = (number: number): string => ["", ...OWNERS][Math.floor(number / 2) % 5] ?? "";

/** An amount to add to a cell. */
export function randomDelta(random: Random, meterOrFeatureIds: readonly string[]): UsageDelta {
  const day = TODAY + random.below(4) - 2;
  return cell(random.pick(OWNERS), random.pick(meterOrFeatureIds), day, random.pick(QUANTITIES));
}

/** A change of usage, also of groups. */
export function randomUsage(random: Random): UsageDelta {
  const group = random.pick([undefined, ["x"], ["x", "y"], ["y", ""]]);
  return { ...randomDelta(random, METERS), ...(group !== undefined && { group }) };
}

/** What can change of a stored event. */
export function randomRevision(random: Random): Partial<EventRecord> {
  const charged = { feature: randomConsumption(random), units: [{ meterId: "b", quantity: LONG }] };
  return random.pick([{ reverted: true }, { reverted: true }, { customerId: random.pick(CUSTOMERS) }, charged]);
}

function randomConsumption(random: Random): NonNullable<EventRecord["feature"]> {
  return {
    featureId: random.pick(FEATURES),
    quantity: LONG,
    allocations: random.some(IDS.slice(0, 4)).map((entryId) => ({ entryId, quantity: random.pick(AMOUNTS) })),
    overage: random.pick(AMOUNTS),
  };
}

/** Plain data. */
function randomData(random: Random): Readonly<Record<string, unknown>> {
  const list = [1, 0.5, -1e-7, true, null, []];
  return random.fields({ texts: random.some(ODD_TEXTS), keys: withOddKeys(), deep: { ...withOddKeys(), list } });
}

function randomDrafts(random: Random, accountId: string): NonNullable<AccountRecord["drafts"]> {
  const places = random.some([0, 1, 2, 3]).map((number) => {
    const [start, days] = random.pick(PERIODS);
    const end = addDays(start, days);
    const listedAt = random.isOneIn(3) ? addDays(start, days / 2) : start;
    return { id: idOf(accountId, number), listedAt, start, end, finalAt: random.pick([end, end + 1, Infinity]) };
  });
  const credits = random
    .some([0, 1, 2, 3])
    .map((number) => ({ id: idOf(accountId, number), createdAt: random.pick(TIMES) }));
  return { until: random.pick([...TIMES, Infinity]), places, ...(random.isOneIn(4) ? {} : { credits }) };
}

/** Fields that an account may have, and that no read filters by. */
const ACCOUNT_FIELDS: Partial<AccountRecord> = {
  aliases: [{ alias: "#1", createdAt: NOON }],
  pastAliases: [{ alias: "#1", createdAt: NOON, removedAt: NOON + 1 }],
  invoiceGroupFrom: NOON,
  pastInvoiceGroups: [{ invoiceGroupId: "#g", from: -1, until: NOON }],
  netTermDays: 0,
  primaryEmail: "",
  associations: [{ id: "as.1", from: NOON, until: 253_370_764_800_000, decidedAt: NOON }],
  closedCycles: { until: NOON, at: NOON + 1 },
  carriedUsage: { until: TODAY, cells: [{ meterId: "#m", group: ["#g"], day: TODAY - 1, quantity: LONG }] },
};
