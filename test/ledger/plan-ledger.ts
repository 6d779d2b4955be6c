/** Engines of books of the catalog, with operations at given times, and what they store. */
import { readBook } from "../../src/book/book.ts";
import { formatInstant, type Instant, toInstant } from "../../src/calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../src/invoicing/invoice.ts";
import { NO_END } from "../../src/invoicing/timeline.ts";
import { type AccountState, createWorkspace } from "../../src/ledger/account-state.ts";
import { storedInvoiceKey } from "../../src/ledger/account/record-ids.ts";
import { type Catalog, createCatalog } from "../../src/ledger/catalog.ts";
import type { Changes } from "../../src/ledger/decision.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord } from "../../src/ledger/records.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import type { Part } from "../book/builder.ts";
import { CATALOG } from "../book/catalog-book.ts";
import { type ClockedEngine, loadedAt } from "../engine/support.ts";

/** An account without a plan. */
export const accountWith = (id: string, more: object = {}): object => ({
  id,
  name: `Account ${id}`,
  customerId: "ann",
  ...more,
});

/** What a store has of an account: credits and entries by creation, invoices by when they became final. */
export interface StoredAccount {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
  readonly invoices: readonly InvoiceRecord[];
}

/** A period, a version and an override of a plan. */
export interface AssociateOptions {
  readonly until?: string;
  readonly version?: number;
  readonly override?: object;
  readonly retainStartOffsets?: boolean;
}

/** An engine and its accounts, by default the account `a`. */
export interface Ledger extends ClockedEngine {
  readonly store: Store;
  /** Associates a plan, by default at the start of its first day. */
  associate(planId: string, from: string, now?: string, more?: AssociateOptions, id?: string): Promise<void>;
  dissociate(from: string, now: string, more?: { until?: string; planId?: string; version?: number }): Promise<void>;
  /** Processes everything due. */
  until(now: string | Instant): Promise<void>;
  /** Ingests an event of calls or tokens, by default at its time; whether it was accepted. */
  use(n: number, timestamp: string, now?: string | Instant, id?: string, schemaName?: string): Promise<boolean>;
  stored(id?: string): Promise<StoredAccount>;
  /** Decides about the account with everything that is stored of it, without the engine. */
  decide<Result>(
    decision: (catalog: Catalog, account: AccountState) => Result,
  ): Promise<{ readonly result: Result; readonly changes: Changes }>;
  /** Stores changes of the account that no operation makes. */
  put(changes: Partial<Changes>): Promise<void>;
  /** The account's plans over time: plan@version, days and the day on which cycles begin. */
  plans(id?: string): Promise<readonly string[]>;
  /** `held left status` of each credit of the account. */
  credits(now: string): Promise<readonly string[]>;
  /** Every draft of the account: type, period, date, status and total. */
  drafts(now: string): Promise<readonly string[]>;
  /** The same of its final invoices, by when they became final, then by what they are for. */
  finals(id?: string): Promise<readonly string[]>;
}

