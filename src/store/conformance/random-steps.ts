/** Random steps of a history: commits of one to three kinds of changes, and reads. */
import { inspect } from "node:util";

import { DAY_MS, instantOfDay } from "../../calendar/instant.ts";
import type { Changes } from "../../ledger/decision.ts";
import { INGEST_STATUSES, isCompleted } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { EventFilter, LedgerView, PageRequest } from "../../ledger/view.ts";
import type { Store } from "../store.ts";
import { createScope } from "./case.ts";
import { type Random, type Step, print } from "./random-records.ts";
import * as records from "./random-records.ts";
import { newEvent, TODAY } from "./samples.ts";

/** Numbers that grow during a history: of its events, and the revision of the configuration. */
export interface Numbers {
  events: number;
  revision: number;
}

/** Changes, with the events to change as fields that replace those of the event that is stored then. */
interface Plan extends Omit<Changes, "events"> {
  readonly events?: readonly (readonly [referenceId: string, fields: Partial<EventRecord>])[];
  /** Whether new events are stored even if their event id is taken, as after its expiry. */
  readonly isReused?: boolean;
  /** The changes that end with a record that cannot be read, so that the commit fails. */
  readonly unreadable?: ListPart;
}

type Planner = (random: Random, numbers: Numbers) => Plan;

const NUMBERS = records.IDS.map((_, number) => number);

/** Some records of a kind, which replace those with their ids. */
const planRecords =
  (kind: Exclude<keyof typeof records.MAKERS, "events">): Planner =>
  (random) => ({ [kind]: random.some(NUMBERS).map((number) => records.MAKERS[kind](random, number)) });

/** Some events, mostly few. */
function someEvents(random: Random, { events }: Numbers): readonly number[] {
  return random.some(random.some(random.some(Array.from({ length: events }, (_, number) => number))));
}

/** How to plan each kind of changes. */
const PLANNERS: { readonly [Part in keyof Changes]-?: Planner } = {
  documents: planRecords("documents"),
  removedDocuments: (random) => ({
    removedDocuments: random.some(records.IDS).map((id) => ({ kind: random.pick(records.KINDS), id })),
  }),
  configurationRevision: (random, numbers) => ({ configurationRevision: (numbers.revision += 1 + random.below(9)) }),
  accounts: planRecords("accounts"),
  newEvents(random, numbers) {
    // Sometimes reference ids are repeated, or an id is in the commit twice, which a store must reject.
    const [isRepeated, isTwice] = [random.isOneIn(8), random.isOneIn(12)];
    const first = isRepeated ? random.below(numbers.events + 1) : numbers.events;
    const added = Array.from({ length: 1 + random.below(6) }, (_, index) => first + index);
    if (isTwice) added.push(first + random.pick([0, 6]));
    numbers.events = Math.max(numbers.events, ...added.map((number) => number + 1));
    const newEvents = added.map((number) => newEvent(records.MAKERS.events(random, number)));
    return { newEvents, isReused: isRepeated || isTwice || random.isOneIn(2) };
  },
  events: (random, numbers) => ({
    events: someEvents(random, numbers).map((number) => [
      records.referenceIdAt(number),
      records.randomRevision(random),
    ]),
  }),
  removedEvents: (random, numbers) => ({ removedEvents: someEvents(random, numbers).map(records.eventIdsAt) }),
  usage: (random) => ({
    usage: Array.from({ length: 1 + random.below(8) }, () => records.randomUsage(random)),
  }),
  overage: (random) => ({
    overage: Array.from({ length: 1 + random.below(8) }, () => records.randomDelta(random, records.FEATURES)),
  }),
  entries: planRecords("entries"),
  credits: planRecords("credits"),
  invoices: planRecords("invoices"),
  billedUsage: planRecords("billedUsage"),
};

const PARTS = [...(Object.keys(PLANNERS) as (keyof Changes)[]), "newEvents", "newEvents", "events", "usage"] as const;
/** Changes of one commit are unordered, so that no two may be of the same records. */
const APART: readonly (readonly (keyof Changes)[])[] = [
  ["documents", "removedDocuments"],
  ["newEvents", "events", "removedEvents"],
];

type ListPart = Exclude<keyof Changes, "configurationRevision">;
const LISTS = Object.keys(PLANNERS).filter((part): part is ListPart => part !== "configurationRevision");

