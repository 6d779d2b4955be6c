/**
 * External usage (S17): the interface through which an engine reads it from files or a warehouse, a source over rows,
 * the usage stored with the invoice that was created from it, and late usage: what changed in the source since.
 */
import type { Book } from "../book/resources/book.ts";
import { type UsageMeter, compareGroups, NO_GROUP } from "../book/resources/event-schema.ts";
import { type Day, type Instant, instantOfDay, dayOf, formatDate, INSTANT_MIN } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { computeInvoicesInSteps } from "../invoicing/compute-invoices.ts";
import { grossAmount, invoiceKey } from "../invoicing/draft.ts";
import type { AccountCycle } from "../invoicing/timeline.ts";
import {
  checkRowDimensions,
  readUsageRow,
  toUsageGroup,
  type UsageRowInput,
  type NamedGroup,
  nameGroup,
} from "../metering/usage-rows.ts";
import type { UsageCell } from "../metering/usage.ts";
import { formatDecimal, type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { decimalOfExact, type Exact, exactOfDecimal } from "../numbers/exact.ts";
import { compareIds, sha256Hex } from "../numbers/ids.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { quoteText } from "../problem-table.ts";
import { AccountState } from "./account-state.ts";
import { findCarriedUsage, isBilledFor, mergeCells } from "./account-usage.ts";
import { dueInvoiceId, standardInvoiceKey } from "./account/record-ids.ts";
import type { Catalog } from "./catalog.ts";
import type { AccountRecord, BilledUsage, LedgerCell } from "./records.ts";
import { type AccountParts } from "./working-records.ts";

/** An account in a query. */
export interface UsageAccount {
  readonly id: string;
  /** Its current aliases, which rows may use (S16.6). */
  readonly aliases: readonly string[];
  /** For settings that rules read (S4.2): those of the customer apply if the account has none. */
  readonly customerId: string;
}

/** A query for cells. */
export interface CellQuery {
  /**
   * The configuration for metering rows: its ACTIVE event schemas and meters, and settings. It has no accounts. The
   * same object until the configuration changes, so it can key a cache.
   */
  readonly book: Book;
  /** The event schemas whose events are in the source; none of them consumes a feature. One or more. */
  readonly schemas: readonly string[];
  /** By id, ascending by code points. One or more. */
  readonly accounts: readonly UsageAccount[];
  /** UTC days `[from, until)`, by the rows' own timestamps. */
  readonly from: Day;
  readonly until: Day;
  /** Rows dated after this instant are excluded (S17.2). Cells of a whole day are dated at its start. */
  readonly upTo: Instant;
  /**
   * Until when an accepted event of one of these accounts reserves its id, exclusive, by the event's timestamp: for
   * some time, and while its cycle is open (S14.1).
   */
  readonly idHeldUntil: (accountId: string, at: Instant) => Instant;
}

/** A source of external usage. It may receive several queries at a time. */
export interface UsageSource {
  /** Its kind and address, for people: `the table usage.events of ClickHouse`. Without credentials. */
  readonly name: string;
  /**
   * The cells of these accounts, schemas and days, in chunks: accounts by {@link UsageAccount} id in the order of the
   * query, all cells of one before those of the next. Cells of one account, meter and day add up; quantities may be 0.
   * Counts must be those of ratebook for the same rows (S17.3). It may end only after everything was read. If it
   * throws, the engine reports ERR_USAGE_UNAVAILABLE and ignores the cells that came before (S17.5).
   */
  cells(query: CellQuery): AsyncIterable<readonly UsageCell[]>;
}

/** The accounts of a query, in its order. */
export function usageAccountsOf(records: readonly AccountRecord[]): readonly UsageAccount[] {
  return records
    .map(({ id, customerId, aliases }) => ({ id, customerId, aliases: aliases.map(({ alias }) => alias) }))
    .sort((a, b) => compareIds(a.id, b.id));
}

/** The error for usage that cannot be read. */
export function usageUnavailableError(name: string, cause: unknown): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the usage in ${name} cannot be read: ${why}`;
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {}, { cause });
}

/** Rows of usage, and how to detect changes. */
export interface UsageRowsInput {
  /** A short description for people; see {@link UsageSource.name}. */
  readonly name: string;
  /** All rows, in any order; those of one account, meter and day add up. Read again when the stamp changes. */
  readonly read: () => AsyncIterable<UsageRowInput> | Iterable<UsageRowInput>;
  /** A text that changes when the rows do; without it they never change. */
  readonly stamp?: () => Promise<string>;
}

/**
 * A source over rows of usage cells, which it keeps in memory: some 50 bytes each. A row counts from the start of its
 * day. Rows of accounts that the engine does not have are ignored, as their events would be. Every query fails if a row
 * is invalid, has an unknown meter, or belongs to a schema whose events are ingested: otherwise usage would be missing
 * or billed twice.
 */
export function usageFromRows({ name, read, stamp = async () => "" }: UsageRowsInput): UsageSource {
  let lastRead: { readonly stamp: string; readonly rows: Promise<RowsByAccount> } | undefined;
  const readCurrentRows = async (): Promise<RowsByAccount> => {
    const currentStamp = await stamp();
    if (lastRead?.stamp !== currentStamp) lastRead = { stamp: currentStamp, rows: groupRows(read()) };
    const { rows } = lastRead;
    try {
      const currentRows = await rows;
      if ((await stamp()) !== currentStamp)
        throw usageRowsUnavailableError(`${name} changed while it was read; try again`);
      return currentRows;
    } catch (error) {
      // A failed read is not cached: the next query tries again.
      if (lastRead?.rows === rows) lastRead = undefined;
      throw error;
    }
  };
  return {
    name,
    async *cells(query) {
      const rows = await readCurrentRows();
      const kinds = checkKinds(rows.kinds, query);
      for (const account of query.accounts) {
        const cells = [...iterateAccountCells(rows, kinds, account, query)];
        if (cells.length > 0) yield cells;
      }
    },
  };
}

/** A meter and the dimensions of its rows' groups, in the order of their texts. */
interface RowKind {
  readonly meterId: string;
  readonly dimensions: readonly string[];
}

/** A kind with its meter, and the indices of the texts of a group in the order of the meter's dimensions. */
interface CheckedKind {
  readonly meter: UsageMeter;
  readonly places: readonly number[];
}

/** A row, without its account. */
type PackedRow = readonly [kind: number, day: Day, quantity: Exact, texts: readonly string[] | undefined];

interface RowsByAccount {
  readonly kinds: readonly RowKind[];
  /** By account name in the rows; one row after another, as four consecutive values. */
  readonly byName: ReadonlyMap<string, readonly PackedRow[number][]>;
}

async function groupRows(rows: AsyncIterable<UsageRowInput> | Iterable<UsageRowInput>): Promise<RowsByAccount> {
  const kinds = new Map<string, RowKind>();
  const indexes = new Map<string, number>();
  const byName = new Map<string, PackedRow[number][]>();
  for await (const row of rows) {
    const { accountId, meterId, day, quantity, group } = readUsageRow(row);
    const dimensions = Object.keys(group ?? {});
    const key = group === undefined ? meterId : JSON.stringify([meterId, dimensions]);
    const kind = indexes.get(key) ?? kinds.size;
    if (kind === kinds.size) {
      kinds.set(key, { meterId, dimensions });
      indexes.set(key, kind);
    }
    let accountRows = byName.get(accountId);
    if (accountRows === undefined) byName.set(accountId, (accountRows = []));
    accountRows.push(kind, day, exactOfDecimal(quantity), group && Object.values(group));
  }
  return { kinds: [...kinds.values()], byName };
}

/** Checks that all rows are of meters that can be queried, and have their groups. */
function checkKinds(kinds: readonly RowKind[], { book, schemas }: CellQuery): readonly CheckedKind[] {
  const meters = new Map(book.usageMeters.map((meter) => [meter.id, meter]));
  return kinds.map(({ meterId, dimensions }) => {
    const meter = meters.get(meterId);
    if (meter === undefined) throw usageRowsUnavailableError(`it has rows of the unknown meter ${quoteText(meterId)}`);
    const { eventSchemaName: schemaName } = meter;
    if (!schemas.includes(schemaName)) {
      const conflict = `but events of its schema ${quoteText(schemaName)} are ingested`;
      throw usageRowsUnavailableError(`it has rows of the meter ${quoteText(meterId)}, ${conflict}`);
    }
    return { meter, places: checkRowDimensions(dimensions, meter).map((dimension) => dimensions.indexOf(dimension)) };
  });
}

function* iterateAccountCells(
  { byName }: RowsByAccount,
  kinds: readonly CheckedKind[],
  account: UsageAccount,
  query: CellQuery,
): Iterable<UsageCell> {
  for (const name of [account.id, ...account.aliases]) {
    const rows = byName.get(name) ?? [];
    for (let at = 0; at < rows.length; at += 4) {
      const [kindIndex, day, exact, texts] = rows.slice(at, at + 4) as unknown as PackedRow;
      if (day < query.from || day >= query.until || instantOfDay(day) > query.upTo) continue;
      const kind = kinds[kindIndex];
      if (kind === undefined) continue;
      const { meter, places } = kind;
      const ordered = texts && places.map((place) => texts[place] ?? "");
      const quantity = decimalOfExact(exact);
      const group = ordered && toUsageGroup(ordered, meter, { day, quantity });
      yield { accountId: account.id, meterId: meter.id, day, quantity, ...(group && { group }) };
    }
  }
}

function usageRowsUnavailableError(message: string): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
}

/** The usage cells of one account, without its id. */
export type AccountCells = BilledUsage["cells"];

/** The cells of one account that are billed for a cycle, by meter, day and group, each once; zeros are omitted. */
export function accountCells(
  catalog: Catalog,
  cells: readonly LedgerCell[],
  cycle: Parameters<typeof isBilledFor>[1],
): AccountCells {
  return mergeCells(cells.filter((cell) => isBilledFor(catalog, cycle, cell)))
    .map(({ meterOrFeatureId: meterId, group, day, quantity }) => ({
      meterId,
      ...(group && { group }),
      day,
      quantity,
    }))
    .toSorted(compareAccountCells);
}

type AccountCell = AccountCells[number];

function compareAccountCells(a: AccountCell, b: AccountCell): number {
  return compareIds(a.meterId, b.meterId) || a.day - b.day || compareGroups(a.group ?? NO_GROUP, b.group ?? NO_GROUP);
}

/** A hash of cells that does not depend on their order. @param cells as {@link accountCells} returns them */
function digestCells(cells: AccountCells): string {
  const texts = cells.map(({ meterId, group, day, quantity }) => [
    meterId,
    formatDate(instantOfDay(day)),
    formatDecimal(quantity),
    ...(group === undefined ? [] : [group]),
  ]);
  return sha256Hex(JSON.stringify(texts));
}

/**
 * Stores the external usage of cycles that close, unless it is stored already: billed usage never changes. Pauses after
 * each cycle.
 */
export function* saveBilledUsage(
  catalog: Catalog,
  account: AccountState,
  closing: readonly { readonly cycle: Pick<AccountCycle, "start" | "end">; readonly closedAt: Instant }[],
): Steps {
  const externalUsage = account.externalUsage();
  if (externalUsage === undefined) return;
  const savedIds = new Set(account.billedUsage().map(({ id }) => id));
  for (const { cycle, closedAt } of closing) {
    const id = dueInvoiceId(account.record.id, standardInvoiceKey(cycle));
    if (savedIds.has(id)) continue;
    // An earlier cycle may still be open: levels in it cannot change any more either (S6.5).
    const ends = account.billedUsage().map(({ until }) => until);
    const carriesFrom = Math.max(
      account.record.carriedUsage?.until ?? dayOf(INSTANT_MIN),
      ...ends.filter((end) => end <= dayOf(cycle.start)),
    );
    const days = {
      from: dayOf(cycle.start),
      until: dayOf(cycle.end),
      ...(catalog.billing.levelMeters.size > 0 && {
        carriedUsage: findCarriedUsage(catalog, account, carriesFrom),
      }),
    };
    const cells = accountCells(catalog, externalUsage.open, days);
    account.putBilledUsage({
      id,
      accountId: account.record.id,
      ...days,
      cells,
      digest: digestCells(cells),
      closedAt,
    });
    yield;
  }
}

/** A cell that changed since its cycle closed. */
export interface LateCell {
  readonly meterId: string;
  /** Absent for a meter without groups. */
  readonly group?: NamedGroup;
  /** UTC day, `2024-01-31`. */
  readonly date: string;
  /** Units that were billed. */
  readonly billed: Decimal;
  /** The source's current units. */
  readonly now: Decimal;
  /** `now` minus `billed`; below 0 if rows were deleted. */
  readonly late: Decimal;
}

/** A closed cycle whose usage changed since. Its invoice stays unchanged. */
export interface LateUsage {
  readonly accountId: string;
  /** The STANDARD invoice of the cycle; absent if it had no lines. */
  readonly invoiceId?: string;
  /** The cycle's days, `[startDate, endDate)`, as `2024-01-01`. */
  readonly startDate: string;
  readonly endDate: string;
  /** By meter, day and group. */
  readonly cells: readonly LateCell[];
  readonly currency: string;
  /** The charge of the STANDARD invoice before credits, as billed and as recalculated from current usage. */
  readonly billedAmount: Decimal;
  readonly amountNow: Decimal;
  /** `amountNow` minus `billedAmount`. */
  readonly lateAmount: Decimal;
}

/** The late usage of a cycle; undefined if there is none. @param now its cells, as `accountCells` returns them */
export function findLateUsage(
  catalog: Catalog,
  parts: AccountParts,
  billed: BilledUsage,
  now: AccountCells,
): Omit<LateUsage, "invoiceId"> | undefined {
  if (digestCells(now) === billed.digest) return undefined;
  const billedAmount = chargeForCells(catalog, parts, billed);
  const amountNow = chargeForCells(catalog, parts, { ...billed, cells: now });
  return {
    accountId: billed.accountId,
    startDate: formatDate(instantOfDay(billed.from)),
    endDate: formatDate(instantOfDay(billed.until)),
    cells: compareCells(billed.cells, now, catalog.book.usageMeters),
    currency: parts.record.invoiceCurrency,
    billedAmount,
    amountNow,
    lateAmount: subtract(amountNow, billedAmount),
  };
}

function compareCells(before: AccountCells, now: AccountCells, meters: readonly UsageMeter[]): readonly LateCell[] {
  const keyOf = ({ meterId, group, day }: AccountCell): string => JSON.stringify([day, meterId, group]);
  const billed = new Map(before.map((cell) => [keyOf(cell), cell.quantity]));
  const unmatchedKeys = new Set(now.map(keyOf));
  const all = [
    ...now,
    ...before.flatMap((cell) => (unmatchedKeys.has(keyOf(cell)) ? [] : [{ ...cell, quantity: ZERO }])),
  ];
  return all
    .toSorted(compareAccountCells)
    .map((cell) => {
      const billedQuantity = billed.get(keyOf(cell)) ?? ZERO;
      const date = formatDate(instantOfDay(cell.day));
      return {
        meterId: cell.meterId,
        ...(cell.group && { group: nameGroup(cell.group, cell.meterId, meters) }),
        date,
        billed: billedQuantity,
        now: cell.quantity,
        late: subtract(cell.quantity, billedQuantity),
      };
    })
    .filter(({ late }) => !late.isZero());
}

/** The charge of a cycle's STANDARD invoice for these cells, before credits; 0 if it has no lines. */
function chargeForCells(catalog: Catalog, parts: AccountParts, billed: BilledUsage): Decimal {
  const record = { ...parts.record, carriedUsage: billed.carriedUsage };
  const others = (parts.externalUsage?.billed ?? []).filter(({ id }) => id !== billed.id);
  const externalUsage = { current: [], open: [], billed: [...others, billed] };
  const account = new AccountState(catalog, { ...parts, record, externalUsage });
  const cycle = { start: instantOfDay(billed.from), end: instantOfDay(billed.until) };
  const key = standardInvoiceKey(cycle);
  const knownUntil: Instant = billed.closedAt + 1;
  const range = { from: cycle.start, until: cycle.end, knownUntil, viewHasAllCredits: true };
  const drafts = runToCompletion(computeInvoicesInSteps(account.view(catalog), catalog.billing, range));
  // An advance invoice below zero grants a credit that would pay this invoice.
  const standard = drafts.find(({ draft }) => invoiceKey(draft) === key);
  return standard === undefined ? ZERO : grossAmount(standard.draft);
}
