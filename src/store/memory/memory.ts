/**
 * The memory store: the default, for tests, tools, and data that may be lost with the process; its content as JSON text.
 */
import type { CreditKind } from "../../credits/monetary-credits.ts";
import { RatebookError } from "../../errors.ts";
import { type Changes, DOCUMENT_KINDS } from "../../ledger/decision.ts";
import { describeStored } from "../../ledger/outcome.ts";
import type {
  BilledUsage,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  LedgerCell,
  UsageDelta,
} from "../../ledger/records.ts";
import { exactOfDecimal } from "../../numbers/exact.ts";
import { createLocks } from "../locks.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import type { Store } from "../store.ts";
import { type MemoryState, applyChanges, emptyState } from "./state.ts";
import { createView } from "./view.ts";

/** A store in memory. */
export interface MemoryStore extends Store {
  /** All committed data as one JSON text, which can be the `snapshot` of another store. */
  snapshot(): string;
}

/** Options of a memory store. */
export interface MemoryStoreOptions {
  /** A snapshot from {@link MemoryStore.snapshot}; without it the store is empty. */
  readonly snapshot?: string;
}

/**
 * Opens a store in memory. Records are shared with readers and never modified. Scopes wait in order of arrival;
 * disjoint scopes do not wait for each other.
 *
 * @throws {RatebookError} ERR_JSON_INVALID for an invalid snapshot
 */
export function memoryStore({ snapshot }: MemoryStoreOptions = {}): MemoryStore {
  const state = snapshot === undefined ? emptyState() : readSnapshotText(snapshot);
  const locks = createLocks();
  const view = createView(state);
  let closed = false;

  return {
    name: "memory",
    read: view,
    // Each call reads everything before it returns, so no commit can come in between.
    consistentView: () => view,
    async transact(scope, work) {
      if (closed) throw new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {});
      const release = await locks.take(scope);
      try {
        const { result, changes } = await work(view);
        applyChanges(state, changes);
        return result;
      } finally {
        release();
      }
    },
    snapshot: () => writeSnapshot(state),
    close: async () => {
      closed = true;
    },
  };
}

const FORMAT = "ratebook memory store";
const VERSION = 3;
/**
 * The version of the first release: credits had no kind, only their cause and purpose told them apart, and `requested` of
 * an entry had the name `asked`.
 */
const FIRST_VERSION = 1;

/** The content of a state. */
interface Snapshot extends Required<
  Omit<
    Changes,
    "configurationRevision" | "removedDocuments" | "newEvents" | "removedEvents" | "usage" | "overage" | "billedUsage"
  >
> {
  readonly usage: readonly LedgerCell[];
  readonly overage: readonly LedgerCell[];
  /** Billed external usage. The field has its former name, which existing snapshots contain. */
  readonly keptUsage: readonly BilledUsage[];
}

/** Writes a state as one JSON document. */
function writeSnapshot(state: MemoryState): string {
  const changes: Snapshot = {
    documents: DOCUMENT_KINDS.flatMap((kind) => [...state.documents[kind].all()]),
    accounts: [...state.accounts.all()],
    events: [...state.events.all()],
    usage: [...state.usage.all()],
    overage: [...state.overage.all()],
    entries: [...state.entries.all()],
    credits: [...state.credits.all()],
    invoices: [...state.invoices.all()],
    keptUsage: [...state.billedUsage.all()],
  };
  return serializeRecord({ format: FORMAT, version: VERSION, revision: state.revision, changes });
}

