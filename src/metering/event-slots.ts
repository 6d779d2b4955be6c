/**
 * One event in slots: declared fields first, then enriched ones. One set of buffers serves all events of a schema, one
 * after another; a rule reads a slot by index, without looking up names.
 */
import type { EventSchema } from "../book/resources/event-schema.ts";
import { type Instant, formatInstant } from "../calendar/instant.ts";
import type { Exact } from "../numbers/exact.ts";
import type { Problem } from "../problem-table.ts";
import type { EventSteps } from "../rules/budget.ts";
import type { ValueSlot, RuleObject, RuleValue } from "../rules/value.ts";
import { restOfPathReader } from "../rules/variables.ts";

/** One account's settings that a schema depends on (S4.2). */
export interface AccountDependencies {
  /** Their values by name. */
  readonly byName: RuleObject;
  /** The rules of JSON_LOGIC_FROM_DEPENDENCY fields from settings, by the order of the enrichment's steps. */
  readonly rules: readonly (((facts: RuleObject) => RuleValue) | undefined)[];
  /** A setting is missing or invalid: every event of the account fails. */
  readonly fault?: Problem;
}

/** The event being metered; overwritten by the next one. */
export interface EventSlots extends EventSteps {
  readonly schemaName: string;
  id: string;
  /** As sent: an id or an alias. */
  accountId: string;
  timestamp: Instant;
  /** Declared attributes by slot, then the enriched ones. */
  readonly values: Exact[];
  /** Declared dimensions by slot, then the enriched ones. */
  readonly texts: string[];
  readonly declaredAttributes: number;
  readonly declaredDimensions: number;
  /** The slot of every attribute by name, declared ones first. */
  readonly attributeSlots: ReadonlyMap<string, number>;
  /** The slot of every dimension by name, declared ones first. */
  readonly dimensionSlots: ReadonlyMap<string, number>;
  dependencies: AccountDependencies;
}

const NO_DEPENDENCIES: AccountDependencies = { byName: {}, rules: [] };

/** Empty slots for the events of one schema. */
export function createSlots(schema: EventSchema): EventSlots {
  const fields = fieldsInOrder(schema);
  const enrichedNames = (type: "ATTRIBUTE" | "DIMENSION"): string[] =>
    fields.filter((field) => field.type === type).map((field) => field.name);
  const declaredAttributes = schema.attributes.map(({ name }) => name);
  const declaredDimensions = schema.dimensions.map(({ name }) => name);
  const attributeSlots = indexNames([...declaredAttributes, ...enrichedNames("ATTRIBUTE")]);
  const dimensionSlots = indexNames([...declaredDimensions, ...enrichedNames("DIMENSION")]);
  return {
    schemaName: schema.name,
    id: "",
    accountId: "",
    timestamp: 0,
    values: Array.from({ length: attributeSlots.size }, () => 0),
    texts: Array.from({ length: dimensionSlots.size }, () => ""),
    declaredAttributes: declaredAttributes.length,
    declaredDimensions: declaredDimensions.length,
    attributeSlots,
    dimensionSlots,
    dependencies: NO_DEPENDENCIES,
    remainingSteps: 0,
  };
}

/** The enrichment fields of a schema in ascending order (S4.3). */
export function fieldsInOrder(schema: EventSchema): NonNullable<EventSchema["enrichments"]>["fields"] {
  return schema.enrichments.fields.toSorted((a, b) => a.order - b.order);
}

/** The number of slots that a rule may read: a field reads the event and earlier fields (S4.3), a meter reads all. */
export interface VisibleSlots {
  readonly attributes: number;
  readonly dimensions: number;
}

