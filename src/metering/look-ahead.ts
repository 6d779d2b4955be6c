/**
 * Looking at events before they are read.
 *
 * A long list of events is far larger than a processor's caches, and each event is a dozen objects here and there in
 * memory. Reading and metering one takes so many steps that the processor waits for each of those objects in turn. A
 * short loop that merely looks at the objects of some events lets it fetch them all at once; metering then finds them
 * near. Nothing is decided here, so anything may be in the list.
 *
 * @module
 */

import { EVENT_ID_LENGTH_MAX } from "./read-event.ts";

/** How many events are worth looking at before they are metered: few enough that they stay near. */
export const LOOK_AHEAD = 32;

/** Attributes of an event that are looked at. */
const ATTRIBUTES_MAX = 8;

/**
 * Looks at the parts of the events `[from, until)` of a list.
 *
 * @returns how many numbers and characters were seen; it means nothing, but an engine leaves out what has no result
 */
export function lookAtEvents(events: readonly unknown[], from: number, until: number): number {
  let seen = 0;
  for (let index = from; index < until; index++) {
    const event = events[index];
    if (typeof event === "object" && event !== null) seen += lookAtEvent(event);
  }
  return seen;
}

/** The ids of the events `[from, until)` of a list; of those that have none, none. */
export function idsAmong(events: readonly unknown[], from: number, until: number): readonly string[] {
  const ids: string[] = [];
  for (let index = from; index < until; index++) {
    const event = events[index];
    if (typeof event !== "object" || event === null) continue;
    const { id } = event as Readonly<Record<string, unknown>>;
    if (typeof id === "string" && id.length <= EVENT_ID_LENGTH_MAX) ids.push(id);
  }
  return ids;
}

function lookAtEvent(event: object): number {
  const { id, accountId, timestamp, attributes, dimensions } = event as Readonly<Record<string, unknown>>;
  let seen = lengthOf(id) + lengthOf(accountId) + lengthOf(timestamp);
  if (typeof dimensions === "object" && dimensions !== null && "" in dimensions) seen++;
  if (!Array.isArray(attributes)) return seen;
  for (let index = 0; index < attributes.length && index < ATTRIBUTES_MAX; index++) {
    const attribute: unknown = attributes[index];
    if (typeof attribute !== "object" || attribute === null) continue;
    const { value } = attribute as Readonly<Record<string, unknown>>;
    if (typeof value === "number" && value > 0) seen++;
  }
  return seen;
}

function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}
