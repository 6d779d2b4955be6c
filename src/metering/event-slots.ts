/**
 * One event, laid out in slots: what its schema declares first, the enriched fields after.
 *
 * One set of buffers serves all events of a schema, one after another; a rule reads a slot by its index, so that no name
 * is looked up while events pass.
 *
 * @module
 */
import type { EventSchema } from "../book/model/metering.ts";
import type { Instant } from "../calendar/instant.ts";
import { formatInstant } from "../calendar/instant.ts";
import type { Exact } from "../numbers/exact.ts";
import type { Problem } from "../problem-table.ts";
import type { ValueSlot } from "../rules/node.ts";
import type { RuleObject, RuleValue } from "../rules/value.ts";
import { restOfPathReader } from "../rules/variables.ts";

/** The settings that a schema depends on, as one account has them (S4.2). */
export interface AccountDependencies {
  /** Their values by name. */
  readonly byName: RuleObject;
  /** The rules that JSON_LOGIC_FROM_DEPENDENCY fields take from settings, by the order of the enrichment's steps. */
  readonly rules: readonly (((facts: RuleObject) => RuleValue) | undefined)[];
  /** A setting is missing or does not hold what is needed: every event of the account fails. */
  readonly fault?: Problem;
}

/** The event that is being metered: filled by the reader of events, and filled again with the next event. */
export interface EventSlots {
  readonly schemaName: string;
  id: string;
  /** As the event names it: an id or an alias. */
  accountId: string;
  timestamp: Instant;
  /** Declared attributes by their slot, then the enriched ones. */
  readonly values: Exact[];
  /** Declared dimensions by their slot, then the enriched ones. */
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
  };
}

/** The enrichment fields of a schema in ascending order (S4.3). */
export function fieldsInOrder(schema: EventSchema): NonNullable<EventSchema["enrichments"]>["fields"] {
  return schema.enrichments.fields.toSorted((a, b) => a.order - b.order);
}

/** How many slots a rule may read: a field sees the event and all fields before it (S4.3), a meter sees all. */
export interface VisibleSlots {
  readonly attributes: number;
  readonly dimensions: number;
}

/**
 * The slots as plain facts, for the rules that name a variable only when they run. Each read sees the current event.
 */
export function createFacts(slots: EventSlots, visible: VisibleSlots): RuleObject {
  const attributes = (): RuleObject => bindNames(slots.attributeSlots, slots.values, visible.attributes);
  const dimensions = (): RuleObject => bindNames(slots.dimensionSlots, slots.texts, visible.dimensions);
  const facts = Object.create(null) as RuleObject;
  const reading = (get: () => unknown): PropertyDescriptor => ({ get, enumerable: true });
  return Object.defineProperties(facts, {
    attribute: reading(attributes),
    attributes: reading(attributes),
    dimension: reading(dimensions),
    dimensions: reading(dimensions),
    dependencies: reading(() => slots.dependencies.byName),
    event: reading(() => ({
      id: slots.id,
      timestamp: formatInstant(slots.timestamp),
      accountId: slots.accountId,
      schemaName: slots.schemaName,
    })),
  });
}

/** Makes what reads a variable by its path; undefined for a path that only the plain facts can answer (S3.3). */
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

/** Finds the slot of a variable by its path; undefined where it is no attribute or dimension that the rule may read. */
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

/** The slot of the attribute that a rule is, when it is nothing but a variable of that name: it is never missing. */
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

/** The first of two equal names has the slot. */
function indexNames(names: readonly string[]): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  for (const name of names) if (!slots.has(name)) slots.set(name, slots.size);
  return slots;
}

function bindNames(slots: ReadonlyMap<string, number>, values: readonly unknown[], visible: number): RuleObject {
  return Object.fromEntries([...slots].slice(0, visible).map(([name, slot]) => [name, values[slot]]));
}
