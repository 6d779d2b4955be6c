/**
 * Counts events by status, and tracks the time span of the accepted ones.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { INGEST_STATUSES, type IngestOutcome, type IngestStatus, METERED } from "../outcome.ts";
import { quoteText } from "../refusals.ts";
import type { EventSpan, SpanEnd } from "./preview-range.ts";

/** The number of events with each status. */
export type OutcomeCounts = Readonly<Record<IngestStatus, number>>;

/** What bounds a span: an event, named by its id, or usage, named by its account. */
type SpanKind = "event" | "usage of";

/** Counts outcomes and extends a span. */
export interface OutcomeTally {
  /** Counts an outcome once or several times. @returns it */
  readonly count: (outcome: IngestOutcome, times?: number) => IngestOutcome;
  readonly counts: () => OutcomeCounts;
  /** Extends the span to an instant. */
  readonly extendSpan: (at: Instant, id: string, kind: SpanKind) => void;
  /** The first and the last so far; of equal instants, the earliest to arrive. */
  readonly span: () => EventSpan | undefined;
}

/** Creates an empty tally. */
export function createTally(): OutcomeTally {
  const counts = new Map(INGEST_STATUSES.map((status) => [status, 0]));
  // Most events have the same outcome as the previous one.
  let last: IngestOutcome = METERED;
  let pendingCount = 0;
  const addPending = (): void => {
    counts.set(last.status, (counts.get(last.status) ?? 0) + pendingCount);
    pendingCount = 0;
  };
  const first: OpenEnd = { at: Infinity, id: "", kind: "event" };
  const latest: OpenEnd = { at: -Infinity, id: "", kind: "event" };
  return {
    count(outcome, times = 1) {
      if (outcome !== last) addPending();
      last = outcome;
      pendingCount += times;
      return outcome;
    },
    counts() {
      addPending();
      return Object.fromEntries(counts) as OutcomeCounts;
    },
    extendSpan(at, id, kind) {
      if (at < first.at) setEnd(first, at, id, kind);
      if (at > latest.at) setEnd(latest, at, id, kind);
    },
    span: () => (first.at > latest.at ? undefined : { first: toSpanEnd(first), last: toSpanEnd(latest) }),
  };
}

interface OpenEnd {
  at: Instant;
  id: string;
  kind: SpanKind;
}

function setEnd(end: OpenEnd, at: Instant, id: string, kind: SpanKind): void {
  end.at = at;
  end.id = id;
  end.kind = kind;
}

function toSpanEnd({ at, id, kind }: OpenEnd): SpanEnd {
  return { name: `${kind} ${quoteText(id)}`, timestamp: at };
}

/** Adds the counts of disjoint sets of events. */
export function addCounts(a: OutcomeCounts, b: OutcomeCounts): OutcomeCounts {
  return Object.fromEntries(INGEST_STATUSES.map((status) => [status, a[status] + b[status]])) as OutcomeCounts;
}

/** The union of two spans. */
export function mergeSpans(a: EventSpan | undefined, b: EventSpan | undefined): EventSpan | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    first: b.first.timestamp < a.first.timestamp ? b.first : a.first,
    last: b.last.timestamp > a.last.timestamp ? b.last : a.last,
  };
}