/** Changes of which the last record of a kind cannot be read, so that a store cannot write it. */
export function endUnreadable(changes: Changes, part: ListPart): Changes {
  const get = (): never => {
    throw new Error("this record cannot be read");
  };
  return { ...changes, [part]: [...(changes[part] ?? []), new Proxy({ id: "" }, { get })] };
}

export function randomCommit(random: Random, numbers: Numbers): Step {
  const parts = new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(PARTS)));
  for (const apart of APART) for (const part of apart.filter((each) => parts.has(each)).slice(1)) parts.delete(part);
  const plan = Object.assign({}, ...[...parts].map((part) => PLANNERS[part](random, numbers))) as Plan;
  const isUnreadable = random.isOneIn(8) && plan.isReused !== true;
  return toStep({ ...plan, ...(isUnreadable && { unreadable: random.pick(LISTS) }) });
}

function toStep(plan: Plan): Step {
  return {
    describe: () => `commit ${print(plan)}`,
    run: (store) => commitPlan(store, plan),
    smaller: () =>
      Object.entries(plan).flatMap(([part, list]: [string, unknown]) =>
        Array.isArray(list) ? list.map((_, index) => toStep({ ...plan, [part]: list.toSpliced(index, 1) })) : [],
      ),
  };
}

/** Returns which event ids of new events were taken. Unless ids may be reused, their events are left out. */
function commitPlan(
  store: Store,
  { events: changedEvents = [], isReused, unreadable, ...plan }: Plan,
): Promise<unknown> {
  const { newEvents = [], removedEvents = [], configurationRevision } = plan;
  const scope = {
    configuration: configurationRevision === undefined ? ("shared" as const) : ("exclusive" as const),
    accountIds: [...records.IDS, records.eventAccountIdAt(0)],
    eventIds: [...new Set([...newEvents, ...removedEvents].map(({ eventId }) => eventId))],
  };
  return store.transact(scope, async (view) => {
    const acceptedIds = await view.acceptedIds(newEvents.map(({ eventId }) => eventId));
    const takenIds = new Set(acceptedIds.map(({ eventId }) => eventId));
    const isStored = ({ eventId, status }: (typeof newEvents)[number]): boolean =>
      isReused === true || !isCompleted(status) || !takenIds.has(eventId);
    const events: EventRecord[] = [];
    for (const [referenceId, fields] of changedEvents) {
      const [stored] = await view.events({ referenceId }, { limit: 1 });
      if (stored !== undefined) events.push({ ...stored, ...fields });
    }
    const changes = { ...plan, newEvents: newEvents.filter(isStored), events };
    const result = [...takenIds].toSorted();
    return { result, changes: unreadable === undefined ? changes : endUnreadable(changes, unreadable) };
  });
}

/** A random choice. */
type Choose<Value> = (random: Random) => Value;
type Arguments<Values> = { readonly [Place in keyof Values]: Values[Place] | undefined };

const MISSING = "never stored";
/** Numbers of events that a history may have. */
const EVENTS = Array.from({ length: 48 }, (_, number) => number);

const one =
  <Item>(items: readonly Item[]): Choose<Item> =>
  (random) =>
    random.pick(items);
/** Some of the ids, some of them twice, and one that does not exist. */
const several =
  (ids: readonly string[]): Choose<readonly string[]> =>
  (random) => [...random.some(ids), MISSING, ...random.some(random.some(ids))];
const orAbsent =
  <Value>(choose: Choose<Value>): Choose<Value | undefined> =>
  (random) =>
    random.isOneIn(2) ? undefined : choose(random);
/** Each of the fields once in so many times. */
const fields =
  <Filter extends object>(
    choices: { readonly [Name in keyof Filter]: Choose<Filter[Name]> },
    oneIn: number,
  ): Choose<Partial<Filter>> =>
  (random) => {
    const chosen = Object.entries<Choose<unknown>>(choices).map(([name, choose]) => [name, choose(random)]);
    return random.fields(Object.fromEntries(chosen) as Filter, oneIn);
  };
/** A range that may be empty, of which each end may be infinite. */
const range =
  (bounds: readonly number[]): Choose<{ readonly from: number; readonly until: number }> =>
  (random) => {
    const [from = 0, until = 0] = [random.pick(bounds), random.pick(bounds)].sort((a, b) => a - b);
    return { from: random.isOneIn(8) ? -Infinity : from, until: random.isOneIn(8) ? Infinity : until };
  };
