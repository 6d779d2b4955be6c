/**
 * One way of deciding the events of a run: by the plans of the book, or with a draft in place of them. Lanes of one run share
 * what all of them count.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { Day, Instant } from "../../calendar/instant.ts";
import type { AddAll } from "../../metering/cells.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { createUsageTally, type Usage, type UsageCell, type UsageTally } from "../../metering/usage.ts";
import { add, type Decimal } from "../../numbers/decimal.ts";
import type { Exact } from "../../numbers/exact.ts";
import { type Catalog, withPlan } from "../catalog.ts";
import type { EventDecision } from "../events/decide-event.ts";
import { type IngestOutcome, type IngestStatus, METERED } from "../outcome.ts";
import { openTally, type OutcomeTally, spanOfBoth, sumOfCounts } from "./outcome-tally.ts";
import { type PreviewAccount, type PreviewAccounts, previewAccounts } from "./preview-account.ts";
import type { EventSpan } from "./preview-range.ts";
import type { Tried } from "./preview-tried.ts";
import type { SeenIds } from "./seen-ids.ts";

/** The usage of a lane: what every lane counts, and what this one counts beside it. */
export type LaneUsage = Pick<Usage, "between" | "cellsOf">;

/** What became of a run in one of its lanes. */
export interface LaneResult {
  /** What its events are decided by: the book, with the draft among its plans. */
  readonly catalog: Catalog;
  /** The plans of its accounts. */
  readonly tried: Tried;
  readonly accounts: PreviewAccounts;
  readonly usage: LaneUsage;
  /** How many events had each status so far. */
  readonly counts: () => Readonly<Record<IngestStatus, number>>;
  /** The first and the last event or day of usage that were taken so far; of one instant, what came first. */
  readonly span: () => EventSpan | undefined;
}

/** A lane while events come. */
export interface Lane extends LaneResult {
  /** Ids that this lane holds and others do not, or not as long. */
  ids: SeenIds | undefined;
  /** The account and the decision of the event that is decided, what comes of it, and until when its id is held. */
  account: PreviewAccount | undefined;
  decision: EventDecision;
  takes: boolean;
  outcome: IngestOutcome;
  holdsUntil: Instant;
  /** What the lane has counted and others have not. */
  readonly tally: OutcomeTally;
  /** Adds what an event counts in this lane alone. @param program the index of its program */
  readonly addAlone: (program: number, account: number, day: Day, units: readonly (Exact | undefined)[]) => void;
}

/** What the lanes of a run share. */
interface Shared {
  readonly catalog: Catalog;
  readonly book: Book;
  readonly usage: Usage;
  /** What was counted for all lanes at once. */
  readonly all: OutcomeTally;
  /** The indices of meters that events of a program count in, by its index. */
  readonly together: readonly (readonly number[])[];
}

/** Opens a lane. */
export function openLane({ catalog, book, usage: shared, all, together }: Shared, tried: Tried): Lane {
  const alone = ownUsage(shared, together);
  const usage: LaneUsage = {
    between: (accountId, meterId, from, until) => {
      const all = shared.between(accountId, meterId, from, until);
      return alone.tally === undefined ? all : add(all, alone.tally.between(accountId, meterId, from, until));
    },
    cellsOf: (accountId) =>
      alone.tally === undefined ? shared.cellsOf(accountId) : mergedCells([shared, alone.tally], accountId),
  };
  const planned = tried.plan === undefined ? catalog : withPlan(catalog, tried.plan);
  const own = openTally();
  return {
    catalog: planned,
    tried,
    accounts: previewAccounts(planned, book, tried, usage),
    usage,
    ids: undefined,
    account: undefined,
    decision: UNDECIDED,
    takes: false,
    outcome: METERED,
    holdsUntil: 0,
    tally: own,
    counts: () => sumOfCounts(all.counts(), own.counts()),
    span: () => spanOfBoth(all.span(), own.span()),
    addAlone: alone.add,
  };
}

/** Before the first event. */
const UNDECIDED: EventDecision = { outcome: METERED, isAccepted: false, units: [], take: undefined };

/** Usage of one lane alone: most have none. */
function ownUsage(
  { accountIds, meterIds }: Usage,
  together: Shared["together"],
): { readonly tally: UsageTally | undefined; readonly add: Lane["addAlone"] } {
  let tally: UsageTally | undefined;
  let adders: readonly AddAll[] = [];
  return {
    get tally() {
      return tally;
    },
    add(program, account, day, units) {
      if (tally === undefined) {
        const made = createUsageTally(accountIds, meterIds, together);
        tally = made;
        adders = together.map((meters) => made.adder(meters));
      }
      adders[program]?.(account, day, units);
    },
  };
}

/** The cells of an account in several tallies, those of one meter and day added up. */
function mergedCells(tallies: readonly Pick<Usage, "cellsOf">[], accountId: string): Iterable<UsageCell> {
  const cells = new Map<string, UsageCell>();
  for (const tally of tallies) {
    for (const cell of tally.cellsOf(accountId)) {
      const key = `${cell.day} ${cell.meterId}`;
      const known: Decimal | undefined = cells.get(key)?.quantity;
      cells.set(key, known === undefined ? cell : { ...cell, quantity: add(known, cell.quantity) });
    }
  }
  return cells.values();
}

/** Until when an accepted event holds its id: for a time after its ingest, and while its cycle is open (S14.1). */
export function heldUntil({ catalog, account }: Lane, { timestamp }: Pick<EventEnvelope, "timestamp">): Instant {
  const openUntil = account?.seen.periodAt(timestamp).openUntil ?? -Infinity;
  return Math.max(timestamp + catalog.options.idMemoryMs, openUntil);
}
