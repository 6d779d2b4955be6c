/** Usage by account, meter and UTC day (S5.3), and composite invoices of groups (S16.7). */
import { compareGroups, NO_GROUP } from "../../book/resources/event-schema.ts";
import {
  type Day,
  dayOf,
  formatDate,
  INSTANT_MIN,
  type Instant,
  type InstantInput,
  toInstant,
  instantOfDay,
  ceilToDay,
} from "../../calendar/instant.ts";
import { optionError, RatebookError } from "../../errors.ts";
import { mergeCells } from "../../ledger/account-usage.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { type CompositeInvoice, readComposite } from "../../ledger/commands/groups.ts";
import { accountCells, findLateUsage, type LateUsage } from "../../ledger/external-usage.ts";
import { groupByAccount, prefetch } from "../../ledger/reads.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { type NamedGroup, toUsageRow } from "../../metering/usage-rows.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { compareIds } from "../../numbers/ids.ts";
import { readSource, readUsage } from "../external-usage.ts";
import { type EngineContext, idMethod, listMethod, textFields } from "../methods.ts";
import { runOperation } from "../operation.ts";
import { type Page, pageKey, toPage, type PageOptions, pageRequest } from "../pages.ts";

/** A query for usage. */
export interface UsageQuery {
  /** 1 to 1,000 accounts. */
  readonly accountIds: readonly string[];
  /** Whole UTC days: those that overlap `[from, until)`. */
  readonly from: InstantInput;
  readonly until: InstantInput;
}

/** The usage of a meter, and of a group if it has groups, by one account on one UTC day; days without usage are omitted. */
export interface DailyUsage {
  readonly accountId: string;
  readonly meterId: string;
  /** The texts of the meter's `groupBy` dimensions, by name; absent for a meter without groups. */
  readonly group?: NamedGroup;
  /** UTC day, `2024-01-31`. */
  readonly date: string;
  /** Units; may be negative. */
  readonly quantity: Decimal;
}

/** The overage of a feature by one account on one UTC day (S11.3). */
export interface DailyOverage {
  readonly accountId: string;
  readonly featureId: string;
  /** UTC day, `2024-01-31`. */
  readonly date: string;
  /** Units, above 0. */
  readonly quantity: Decimal;
}

/** A composite invoice with its creation time. */
export type CompositeSnapshot = CompositeInvoice & { readonly createdAt: Instant };

/** Selects composite invoices; absent fields do not filter. */
export interface CompositeFilter {
  readonly invoiceGroupId?: string | undefined;
  /** Dated within `[from, until)`. */
  readonly from?: InstantInput | undefined;
  readonly until?: InstantInput | undefined;
}

export const compositeInvoiceMethods = {
  /** Newest first. */
  list: listMethod(textFields("invoiceGroupId"), listComposites),
  /** @throws {RatebookError} ERR_NOT_FOUND */
  get: idMethod(getComposite),
};

const ACCOUNTS_MAX = 1000;

/** Includes current external usage. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
export async function usageBetween(context: EngineContext, query: UsageQuery): Promise<readonly DailyUsage[]> {
  const { store, clock, configuration } = context;
  const { first: from, end: until } = requestedDays(query);
  const { catalog } = await configuration(store.read);
  const records = await store.read.accounts(query.accountIds);
  const cells = await readUsage(store, store.read, { catalog, records, from, until, upTo: clock() });
  const { usageMeters } = catalog.book;
  return sortCells(cells).map(({ meterOrFeatureId: meterId, ...cell }) =>
    toUsageRow({ meterId, ...cell }, usageMeters),
  );
}

/** After everything due by now is processed: a grant takes overage that it covers (S11.5). */
export async function overageBetween(context: EngineContext, query: UsageQuery): Promise<readonly DailyOverage[]> {
  const { first, end } = requestedDays(query);
  return runOperation(context, {
    scope: () => ({ configuration: "shared", accountIds: query.accountIds, eventIds: [] }),
    async needs({ view }) {
      const accountIds = (await view.accounts(query.accountIds)).map(({ id }) => id);
      return { accountIds, decisionInput: accountIds };
    },
    isReadOnly: true,
    async decide({ catalog, view, workspace, now }, accountIds) {
      for (const id of accountIds) catchUp(catalog, workspace.account(id), now);
      const changedCells = (workspace.changes().overage ?? [])
        .filter(({ day }) => day >= first && day < end)
        .map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) }));
      const cells = mergeCells([...(await view.overage(query.accountIds, first, end)), ...changedCells]);
      const result = sortCells(cells).map(({ accountId, meterOrFeatureId: featureId, day, quantity }) => {
        return { accountId, featureId, date: formatDate(instantOfDay(day)), quantity };
      });
      return { result };
    },
  });
}

