import {
  type AcceptedEventId,
  addExact,
  type Changes,
  compareIds,
  decimalOfExact,
  type EventFilter,
  type EventRecord,
  isZeroExact,
  type LedgerCell,
  type LedgerView,
  listedAt,
  type PageKey,
  type PageRequest,
  RatebookError,
  toEventRecord,
  type Store,
  type UsageDelta,
} from "ratebook/store";

type RecordOf<List extends "accounts" | "documents" | "entries" | "credits" | "invoices" | "billedUsage"> = NonNullable<
  Changes[List]
>[number];

/** The complete state. A commit replaces it, so a reader sees the state before or after. */
interface State {
  readonly revision: number;
  readonly documents: ReadonlyMap<string, RecordOf<"documents">>;
  readonly accounts: ReadonlyMap<string, RecordOf<"accounts">>;
  readonly events: ReadonlyMap<string, EventRecord>;
  readonly usage: ReadonlyMap<string, UsageDelta>;
  readonly overage: ReadonlyMap<string, UsageDelta>;
  readonly entries: ReadonlyMap<string, RecordOf<"entries">>;
  readonly credits: ReadonlyMap<string, RecordOf<"credits">>;
  readonly invoices: ReadonlyMap<string, RecordOf<"invoices">>;
  readonly billedUsage: ReadonlyMap<string, RecordOf<"billedUsage">>;
}

/** A store of a few maps: every read searches a complete map, and transactions run one after another. */
export function listStore(): Store {
  const nothing = new Map<string, never>();
  let state: State = {
    revision: 0,
    documents: nothing,
    accounts: nothing,
    events: nothing,
    usage: nothing,
    overage: nothing,
    entries: nothing,
    credits: nothing,
    invoices: nothing,
    billedUsage: nothing,
  };
  let last: Promise<unknown> = Promise.resolve();
  const read = createView(() => state);
  return {
    name: "list",
    read,
    consistentView: () => read,
    transact(_scope, work) {
      const runTransaction = async () => {
        const { result, changes } = await work(read);
        state = applyChanges(state, changes);
        return result;
      };
      const result = last.then(runTransaction, runTransaction);
      last = result.catch(() => undefined);
      return result;
    },
    close: async () => undefined,
  };
}

/** The state after changes. Throws before anything is stored. */
function applyChanges(state: State, changes: Changes): State {
  const documents = putAll(state.documents, changes.documents, documentKey);
  for (const removal of changes.removedDocuments ?? []) documents.delete(documentKey(removal));
  const events = new Map(state.events);
  let number = Math.max(0, ...[...events.values()].map((event) => event.number));
  const acceptedIds = new Set<string>();
  for (const event of changes.newEvents ?? []) {
    if (events.has(event.referenceId)) throw idTaken("reference id", event.referenceId);
    if (isAccepted(event) && acceptedIds.has(event.eventId)) throw idTaken("event id", event.eventId);
    if (isAccepted(event)) acceptedIds.add(event.eventId);
    // The caller owns the sent objects and may change them later.
    const { accountId, attributes, dimensions } = event.sent;
    const payload = { accountId, attributes: attributes?.map((each) => ({ ...each })), dimensions: { ...dimensions } };
    events.set(event.referenceId, toEventRecord({ ...event, sent: payload }, ++number));
  }
  for (const event of changes.events ?? []) events.set(event.referenceId, event);
  for (const { referenceId } of changes.removedEvents ?? []) events.delete(referenceId);
  return {
    revision: changes.configurationRevision ?? state.revision,
    documents,
    events,
    accounts: putAll(state.accounts, changes.accounts, ({ id }) => id),
    usage: addUsage(state.usage, changes.usage),
    overage: addUsage(state.overage, changes.overage),
    entries: putAll(state.entries, changes.entries, ({ id }) => id),
    credits: putAll(state.credits, changes.credits, ({ id }) => id),
    invoices: putAll(state.invoices, changes.invoices, ({ id }) => id),
    billedUsage: putAll(state.billedUsage, changes.billedUsage, ({ id }) => id),
  };
}

function idTaken(noun: string, id: string): RatebookError {
  const message = `the ${noun} ${JSON.stringify(id)} of a new event is taken`;
  return new RatebookError("ERR_TAKEN", message, { resource: "event", id });
}

function putAll<Item extends object>(
  before: ReadonlyMap<string, Item>,
  items: readonly Item[] = [],
  keyOf: (item: Item) => string,
): Map<string, Item> {
  const after = new Map(before);
  // Copying reads a whole record: one that can't be read leaves the stored state intact.
  for (const item of items) after.set(keyOf(item), { ...item });
  return after;
}

/** Adds to sums exactly, or throws. A sum of 0 is not a cell. */
function addUsage(
  before: ReadonlyMap<string, UsageDelta>,
  deltas: readonly UsageDelta[] = [],
): Map<string, UsageDelta> {
  const after = new Map(before);
  for (const delta of deltas) {
    const key = JSON.stringify([delta.accountId, delta.meterOrFeatureId, delta.group, delta.day]);
    const cell = after.get(key);
    const quantity = cell === undefined ? delta.quantity : addExact(cell.quantity, delta.quantity);
    if (isZeroExact(quantity)) after.delete(key);
    else after.set(key, { ...delta, quantity });
  }
  return after;
}

