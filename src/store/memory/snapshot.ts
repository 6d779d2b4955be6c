/**
 * A memory store as JSON text, and back.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { type Changes, DOCUMENT_KINDS } from "../../ledger/decision.ts";
import { recordOf, recordText } from "../record-text.ts";
import { applyChanges, emptyState, type MemoryState } from "./state.ts";

const FORMAT = "ratebook memory store";
const VERSION = 1;

/** The text of a state: one JSON document. */
export function snapshotOf(state: MemoryState): string {
  const changes: Required<Omit<Changes, "configurationChanged" | "removedDocuments" | "batch">> = {
    documents: DOCUMENT_KINDS.flatMap((kind) => [...state.documents[kind].all()]),
    accounts: [...state.accounts.all()],
    events: [...state.events.all()],
    usage: [...state.usage.all()],
    overage: [...state.overage.all()],
    entries: [...state.entries.all()],
    credits: [...state.credits.all()],
    invoices: [...state.invoices.all()],
  };
  return recordText({ format: FORMAT, version: VERSION, revision: state.revision, changes });
}

/**
 * The state that a snapshot holds.
 *
 * @throws {RatebookError} ERR_JSON_INVALID when the text is not a snapshot of this version
 */
export function restore(snapshot: string): MemoryState {
  const state = emptyState();
  try {
    const { format, version, revision, changes } = recordOf(snapshot) as Readonly<Record<string, unknown>>;
    if (format !== FORMAT || version !== VERSION || typeof revision !== "number") {
      throw invalid(`expected a ${FORMAT} of version ${VERSION}`);
    }
    applyChanges(state, changes as Changes);
    state.revision = revision;
  } catch (error) {
    if (error instanceof RatebookError && error.code === "ERR_JSON_INVALID") throw error;
    throw invalid(error instanceof Error ? error.message : String(error), error);
  }
  return state;
}

function invalid(reason: string, cause?: unknown): RatebookError<"ERR_JSON_INVALID"> {
  const message = `not a snapshot: ${reason.slice(0, 200)}`;
  return new RatebookError("ERR_JSON_INVALID", message, {}, { cause });
}