async function getComposite({ store }: EngineContext, id: string): Promise<CompositeSnapshot> {
  const document = await store.read.document("compositeInvoice", id);
  if (document === undefined) throw notFoundError("composite invoice", id);
  return { ...readComposite(document), createdAt: document.createdAt };
}

async function listComposites(
  { store }: EngineContext,
  { invoiceGroupId, from, until }: CompositeFilter,
  options: PageOptions,
): Promise<Page<CompositeSnapshot>> {
  const { limit, after: start } = pageRequest(options);
  const first = from === undefined ? Number.NEGATIVE_INFINITY : toInstant(from);
  const end = until === undefined ? Number.POSITIVE_INFINITY : toInstant(until);
  const composites: CompositeSnapshot[] = [];
  let after = start;
  for (;;) {
    const documents = await store.read.documents("compositeInvoice", { limit: limit + 1, ...(after && { after }) });
    for (const document of documents) {
      const composite = { ...readComposite(document), createdAt: document.createdAt };
      const isOfGroup = invoiceGroupId === undefined || composite.invoiceGroupId === invoiceGroupId;
      if (isOfGroup && composite.invoiceDate >= first && composite.invoiceDate < end) composites.push(composite);
    }
    const last = documents.at(-1);
    if (documents.length <= limit || last === undefined || composites.length > limit) break;
    after = { createdAt: last.createdAt, id: last.id };
  }
  return toPage(composites, limit, pageKey);
}

/** The days `[first, end)` of a query. @throws {RatebookError} ERR_OPTION_INVALID for an invalid query */
function requestedDays({ accountIds, from, until }: UsageQuery): { readonly first: Day; readonly end: Day } {
  if (accountIds.length < 1 || accountIds.length > ACCOUNTS_MAX) {
    throw optionError("accountIds", `expected 1 to ${ACCOUNTS_MAX} accounts, got ${accountIds.length}`);
  }
  const [first, end] = [dayOf(toInstant(from)), ceilToDay(toInstant(until))];
  if (first >= end) {
    throw optionError("until", "expected an instant after the start of the range");
  }
  return { first, end };
}

/** By day, account, meter or feature, and group. */
function sortCells(cells: readonly LedgerCell[]): readonly LedgerCell[] {
  return cells.toSorted(
    (a, b) =>
      a.day - b.day ||
      compareIds(a.accountId, b.accountId) ||
      compareIds(a.meterOrFeatureId, b.meterOrFeatureId) ||
      compareGroups(a.group ?? NO_GROUP, b.group ?? NO_GROUP),
  );
}

/** @throws {RatebookError} ERR_OPTION_INVALID for an invalid query, and if all events are ingested; ERR_USAGE_UNAVAILABLE */
export async function lateUsage(context: EngineContext, query: UsageQuery): Promise<readonly LateUsage[]> {
  const { store, clock, configuration } = context;
  const { read } = store;
  const { first, end } = requestedDays(query);
  if (store.createPrefetch() === undefined) {
    const message = "the engine has no external usage, so no usage can be late";
    throw new RatebookError("ERR_OPTION_INVALID", message, { option: "usage" });
  }
  const records = await read.accounts(query.accountIds);
  const ids = records.map(({ id }) => id);
  const billedUsage = groupByAccount(await read.billedUsage(ids, first, end));
  const all = [...billedUsage.values()].flat();
  if (all.length === 0) return [];
  const { catalog } = await configuration(read);
  const from = Math.min(...all.map((each) => each.carriedUsage?.until ?? each.from));
  const until = Math.max(...all.map((each) => each.until));
  const externalUsage = { catalog, records, from, upTo: clock() };
  const source = await readSource(store, externalUsage);
  // Overage is priced by billing windows, which may have begun long before.
  const overage = { ids, from: dayOf(INSTANT_MIN), until };
  const readParts = await prefetch(read, { usage: { ids, from, until }, overage, externalUsage }, source);
  const results: LateUsage[] = [];
  for (const record of records) {
    const parts = readParts(record);
    for (const each of billedUsage.get(record.id) ?? []) {
      const current = accountCells(catalog, parts.externalUsage?.current ?? [], each);
      const cycleUsage = findLateUsage(catalog, parts, each, current);
      if (cycleUsage === undefined) continue;
      const hasInvoice = (await read.invoice(each.id)) !== undefined;
      results.push({ ...cycleUsage, ...(hasInvoice ? { invoiceId: each.id } : {}) });
    }
  }
  return results;
}
