/**
 * Prefetches events into the processor's cache. A long list of events exceeds the caches, and each event is a dozen
 * scattered objects. Metering one takes so many steps that the processor waits for each object in turn. A short loop
 * that merely reads the objects of some events lets it fetch them in parallel, so that metering finds them in the
 * cache. The list may contain anything.
 *
 * @module
 */

/** Events prefetched at once: few enough to stay in the cache. */
const LOOK_AHEAD = 32;

/** Maximum number of attributes prefetched per event. */
const ATTRIBUTES_MAX = 8;

/**
 * Calls a function with each event of a list, in order, reading objects of some events in advance: a preview of a
 * million events in memory takes 20 % less time.
 *
 * @returns a meaningless number, without which engines would eliminate the reads
 */
export function forEachPrefetched(events: readonly unknown[], visit: (event: unknown) => void): number {
  let checksum = 0;
  for (let from = 0; from < events.length; from += LOOK_AHEAD) {
    const until = Math.min(from + LOOK_AHEAD, events.length);
    checksum += touchEvents(events, from, until);
    for (let index = from; index < until; index++) visit(events[index]);
  }
  return checksum;
}

/** Reads the parts of the events `[from, until)` of a list. @returns a meaningless number, as {@link forEachPrefetched} */
function touchEvents(events: readonly unknown[], from: number, until: number): number {
  let checksum = 0;
  for (let index = from; index < until; index++) {
    const event = events[index];
    if (typeof event === "object" && event !== null) checksum += touchEvent(event);
  }
  return checksum;
}

function touchEvent(event: object): number {
  const { schemaName, id, accountId, timestamp, attributes, dimensions } = event as Readonly<Record<string, unknown>>;
  let checksum = lengthOf(schemaName) + lengthOf(id) + lengthOf(accountId) + lengthOf(timestamp);
  if (typeof dimensions === "object" && dimensions !== null && "" in dimensions) checksum++;
  if (!Array.isArray(attributes)) return checksum;
  for (let index = 0; index < attributes.length && index < ATTRIBUTES_MAX; index++) {
    const attribute: unknown = attributes[index];
    if (typeof attribute !== "object" || attribute === null) continue;
    const { value } = attribute as Readonly<Record<string, unknown>>;
    if (typeof value === "number" && value > 0) checksum++;
  }
  return checksum;
}

function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}