/** Reads a snapshot. @throws {RatebookError} ERR_JSON_INVALID if the text is not a snapshot of a supported version */
function readSnapshotText(snapshot: string): MemoryState {
  const state = emptyState();
  try {
    const { format, version, revision, changes } = parseRecord(snapshot) as Readonly<Record<string, unknown>>;
    if (format !== FORMAT || !isSupportedVersion(version) || typeof revision !== "number") {
      throw invalidSnapshotError(`expected a ${FORMAT} of version ${VERSION} or ${FIRST_VERSION}`);
    }
    const { usage = [], overage = [], keptUsage: billedUsage = [], ...records } = changes as Partial<Snapshot>;
    const { events = [], entries = [], credits = [], invoices = [] } = records;
    const converted =
      version === VERSION ? {} : { ...addCreditKinds(credits, invoices), entries: entries.map(convertEntry) };
    applyChanges(state, {
      ...records,
      ...converted,
      events: events.map(toEvent),
      usage: usage.map(toDelta),
      overage: overage.map(toDelta),
      billedUsage,
    });
    state.revision = revision;
  } catch (error) {
    if (error instanceof RatebookError && error.code === "ERR_JSON_INVALID") throw error;
    throw invalidSnapshotError(error instanceof Error ? error.message : String(error), error);
  }
  return state;
}

function isSupportedVersion(version: unknown): boolean {
  return version === VERSION || version === FIRST_VERSION;
}

/** Descriptions of accepted events are replaced by the current ones. */
function toEvent(event: EventRecord): EventRecord {
  return { ...event, description: describeStored(event.status, event.description) };
}

/** A cell in a snapshot of any version. */
type SnapshotCell = Omit<LedgerCell, "meterOrFeatureId"> & Partial<Record<"meterOrFeatureId" | "itemId", string>>;

function toDelta({ itemId = "", meterOrFeatureId = itemId, quantity, ...cell }: SnapshotCell): UsageDelta {
  return { ...cell, meterOrFeatureId, quantity: exactOfDecimal(quantity) };
}

function invalidSnapshotError(reason: string, cause?: unknown): RatebookError<"ERR_JSON_INVALID"> {
  const message = `not a snapshot: ${reason.slice(0, 200)}`;
  return new RatebookError("ERR_JSON_INVALID", message, {}, { cause });
}

type InvoiceLine = InvoiceRecord["invoice"]["revenueInfo"];
type FormerCredit = Omit<CreditRecord, "kind">;
/** What `requested` of an entry was called. */
const FORMER_REQUESTED = "asked";
type FormerEntry = Omit<EntryRecord, "requested"> & {
  readonly [FORMER_REQUESTED]?: NonNullable<EntryRecord["requested"]>;
};

/** Adds the kind to each credit of a snapshot, and to each credit in the lines of an invoice. */
function addCreditKinds(
  credits: readonly FormerCredit[],
  invoices: readonly InvoiceRecord[],
): { readonly credits: readonly CreditRecord[]; readonly invoices: readonly InvoiceRecord[] } {
  const withKinds = credits.map((credit) => ({ ...credit, kind: creditKind(credit) }));
  const kinds = new Map(withKinds.map(({ id, kind }) => [id, kind]));
  const convertLine = (line: InvoiceLine): InvoiceLine => ({
    ...line,
    ...(line.type === "SUB_CREDITS" ? { creditKind: kinds.get(line.id ?? "") ?? "MANUAL" } : {}),
    ...(line.lineItems === undefined ? {} : { lineItems: line.lineItems.map(convertLine) }),
  });
  return {
    credits: withKinds,
    invoices: invoices.map((record) => {
      const { invoice } = record;
      return { ...record, invoice: { ...invoice, revenueInfo: convertLine(invoice.revenueInfo) } };
    }),
  };
}

/** An entry, whose requested values had another name. */
function convertEntry({ [FORMER_REQUESTED]: requested, ...entry }: FormerEntry): EntryRecord {
  return requested === undefined ? entry : { ...entry, requested };
}

function creditKind({ cause, purpose }: FormerCredit): CreditKind {
  if (cause === undefined) return "MANUAL";
  // A grant of a plan whose id is "refund" has such a cause too.
  if (cause.startsWith("refund|") && purpose === "refund of what was charged in advance and not served") {
    return "REFUND";
  }
  return cause.startsWith("negative|") && purpose === "invoice below zero" ? "NEGATIVE_INVOICE" : "PLAN";
}
