/** Zones with names, such as `Europe/Berlin`, whose offsets from UTC change: instants of local times. */
import { tzName } from "@date-fns/tz/tzName";
import { tzOffset } from "@date-fns/tz/tzOffset";

import { DAY_MS, type Instant } from "./instant.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** The maximum number of hours of a zone whose offsets are remembered, to bound memory. */
const HOURS_MAX = 100_000;

/** Whether the runtime knows a zone of this name (IANA). Case is ignored; offsets such as `+05:30` are no names. */
export function isZoneName(text: string): boolean {
  try {
    return /^[a-z]/i.test(text) && new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Creates a function from local times of a zone, in milliseconds since 1970 as if they were UTC, to instants. Of a time
 * that exists twice it returns the first instant, for a time that clocks skip undefined (S2.2).
 *
 * @param zone a name that {@link isZoneName} accepts
 */
export function createLocalTimeReader(zone: string): (localTime: Instant) => Instant | undefined {
  const offsetAt = createOffsetReader(zone);
  return (localTime) => {
    // An offset is less than a day, and no zone has changed its offset twice within two days.
    const before = offsetAt(localTime - DAY_MS);
    const after = offsetAt(localTime + DAY_MS);
    if (before === after) return localTime - before;
    return [Math.max(before, after), Math.min(before, after)]
      .map((offset) => localTime - offset)
      .find((instant) => instant + offsetAt(instant) === localTime);
  };
}

/** Creates a function that returns a zone's offset at an instant, in milliseconds. It remembers those of whole hours. */
function createOffsetReader(zone: string): (instant: Instant) => number {
  const offsets = new Map<number, number>();
  return (instant) => {
    const hour = Math.floor(instant / HOUR_MS);
    const known = offsets.get(hour);
    if (known !== undefined) return known;
    const offset = computeOffset(zone, hour * HOUR_MS);
    if (offset !== computeOffset(zone, (hour + 1) * HOUR_MS - 1)) return computeOffset(zone, instant);
    if (offsets.size === HOURS_MAX) offsets.clear();
    offsets.set(hour, offset);
    return offset;
  };
}

function computeOffset(zone: string, instant: Instant): number {
  const date = new Date(instant);
  const offset = Math.round(tzOffset(zone, date) * MINUTE_MS);
  // tzOffset (1.5) returns offsets between an hour west and UTC, such as that of Monrovia in 1970, without their sign.
  const isWest = offset > 0 && offset < HOUR_MS && tzName(zone, date, "short").includes("-");
  return isWest ? -offset : offset;
}