function documentKey({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind} ${id}`;
}

function createView(now: () => State): LedgerView {
  const documents = (kind: string) => [...now().documents.values()].filter((document) => document.kind === kind);
  const accounts = () => [...now().accounts.values()];
  const listEvents = () => [...now().events.values()];
  const ofAccounts = <Item extends { readonly accountId: string }>(
    items: ReadonlyMap<string, Item>,
    accountIds: readonly string[],
  ): Item[] => [...items.values()].filter(({ accountId }) => accountIds.includes(accountId));
  const listIds = (matches: (account: RecordOf<"accounts">) => boolean, limit: number, after?: string) =>
    accounts()
      .filter((account) => matches(account) && (after === undefined || compareIds(account.id, after) > 0))
      .map(({ id }) => id)
      .sort(compareIds)
      .slice(0, limit);
  return {
    configurationRevision: async () => now().revision,
    document: async (kind, id) => now().documents.get(documentKey({ kind, id })),
    documentsOf: async (kind, ids) => documents(kind).filter(({ id }) => ids.includes(id)),
    allDocuments: async (kind) => documents(kind).sort(compareOldest),
    documents: async (kind, page) => takePage(documents(kind), page),

    accounts: async (ids) => accounts().filter(({ id }) => ids.includes(id)),
    accountList: async (filter, page) => takePage(accounts().filter(createFieldFilter(filter)), page),
    accountsBehind: async (instant, limit, after) => listIds(({ nextDueAt }) => nextDueAt <= instant, limit, after),
    accountsWithStaleDraftIndex: async (instant, limit, after) =>
      listIds(({ drafts }) => drafts?.credits === undefined || drafts.until <= instant, limit, after),
    draftList: async ({ customerId, period, begunBy, final, ...filter }, page) => {
      const drafts = accounts()
        .filter((account) => customerId === undefined || account.customerId === customerId)
        .flatMap(({ id: accountId, drafts: { places = [] } = {} }) => places.map((place) => ({ ...place, accountId })));
      return takePage(
        drafts
          .filter(createFieldFilter(filter))
          .filter((draft) => begunBy === undefined || draft.start <= begunBy)
          .filter((draft) => touches(draft, period) && isWithin(draft.finalAt, final))
          .map((draft) => ({ draft, id: draft.id, createdAt: draft.listedAt })),
        page,
      ).map(({ draft }) => draft);
    },

    acceptedIds: async (eventIds) => {
      const holders = new Map<string, AcceptedEventId>();
      for (const event of listEvents().sort((a, b) => a.createdAt - b.createdAt || a.number - b.number)) {
        const { eventId, referenceId, accountId, timestamp, createdAt } = event;
        if (!eventIds.includes(eventId) || !reservesId(event)) continue;
        holders.set(eventId, { eventId, referenceId, accountId, timestamp, createdAt });
      }
      return [...holders.values()];
    },
    events: async (filter, page) =>
      takePage(
        listEvents()
          .filter(createEventFilter(filter))
          .map((event) => ({ event, id: event.referenceId, createdAt: event.createdAt })),
        page,
      ).map(({ event }) => event),
    eventsToUndo: async (accountId, filter, limit) =>
      listEvents()
        .filter((event) => event.accountId === accountId && !event.reverted)
        .filter(createEventFilter(filter))
        .sort((a, b) => a.number - b.number)
        .slice(0, limit),
    eventsWithOverage: async (accountId, featureId, from, until, page) =>
      listEvents()
        .filter((event) => event.accountId === accountId && reservesId(event))
        .filter(({ feature }) => feature?.featureId === featureId && !feature.overage.isZero())
        .filter(({ timestamp }) => timestamp >= from * DAY_MS && timestamp < until * DAY_MS)
        .filter(({ number }) => number > (page?.afterNumber ?? 0))
        .sort((a, b) => a.number - b.number)
        .slice(0, page?.limit),
    lastSpent: async (entryId, accountId) =>
      listEvents()
        .filter((event) => event.accountId === accountId && reservesId(event))
        .filter(({ feature }) => feature?.allocations.some((each) => each.entryId === entryId))
        .map(({ timestamp }) => timestamp)
        .sort((a, b) => b - a)[0],

    usage: async (...args) => filterCells(now().usage, ...args),
    groupCounts: async (of) =>
      of.map(
        ({ accountId, meterId, day }) =>
          filterCells(now().usage, [accountId], day, day + 1).filter(
            ({ meterOrFeatureId, group }) => meterOrFeatureId === meterId && group !== undefined,
          ).length,
      ),
    overage: async (...args) => filterCells(now().overage, ...args),
    billedUsage: async (accountIds, from, until) =>
      ofAccounts(now().billedUsage, accountIds)
        .filter((period) => period.from < until && period.until > from)
        .sort((a, b) => a.from - b.from || compareIds(a.id, b.id)),

    entries: async (accountIds, featureId) =>
      ofAccounts(now().entries, accountIds)
        .filter((entry) => featureId === undefined || entry.featureId === featureId)
        .sort(compareOldest),
    entryList: async (accountId, featureId, page) =>
      takePage([...now().entries.values()].filter(createFieldFilter({ accountId, featureId })), page),
    credits: async (accountIds) => ofAccounts(now().credits, accountIds).sort(compareOldest),
    credit: async (id) => now().credits.get(id),
    creditList: async ({ accountId, state, endsBy = Infinity, endsAfter = -Infinity }, page) =>
      takePage(
        [...now().credits.values()]
          .filter(createFieldFilter({ accountId }))
          .filter((credit) => state === undefined || creditStateOf(credit) === state)
          .filter(({ effectiveUntil = Infinity }) => effectiveUntil <= endsBy)
          .filter(({ effectiveUntil = Infinity }) => endsAfter === -Infinity || effectiveUntil > endsAfter),
        page,
      ),
    dueCreditList: async ({ id, dueBy = Infinity }, page) =>
      takePage(
        accounts()
          .flatMap(({ id: accountId, drafts: { credits = [] } = {} }) =>
            credits.map((place) => ({ ...place, accountId })),
          )
          .filter((place) => createFieldFilter({ id })(place) && place.createdAt <= dueBy),
        page,
      ),
    invoices: async (accountIds, listedSince) =>
      ofAccounts(now().invoices, accountIds)
        .filter(({ invoice }) => listedAt(invoice) >= listedSince)
        .sort((a, b) => compareIds(a.invoice.invoiceDate, b.invoice.invoiceDate) || compareIds(a.id, b.id)),
    invoice: async (id) => now().invoices.get(id),
    invoiceList: async ({ period, ...filter }, page) =>
      takePage(
        [...now().invoices.values()]
          .filter(({ invoice }) => createFieldFilter(filter)(invoice))
          .filter(({ invoice: { startDate, endDate } }) =>
            touches({ start: Date.parse(startDate), end: Date.parse(endDate) }, period),
          )
          .map((record) => ({ record, id: record.id, createdAt: listedAt(record.invoice) })),
        page,
      ).map(({ record }) => record),
  };
}

const DAY_MS = 86_400_000;

function filterCells(
  sums: ReadonlyMap<string, UsageDelta>,
  accountIds: readonly string[],
  from: number,
  until: number,
): readonly LedgerCell[] {
  return [...sums.values()]
    .filter(({ accountId, day }) => accountIds.includes(accountId) && day >= from && day < until)
    .map((cell) => ({ ...cell, quantity: decimalOfExact(cell.quantity) }));
}

function isAccepted({ status }: Pick<EventRecord, "status">): boolean {
  return status.startsWith("INGESTION_COMPLETED");
}

/** Whether an event is accepted and not undone: it counts, and its id is reserved. */
function reservesId(event: EventRecord): boolean {
  return isAccepted(event) && !event.reverted;
}

/** What ended a credit: nothing, its consumption, or a void. */
function creditStateOf({ voided, creditAmount, consumedAmount }: RecordOf<"credits">): string {
  if (voided) return "VOIDED";
  return creditAmount.gt(consumedAmount) ? "ACTIVE" : "CONSUMED";
}

function createEventFilter({
  accepted,
  timestamp,
  createdAt,
  ...filter
}: EventFilter): (event: EventRecord) => boolean {
  const hasFields = createFieldFilter(filter);
  return (event) =>
    hasFields(event) &&
    (accepted === undefined || isAccepted(event) === accepted) &&
    isWithin(event.timestamp, timestamp) &&
    isWithin(event.createdAt, createdAt);
}

/** Whether an item matches all fields of a filter; undefined fields do not filter. */
function createFieldFilter(filter: object): (item: object) => boolean {
  const conditions = Object.entries(filter).filter(([, value]) => value !== undefined);
  return (item) => conditions.every(([name, value]) => Reflect.get(item, name) === value);
}

interface Range {
  readonly from: number;
  readonly until: number;
}

function isWithin(at: number, range: Range | undefined): boolean {
  return range === undefined || (at >= range.from && at < range.until);
}

function touches({ start, end }: { readonly start: number; readonly end: number }, range: Range | undefined): boolean {
  return range === undefined || (start < range.until && end > range.from);
}

/** Newest first, then by id: the order of every page. */
function takePage<Item extends PageKey>(items: readonly Item[], { limit, after }: PageRequest): Item[] {
  const compareNewest = (a: PageKey, b: PageKey): number => b.createdAt - a.createdAt || compareIds(a.id, b.id);
  return items
    .filter((item) => after === undefined || compareNewest(item, after) > 0)
    .sort(compareNewest)
    .slice(0, limit);
}

function compareOldest(a: PageKey, b: PageKey): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}
