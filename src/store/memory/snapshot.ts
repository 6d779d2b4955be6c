/**
 * Converts a memory store to JSON text and back.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { type Changes, DOCUMENT_KINDS } from "../../ledger/decision.ts";
import { describeStored } from "../../ledger/outcome.ts";
import type { EventRecord, LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { exactOfDecimal } from "../../numbers/exact.ts";
import { parseRecord, serializeRecord } from "../record-json.ts";
import { addCreditKinds, convertEntry } from "./former-records.ts";
import { applyChanges, emptyState, type MemoryState } from "./state.ts";

const FORMAT = "ratebook memory store";
const VERSION = 3;
/** The version of the first release. */
const FIRST_VERSION = 1;

/** The content of a state. */
interface Snapshot extends Required<
  Omit<Changes, "configurationRevision" | "removedDocuments" | "newEvents" | "removedEvents" | "usage" | "overage">
> {
  readonly usage: readonly LedgerCell[];
  readonly overage: readonly LedgerCell[];
}

/** Writes a state as one JSON document. */
export function writeSnapshot(state: MemoryState): string {
  const changes: Snapshot = {
    documents: DOCUMENT_KINDS.flatMap((kind) => [...state.documents[kind].all()]),
    accounts: [...state.accounts.all()],
    events: [...state.events.all()],
    usage: [...state.usage.all()],
    overage: [...state.overage.all()],
    entries: [...state.entries.all()],
    credits: [...state.credits.all()],
    invoices: [...state.invoices.all()],
    keptUsage: [...state.keptUsage.all()],
  };
  return serializeRecord({ format: FORMAT, version: VERSION, revision: state.revision, changes });
}

/** Reads a snapshot. @throws {RatebookError} ERR_JSON_INVALID if the text is not a snapshot of a supported version */
export function readSnapshotText(snapshot: string): MemoryState {
  const state = emptyState();
  try {
    const { format, version, revision, changes } = parseRecord(snapshot) as Readonly<Record<string, unknown>>;
    const isSupported = version === VERSION || version === FIRST_VERSION;
    if (format !== FORMAT || !isSupported || typeof revision !== "number") {
      throw invalidSnapshotError(`expected a ${FORMAT} of version ${VERSION} or ${FIRST_VERSION}`);
    }
    const { usage = [], overage = [], ...records } = changes as Partial<Snapshot>;
    const { events = [], entries = [], credits = [], invoices = [] } = records;
    const converted =
      version === VERSION ? {} : { ...addCreditKinds(credits, invoices), entries: entries.map(convertEntry) };
    applyChanges(state, {
      ...records,
      ...converted,
      events: events.map(toEvent),
      usage: usage.map(toDelta),
      overage: overage.map(toDelta),
    });
    state.revision = revision;
  } catch (error) {
    if (error instanceof RatebookError && error.code === "ERR_JSON_INVALID") throw error;
    throw invalidSnapshotError(error instanceof Error ? error.message : String(error), error);
  }
  return state;
}

/** Descriptions of accepted events are replaced by the current ones. */
function toEvent(event: EventRecord): EventRecord {
  return { ...event, description: describeStored(event.status, event.description) };
}

/** A cell in a snapshot of any version. */
type SnapshotCell = Omit<LedgerCell, "meterOrFeatureId"> & Partial<Record<"meterOrFeatureId" | "itemId", string>>;

function toDelta({ accountId, itemId = "", meterOrFeatureId = itemId, day, quantity }: SnapshotCell): UsageDelta {
  return { accountId, meterOrFeatureId, day, quantity: exactOfDecimal(quantity) };
}

function invalidSnapshotError(reason: string, cause?: unknown): RatebookError<"ERR_JSON_INVALID"> {
  const message = `not a snapshot: ${reason.slice(0, 200)}`;
  return new RatebookError("ERR_JSON_INVALID", message, {}, { cause });
}
