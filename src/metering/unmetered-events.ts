/** Events that no meter counts, and the values that explain why. */
import type { UsageMeter, EventSchema } from "../book/resources/event-schema.ts";
import { isDecimalObject } from "../numbers/decimal.ts";
import type { EventSlots } from "./event-slots.ts";

/** The values of an event that no meter's matcher accepts, by dimension; empty if the matchers read no dimensions. */
export type UnmatchedValues = readonly (readonly [dimension: string, value: string])[];

/** The values of a dimension that matchers name. */
interface NamedValues {
  readonly accepted: Set<string>;
  readonly excluded: Set<string>;
}

/**
 * Creates the function that explains the event in the slots, which no meter matches. The explanation is the values that
 * matchers exclude, and those that they do not name although they name others of the dimension. Without such values,
 * it is the combination: the value of each dimension that the meters read.
 */
export function createUnmatchedFinder(slots: EventSlots, meters: readonly UsageMeter[]): () => UnmatchedValues {
  let dimensions: readonly (readonly [dimension: string, slot: number, NamedValues])[] | undefined;
  return () => {
    dimensions ??= [...findNamedValues(meters)].flatMap(([dimension, values]) => {
      const slot = slots.dimensionSlots.get(dimension);
      return slot === undefined ? [] : [[dimension, slot, values] as const];
    });
    const unmatched = dimensions.filter(([, slot, { accepted, excluded }]) => {
      const text = slots.texts[slot] ?? "";
      return excluded.has(text) || (accepted.size > 0 && !accepted.has(text));
    });
    return (unmatched.length > 0 ? unmatched : dimensions).map(([dimension, slot]) => [
      dimension,
      slots.texts[slot] ?? "",
    ]);
  };
}

/** The dimensions whose values explain that no meter matches an event; empty if every event matches one. */
export function listExplainingDimensions(meters: readonly UsageMeter[]): readonly string[] {
  const matchesAll = meters.some(({ computations }) => computations.some(({ matcher }) => matcher === undefined));
  return matchesAll ? [] : [...findNamedValues(meters).keys()];
}

/** The dimensions that matchers and groups read, with the values that matchers name. */
function findNamedValues(meters: readonly UsageMeter[]): ReadonlyMap<string, NamedValues> {
  const dimensions = new Map<string, NamedValues>();
  const valuesOf = (dimension: string): NamedValues => {
    const values = dimensions.get(dimension) ?? { accepted: new Set<string>(), excluded: new Set<string>() };
    dimensions.set(dimension, values);
    return values;
  };
  const visit = (rule: unknown, isNegated: boolean): void => {
    if (typeof rule !== "object" || rule === null || isDecimalObject(rule)) return;
    if (Array.isArray(rule)) {
      for (const part of rule) visit(part, isNegated);
      return;
    }
    for (const [operator, operands] of Object.entries(rule)) {
      const dimension = operator === "var" ? readDimension(operands) : undefined;
      if (dimension !== undefined) valuesOf(dimension);
      const comparison = readComparison(operator, operands);
      if (comparison !== undefined) {
        const isExclusion = isNegated !== operator.startsWith("!");
        const values = valuesOf(comparison.dimension)[isExclusion ? "excluded" : "accepted"];
        for (const text of comparison.texts) values.add(text);
      }
      visit(operands, operator === "!" ? !isNegated : isNegated);
    }
  };
  for (const { computations } of meters) for (const { matcher } of computations) visit(matcher, false);
  for (const dimension of meters.flatMap(({ groupBy = [] }) => groupBy)) valuesOf(dimension);
  return dimensions;
}