/** A range that may also end before it begins. */
const anyRange =
  (bounds: readonly number[]): Choose<{ readonly from: number; readonly until: number }> =>
  (random) =>
    random.isOneIn(8) ? { from: random.pick(bounds), until: random.pick(bounds) } : range(bounds)(random);
/** A page from the start, or after a key. */
const page =
  (times: readonly number[], ids: readonly string[]): Choose<PageRequest> =>
  (random) => {
    const limit = random.pick([1, 2, 3, 99]);
    return random.isOneIn(3) ? { limit } : { limit, after: { createdAt: random.pick(times), id: random.pick(ids) } };
  };

const kind = one(records.KINDS);
const id = one([...records.IDS, MISSING]);
const accountId = one([...records.OWNERS, "", MISSING]);
const customerId = one(records.CUSTOMERS);
const accountIds = several([...records.OWNERS, ""]);
const feature = one(records.FEATURES);
const time = one(records.AROUND_TIMES);
const period = range(records.PERIOD_BOUNDS);
const indexIds = records.OWNERS.flatMap((owner) => [0, 1, 2, 3].map((number) => records.idOf(owner, number)));
const byTime = page(records.AROUND_TIMES, records.IDS);
const days: Choose<readonly [from: number, until: number]> = (random) => {
  const { from, until } = range([-2, -1, 0, 1, 2].map((day) => TODAY + day))(random);
  return [from, until];
};
const dayBounds = [-1, 0, 1].map((day) => instantOfDay(TODAY + day)).flatMap((start) => [start, start + DAY_MS - 1]);
const due: Choose<Arguments<Parameters<LedgerView["accountsBehind"]>>> = (random) => [
  random.pick([...records.AROUND_TIMES, Infinity]),
  random.pick([1, 2, 99]),
  orAbsent(one(records.IDS))(random),
];
const EVENT_FIELDS: { readonly [Name in keyof EventFilter]-?: Choose<NonNullable<EventFilter[Name]>> } = {
  accountId,
  schemaName: one(records.SCHEMAS),
  status: one(INGEST_STATUSES),
  accepted: one([true, false]),
  reverted: one([true, false]),
  eventId: one(EVENTS.map(records.eventIdAt)),
  referenceId: one(EVENTS.map(records.referenceIdAt)),
  timestamp: anyRange(dayBounds),
  createdAt: anyRange(EVENTS.map(records.ingestedAt)),
};

/** How to choose the arguments of each method of the view. */
const READS: { readonly [Name in keyof LedgerView]: Choose<Arguments<Parameters<LedgerView[Name]>>> } = {
  configurationRevision: () => [],
  document: (random) => [kind(random), id(random)],
  documentsOf: (random) => [kind(random), several(records.IDS)(random)],
  allDocuments: (random) => [kind(random)],
  documents: (random) => [kind(random), byTime(random)],

  accounts: (random) => [several(records.IDS)(random)],
  accountList(random) {
    const filter = fields(
      { customerId, status: one(["ACTIVE", "ARCHIVED"] as const), invoiceGroupId: one(records.GROUPS) },
      2,
    );
    return [filter(random), byTime(random)];
  },
  accountsBehind: due,
  accountsWithStaleDraftIndex: due,
  draftList(random) {
    const own = { id: one(indexIds), begunBy: one(records.PERIOD_BOUNDS), final: period };
    return [
      fields({ accountId, customerId, period, ...own }, 4)(random),
      page(records.PERIOD_BOUNDS, indexIds)(random),
    ];
  },

  acceptedIds: (random) => [several(EVENTS.slice(0, 6).map(records.eventIdAt))(random)],
  events(random) {
    const last = random.pick(EVENTS);
    return [fields(EVENT_FIELDS, 5)(random), page([records.ingestedAt(last)], [records.referenceIdAt(last)])(random)];
  },
  eventsToUndo: (random) => [
    random.pick(records.OWNERS),
    random.isOneIn(3) ? { accountId: random.pick(records.OWNERS) } : fields(EVENT_FIELDS, 6)(random),
    orAbsent(one([1, 2, 3, 4]))(random),
  ],
  eventsWithOverage(random) {
    const limit = orAbsent(one([{ limit: 1 }, { limit: 2 }, { limit: 3 }]))(random);
    return [random.pick(records.OWNERS), feature(random), ...days(random), limit];
  },
  lastSpent: (random) => [one(records.IDS.slice(0, 4))(random), accountId(random)],

  usage: (random) => [accountIds(random), ...days(random)],
  overage: (random) => [accountIds(random), ...days(random)],
  billedUsage: (random) => [accountIds(random), ...days(random)],
  groupCounts: (random) => [
    Array.from({ length: random.below(4) }, () => {
      const { accountId: owner, meterOrFeatureId: meterId, day } = records.randomDelta(random, records.METERS);
      return { accountId: owner, meterId, day, exactAbove: 0 };
    }),
  ],

  entries: (random) => [accountIds(random), orAbsent(feature)(random)],
  entryList: (random) => [accountId(random), feature(random), byTime(random)],
  credits: (random) => [accountIds(random)],
  credit: (random) => [id(random)],
  creditList(random) {
    const state = one(["ACTIVE", "CONSUMED", "VOIDED"] as const);
    return [fields({ accountId, state, endsBy: time, endsAfter: time }, 3)(random), byTime(random)];
  },
  dueCreditList: (random) => [
    fields({ id: one(indexIds), dueBy: time }, 3)(random),
    page(records.TIMES, indexIds)(random),
  ],
  invoices: (random) => [accountIds(random), one([-Infinity, ...records.PERIOD_BOUNDS])(random)],
  invoice: (random) => [id(random)],
  invoiceList(random) {
    const filter = fields({ accountId, customerId, status: one(records.STATUSES) }, 4)(random);
    return [{ ...filter, ...fields({ period }, 2)(random) }, page(records.PERIOD_BOUNDS, records.IDS)(random)];
  },
};

