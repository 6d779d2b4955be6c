/** Handwritten metering with json-logic-js for rules and decimal.js for sums. */
import { Decimal } from "decimal.js";
import jsonLogic, { type RulesLogic } from "json-logic-js";

import type { GeneratedEvent } from "./scenario.ts";
import { METERS, WEIGHTED } from "./scenario.ts";

/**
 * Meters events.
 *
 * @param ignoresDuplicates whether duplicate ids are ignored
 * @returns the sums by `account meter day`
 */
export function meterWithHandwrittenCode(
  events: Iterable<GeneratedEvent>,
  ignoresDuplicates: boolean,
): Map<string, Decimal> {
  const seenIds = new Set<string>();
  const cells = new Map<string, Decimal>();
  for (const event of events) {
    if (ignoresDuplicates) {
      if (seenIds.has(event.id)) continue;
      seenIds.add(event.id);
    }
    const attribute: Record<string, number> = {};
    for (const { name, value } of event.attributes) attribute[name] = value;
    const facts = { attribute, dimension: event.dimensions };
    attribute["weighted"] = Number(jsonLogic.apply(WEIGHTED, facts));
    const day = event.timestamp.slice(0, 10);
    for (const { id, matcher, computation } of METERS) {
      if (!jsonLogic.truthy(jsonLogic.apply(matcher as RulesLogic, facts))) continue;
      const units = Number(jsonLogic.apply(computation, facts));
      const key = `${event.accountId} ${id} ${day}`;
      cells.set(key, (cells.get(key) ?? new Decimal(0)).plus(units));
    }
  }
  return cells;
}