/** A comparison of a dimension with texts; undefined for other rules. */
function readComparison(
  operator: string,
  operands: unknown,
): { readonly dimension: string; readonly texts: readonly string[] } | undefined {
  if (!/^(?:[!=]==?|in)$/.test(operator) || !Array.isArray(operands)) return undefined;
  const [first, second] = operands as readonly unknown[];
  const [variable, constant] = typeof first === "string" && operator !== "in" ? [second, first] : [first, second];
  const dimension = readDimension((variable as { readonly var?: unknown } | null)?.var);
  const texts = typeof constant === "string" && operator !== "in" ? [constant] : constant;
  if (dimension === undefined || !Array.isArray(texts)) return undefined;
  return texts.every((text) => typeof text === "string") ? { dimension, texts } : undefined;
}

/** The dimension that a variable reads; undefined for other variables. */
function readDimension(operand: unknown): string | undefined {
  const path: unknown = Array.isArray(operand) ? operand[0] : operand;
  return typeof path === "string" ? /^dimensions?\.(.+)$/s.exec(path)?.[1] : undefined;
}

/** Accepted events of a schema that no meter counts and that consumed no feature credits, each in one item. */
export interface UnmeteredEvents {
  readonly schemaName: string;
  /**
   * The values that no meter matches, by dimension: those that the meters' rules exclude or do not name, else the
   * combination of values that they read. Empty if they read no dimensions. Absent for the events with other values,
   * after the first thousand of a schema.
   */
  readonly values?: Readonly<Record<string, string>>;
  readonly events: number;
  /** The number of their accounts; absent if there are too many to count. */
  readonly accounts?: number;
}

/** Collects unmetered events. Its memory is bounded. */
export interface UnmeteredTally {
  /** @param values undefined if they are not known @param events the number of events with these values */
  add(
    program: { readonly schema: EventSchema },
    account: number,
    values: UnmatchedValues | undefined,
    events?: number,
  ): void;
  /** The items so far, the most events first. */
  readonly list: () => readonly UnmeteredEvents[];
}

/** Maximum number of items with values of a schema. */
const ITEMS_MAX = 1000;
/** Maximum number of accounts of all items together. */
const ACCOUNTS_MAX = 200_000;

interface Item {
  readonly schemaName: string;
  readonly values: UnmatchedValues | undefined;
  events: number;
  /** Undefined if there are too many. */
  accounts: Set<number> | undefined;
}

export function createUnmeteredTally(): UnmeteredTally {
  const bySchema = new Map<string, Map<string, Item>>();
  let accountCount = 0;
  const addAccount = (item: Item, account: number): void => {
    if (item.accounts === undefined || item.accounts.has(account)) return;
    if (accountCount < ACCOUNTS_MAX) {
      item.accounts.add(account);
      accountCount += 1;
    } else item.accounts = undefined;
  };
  return {
    add({ schema }, account, values, events = 1) {
      if (schema.allowUnmetered === true) return;
      const items = bySchema.get(schema.name) ?? new Map<string, Item>();
      bySchema.set(schema.name, items);
      const key = JSON.stringify(values ?? null);
      const item = items.get(key) ?? createItem(items, schema.name, values);
      item.events += events;
      addAccount(item, account);
    },
    list: () =>
      [...bySchema.values()]
        .flatMap((items) => [...items.values()])
        .sort((a, b) => Number(a.values === undefined) - Number(b.values === undefined) || b.events - a.events)
        .map(toUnmeteredEvents),
  };
}

/** A new item, or that of other values if there are too many. */
function createItem(items: Map<string, Item>, schemaName: string, values: UnmatchedValues | undefined): Item {
  const itemValues = items.size < ITEMS_MAX ? values : undefined;
  const key = JSON.stringify(itemValues ?? null);
  const item = items.get(key) ?? { schemaName, values: itemValues, events: 0, accounts: new Set() };
  items.set(key, item);
  return item;
}

function toUnmeteredEvents({ schemaName, values, events, accounts }: Item): UnmeteredEvents {
  return {
    schemaName,
    ...(values && { values: Object.fromEntries(values) }),
    events,
    ...(accounts && { accounts: accounts.size }),
  };
}