/** The methods whose results have no order. */
const UNORDERED: readonly string[] = ["documentsOf", "accounts", "acceptedIds", "usage", "overage"];

/** More of the reads with many filters, and of those that only few events can be seen in. */
const FREQUENT = [
  "accountList",
  "draftList",
  "events",
  "events",
  "eventsToUndo",
  "invoiceList",
  "invoiceList",
] as const;
const RARE = ["eventsWithOverage", "eventsWithOverage", "lastSpent"] as const;
const NAMES = [...(Object.keys(READS) as (keyof LedgerView)[]), ...FREQUENT, ...RARE];

/** A read outside of a transaction, in a consistent view, or in a transaction. */
export function randomRead(random: Random): Step {
  const name = random.pick(NAMES);
  const values: readonly unknown[] = READS[name](random);
  const place = random.isOneIn(8) ? "transact" : random.pick(["read", "consistentView"] as const);
  return {
    describe: () => `${place === "read" ? "" : `${place}: `}${name}(${values.map(print).join(", ")})`,
    run: (store) => {
      if (place === "read") return readEqual(store.read, name, values);
      if (place === "consistentView") return readEqual(store.consistentView(), name, values);
      const scope = createScope(records.OWNERS);
      return store.transact(scope, async (view) => ({ result: await readEqual(view, name, values), changes: {} }));
    },
    smaller: () => [],
  };
}

/** Reads without what may differ between stores: the order of unordered results, and the numbers of events. */
async function readEqual(view: LedgerView, name: keyof LedgerView, values: readonly unknown[]): Promise<unknown> {
  const read = view[name] as (...values: readonly unknown[]) => Promise<unknown>;
  const result = await read(...values);
  if (!Array.isArray(result)) return result;
  const items: unknown[] = result;
  const last = items.at(-1) as EventRecord | undefined;
  if (name === "eventsWithOverage" && typeof values[4] === "object" && last !== undefined) {
    const next = await read(...values.slice(0, 4), { ...values[4], afterNumber: last.number });
    return [items, next as unknown[]].map((page) => page.map(withoutNumber));
  }
  if (!UNORDERED.includes(name)) return items.map(withoutNumber);
  const texts = new Map(items.map((item) => [item, inspect(item, { depth: 2, sorted: true })]));
  return items.toSorted((a, b) => ((texts.get(a) ?? "") < (texts.get(b) ?? "") ? -1 : 1));
}

function withoutNumber(item: unknown): unknown {
  if (typeof item !== "object" || item === null || !("number" in item)) return item;
  const { number: _, ...others } = item;
  return others;
}