/** The slots as a plain object, for rules that compute variable names. Each read returns values of the current event. */
export function createFacts(slots: EventSlots, visible: VisibleSlots): RuleObject {
  const attributes = (): RuleObject => bindNames(slots.attributeSlots, slots.values, visible.attributes);
  const dimensions = (): RuleObject => bindNames(slots.dimensionSlots, slots.texts, visible.dimensions);
  const facts = Object.create(null) as RuleObject;
  const getter = (get: () => unknown): PropertyDescriptor => ({ get, enumerable: true });
  return Object.defineProperties(facts, {
    attribute: getter(attributes),
    attributes: getter(attributes),
    dimension: getter(dimensions),
    dimensions: getter(dimensions),
    dependencies: getter(() => slots.dependencies.byName),
    event: getter(() => ({
      id: slots.id,
      timestamp: formatInstant(slots.timestamp),
      accountId: slots.accountId,
      schemaName: slots.schemaName,
    })),
  });
}

/** Creates a reader for a variable path; undefined for a path that needs the plain object (S3.3). */
export function createVariableReader(slots: EventSlots, visible: VisibleSlots) {
  return (path: string): (() => RuleValue) | undefined => {
    const dot = path.indexOf(".");
    const name = path.slice(dot + 1);
    switch (path.slice(0, Math.max(dot, 0))) {
      case "attribute":
      case "attributes": {
        const slot = slots.attributeSlots.get(name) ?? Infinity;
        const { values } = slots;
        return slot < visible.attributes ? () => values[slot] : undefined;
      }
      case "dimension":
      case "dimensions": {
        const slot = slots.dimensionSlots.get(name) ?? Infinity;
        const { texts } = slots;
        return slot < visible.dimensions ? () => texts[slot] : undefined;
      }
      case "dependencies": {
        const read = restOfPathReader(name);
        return () => read(slots.dependencies.byName);
      }
      case "event":
        return eventReader(slots, name);
      default:
        return undefined;
    }
  };
}

/** Finds the slot of a variable path; undefined if it is not an attribute or dimension that the rule may read. */
export function createSlotFinder(slots: EventSlots, visible: VisibleSlots): (path: string) => ValueSlot | undefined {
  return (path) => {
    const name = path.slice(path.indexOf(".") + 1);
    if (/^attributes?\./.test(path)) return slotIn(slots.values, slots.attributeSlots.get(name), visible.attributes);
    if (/^dimensions?\./.test(path)) return slotIn(slots.texts, slots.dimensionSlots.get(name), visible.dimensions);
    return undefined;
  };
}

function slotIn(values: readonly RuleValue[], index: number | undefined, visible: number): ValueSlot | undefined {
  return index !== undefined && index < visible ? { values, index } : undefined;
}

/** The slot of the attribute if a rule is just that variable, which is never missing. */
export function findAttributeSlot(rule: unknown, slots: EventSlots, visible: VisibleSlots): number | undefined {
  if (typeof rule !== "object" || rule === null || !Object.hasOwn(rule, "var")) return undefined;
  const { var: path } = rule as { readonly var: unknown };
  if (typeof path !== "string" || !/^attributes?\./.test(path)) return undefined;
  const slot = slots.attributeSlots.get(path.slice(path.indexOf(".") + 1));
  return slot !== undefined && slot < visible.attributes ? slot : undefined;
}

function eventReader(slots: EventSlots, name: string): (() => RuleValue) | undefined {
  switch (name) {
    case "id":
      return () => slots.id;
    case "timestamp":
      return () => formatInstant(slots.timestamp);
    case "accountId":
      return () => slots.accountId;
    case "schemaName":
      return () => slots.schemaName;
    default:
      return undefined;
  }
}

/** The first of equal names has the slot. */
function indexNames(names: readonly string[]): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  for (const name of names) if (!slots.has(name)) slots.set(name, slots.size);
  return slots;
}

function bindNames(slots: ReadonlyMap<string, number>, values: readonly unknown[], visible: number): RuleObject {
  return Object.fromEntries([...slots].slice(0, visible).map(([name, slot]) => [name, values[slot]]));
}
