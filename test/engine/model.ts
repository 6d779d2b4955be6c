/**
 * A model of what events come to: it keeps what was done, and recomputes everything from scratch with whole numbers.
 * It uses nothing of the project.
 */

/** An event as the model keeps it. */
export interface ModelEvent {
  readonly id: string;
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

/** Whether an id is held: its event was accepted and not reverted. */
export function isHeld(model: Model, id: string): boolean {
  return liveEvents(model).some((event) => event.id === id);
}

/** What an account counts in `[from, until)`. */
export function countOf(model: Model, accountId: string, from = -Infinity, until = Infinity): number {
  return liveEvents(model)
    .filter((event) => event.accountId === accountId && event.at >= from && event.at < until)
    .reduce((total, { count }) => total + count, 0);
}

/** Notes that the live event of an id was reverted. */
export function revertIn(model: Model, id: string): void {
  const place = model.accepted.findIndex((event, at) => event.id === id && !model.reverted.has(at));
  if (place < 0) throw new Error(`no live event has the id ${id}`);
  model.reverted.add(place);
}