/** An engine with these plans from the start of 2024 on. */
export async function openLedger(
  plans: readonly object[],
  { accounts = [accountWith("a")], ...more }: Part = {},
  store: Store = memoryStore(),
): Promise<Ledger> {
  const book: object = { ...CATALOG.book, pricePlans: plans, accounts, ...more };
  let catalog: Catalog | undefined;
  const idCounts = new Map<string, number>();
  const newId = (prefix: string): string => {
    idCounts.set(prefix, (idCounts.get(prefix) ?? 0) + 1);
    return `${prefix}.${String(idCounts.get(prefix)).padStart(4, "0")}`;
  };
  const clocked = await loadedAt("2024-01-01", book, { store, ids: newId });
  const at = (now: string | Instant) => clocked.at(formatInstant(toInstant(now)));
  const ledger: Ledger = {
    ...clocked,
    store,
    async associate(pricePlanId, effectiveFrom, now = effectiveFrom, { until, override, ...more } = {}, id = "a") {
      const request = {
        pricePlanId,
        effectiveFrom,
        effectiveUntil: until,
        pricePlanDetailsOverride: override,
        ...more,
      };
      await at(now).associate(id, request);
    },
    async dissociate(effectiveFrom, now, { until, planId, version } = {}) {
      const request = { effectiveFrom, effectiveUntil: until, pricePlanId: planId, version };
      await at(now).dissociate("a", request);
    },
    async until(now) {
      await at(now).finalize();
    },
    async use(n, timestamp, now = timestamp, accountId = "a", schemaName = "call") {
      const [result] = await at(now).ingest([{ schemaName, id: newId("e"), accountId, timestamp, attributes: { n } }]);
      return result?.status === "INGESTION_COMPLETED_EVENT_METERED";
    },
    async stored(id = "a") {
      const { read } = store;
      const [record] = await read.accounts([id]);
      if (record === undefined) throw new Error(`no account ${id}`);
      const byCreation = <Item extends { readonly createdAt: Instant }>(items: readonly Item[]): readonly Item[] =>
        items.toSorted((a, b) => a.createdAt - b.createdAt);
      const invoices = await read.invoices([id], Number.NEGATIVE_INFINITY);
      return {
        record,
        entries: byCreation(await read.entries([id])),
        credits: byCreation(await read.credits([id])),
        invoices: invoices.toSorted(
          (a, b) => a.finalizedAt - b.finalizedAt || (storedInvoiceKey(a) < storedInvoiceKey(b) ? -1 : 1),
        ),
      };
    },
    async decide(decision) {
      const { read } = store;
      catalog ??= createCatalog(readBook(book));
      const days = [-1_000_000, 3_000_000] as const;
      const { record, entries, credits } = await ledger.stored();
      const invoices = await read.invoices(["a"], Number.NEGATIVE_INFINITY);
      const [usage, overage] = [await read.usage(["a"], ...days), await read.overage(["a"], ...days)];
      const events = await read.eventsToUndo("a", {});
      const workspace = createWorkspace(catalog, [{ record, entries, credits, invoices, usage, overage, events }]);
      return { result: decision(catalog, workspace.account("a")), changes: workspace.changes() };
    },
    async put(changes) {
      const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
      await store.transact(scope, async () => ({ result: undefined, changes }));
    },
    async plans(id = "a") {
      const dayOf = (instant: Instant): string => new Date(instant).toISOString().slice(0, 10);
      return (await clocked.engine.accounts.pricingSchedules(id)).map(
        ({ pricePlanId, version, from, until = NO_END, cycleConfig }) =>
          `${pricePlanId}@${version} ${dayOf(from)}..${dayOf(until)} on ${cycleConfig.dayOffset}`,
      );
    },
    async credits(now) {
      const { items } = await at(now).credits.list({ filter: { accountId: "a" } });
      return items.map(({ holdAmount, left, status }) => [holdAmount, left, status].join(" "));
    },
    async drafts(now) {
      const { items } = await at(now).invoices.list({ filter: { accountId: "a", status: "DRAFT" } });
      return items.map(({ invoice }) => headOf(invoice));
    },
    finals: async (id) => (await ledger.stored(id)).invoices.map(({ invoice }) => headOf(invoice)),
  };
  return ledger;
}

function headOf({ invoiceType, startDate, endDate, invoiceDate, status, revenueInfo }: Invoice): string {
  const [start, end, date] = [startDate, endDate, invoiceDate].map((text) => text.slice(0, 10));
  return `${invoiceType} ${start}..${end} of ${date} ${status} ${formatDecimal(revenueInfo.value)}`;
}

/** The lines of an invoice that are not sums: type, id and value. */
export function listCardLines({ revenueInfo }: Invoice): readonly string[] {
  const leaves = (line: InvoiceLine): readonly string[] => {
    const isCard = line.type.endsWith("_RATE_CARD_AMOUNT") || (line.lineItems ?? []).length === 0;
    if (isCard) return [`${line.type} ${line.id ?? ""} ${formatDecimal(line.value)}`];
    return (line.lineItems ?? []).flatMap(leaves);
  };
  return leaves(revenueInfo);
}
