/**
 * A model of what events come to: it keeps what was done, and recomputes everything from scratch with whole numbers.
 * It uses nothing of the project.
 */

/** An event as the model keeps it. */
export interface ModelEvent {
  readonly id: string;
  /** The id that its ingest answered. */
  readonly referenceId: string;
  readonly ingestedAt: number;
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it counts, and what it takes of the feature. */
  readonly count: number;
}

/** What was done, in order. */
export interface Model {
  readonly accepted: ModelEvent[];
  /** By place in `accepted`. */
  readonly reverted: Set<number>;
}

/** Nothing was done. */
export function emptyModel(): Model {
  return { accepted: [], reverted: new Set() };
}

/** The events that count. */
export function liveEvents({ accepted, reverted }: Model): readonly ModelEvent[] {
  return accepted.filter((_, place) => !reverted.has(place));
}

/** Ids are remembered for 45 days; no cycle of the model's accounts is open for longer after an ingest. */
const MEMORY = 45 * 86_400_000;

/** Whether an id is held: its event was accepted not long ago, and not reverted. */
export function isHeld(model: Model, id: string, now: number): boolean {
  return liveEvents(model).some((event) => event.id === id && now < event.ingestedAt + MEMORY);
}

/** What an account counts in `[from, until)`. */
export function countOf(model: Model, accountId: string, from = -Infinity, until = Infinity): number {
  return liveEvents(model)
    .filter((event) => event.accountId === accountId && event.at >= from && event.at < until)
    .reduce((total, { count }) => total + count, 0);
}

/** Notes that a live event was reverted. */
export function revertIn(model: Model, referenceId: string): void {
  const place = model.accepted.findIndex((event, at) => event.referenceId === referenceId && !model.reverted.has(at));
  if (place < 0) throw new Error(`no live event has the referenceId ${referenceId}`);
  model.reverted.add(place);
}
