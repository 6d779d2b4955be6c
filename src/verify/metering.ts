/**
 * Meters events again, by the rules of a book (S4, S5).
 *
 * @module
 */
import {
  add,
  compare,
  figure,
  fraction,
  type Fraction,
  isFraction,
  type Json,
  list,
  ONE,
  parseJson,
  record,
  rounded,
  text,
  textOf,
  ZERO,
} from "./figures.ts";
import { createRules, decimalIn, exactly, instantIn, ruleOf, type Rules, stringOf } from "./rules.ts";

/** Quantities by account and meter as a JSON list, then by day. */
export type Cells = Map<string, Map<string, Fraction>>;

/** Events metered again. */
export interface Metering {
  /** Meters one event; in order of time. */
  readonly add: (event: unknown) => void;
  readonly cells: Cells;
  /** How many events there were, and of how many it cannot be told here what they count. */
  readonly events: () => { readonly total: number; readonly unverified: number };
  /** Why some cannot be told, each reason once. */
  readonly reasons: ReadonlySet<string>;
  /** Meters whose quantities cannot be told. */
  readonly unverified: ReadonlySet<string>;
}

/** Adds to a cell: several rows of one cell add up (S17.1). */
export function addTo(cells: Cells, accountId: string, meterId: string, date: string, quantity: Fraction): void {
  const key = JSON.stringify([accountId, meterId]);
  const days = cells.get(key) ?? new Map<string, Fraction>();
  cells.set(key, days.set(date, add(days.get(date) ?? ZERO, quantity)));
}

const REMEMBERED_MS = 45 * 86_400_000;

/** A meter or a field, its rules ready. */
interface Step {
  readonly name: string;
  readonly type: string;
  readonly rules: readonly { readonly matcher: unknown; readonly rule: unknown; readonly kind: string }[];
}

/** The events of one schema. */
interface Schema {
  readonly attributes: readonly string[];
  readonly dimensions: readonly string[];
  readonly dependencies: readonly Json[];
  readonly fields: readonly Step[];
  readonly meters: readonly Step[];
  /** The attributes that consume feature credits. */
  readonly consumed: readonly string[];
  /** Why it cannot be told what its events count. */
  readonly reason: string | undefined;
}

/**
 * Meters events by a book, as it was written: parsed JSON, numbers as fractions or as they are.
 *
 * What events count whose rules have operators that are not known here is unverified. So is what those count that consume
 * feature credits, unless no event lacked any: else what was spent before decides.
 *
 * @param creditsSuffice whether no event failed for want of feature credits; where that is wrong, quantities differ
 */
export function createMetering(givenBook: unknown, creditsSuffice = false): Metering {
  const book = record(givenBook);
  const rules = createRules();
  const schemas = schemasOf(book, rules, creditsSuffice);
  const accounts = accountsOf(book);
  const dependencies = new Map<string, Json | undefined>();
  const unverified = new Set<string>();
  const reasons = new Set<string>();
  const cells: Cells = new Map();
  const seen = new Map<string, number>();
  let [total, untold] = [0, 0];
  const giveUp = ({ meters }: Schema, reason: string): void => {
    untold++;
    reasons.add(reason);
    for (const { name } of meters) unverified.add(name);
  };
  for (const { reason, meters } of schemas.values()) {
    if (reason !== undefined) for (const { name } of meters) unverified.add(name);
  }
  return {
    cells,
    reasons,
    unverified,
    events: () => ({ total, unverified: untold }),
    add(given) {
      total++;
      const event = record(given);
      const schema = schemas.get(text(event["schemaName"]));
      const account = accounts.get(text(event["accountId"]));
      const instant = instantOrNone(event["timestamp"]);
      if (schema === undefined || account === undefined || instant === undefined || event["id"] === undefined) return;
      if (schema.reason !== undefined) return giveUp(schema, schema.reason);
      const first = seen.get(text(event["id"]));
      if (first !== undefined) {
        // How long an id is remembered depends on when its cycle closed (S14.1).
        if (instant - first >= REMEMBERED_MS) giveUp(schema, "ids that come again after 45 days");
        return;
      }
      const key = JSON.stringify([event["schemaName"], account["id"]]);
      if (!dependencies.has(key)) dependencies.set(key, dependenciesOf(schema, account, book));
      const facts = factsOf(event, instant, schema, dependencies.get(key));
      const units = facts && unitsOf(facts, schema, rules);
      if (units === undefined) return;
      seen.set(text(event["id"]), instant);
      const date = new Date(instant).toISOString().slice(0, 10);
      for (const [meterId, quantity] of units) addTo(cells, text(account["id"]), meterId, date, quantity);
    },
  };
}

/** What rules see of an event; undefined where it fails. */
function factsOf(event: Json, instant: number, schema: Schema, dependencies: Json | undefined): Json | undefined {
  const given = list(event["attributes"]);
  const attributes = Object.fromEntries(given.map(({ name, value }) => [text(name), fraction(value)]));
  const dimensions = Object.fromEntries(
    Object.entries(record(event["dimensions"])).map(([name, value]) => [
      name,
      typeof value === "string" ? value : fraction(value) && textOf(fraction(value) ?? ZERO),
    ]),
  );
  const fit = Object.values(attributes).every((value) => value !== undefined && fits(value, 20));
  const unique = new Set(given.map(({ name }) => name)).size === given.length;
  const whole =
    schema.attributes.every((name) => Object.hasOwn(attributes, name)) &&
    schema.dimensions.every((name) => Object.hasOwn(dimensions, name) && dimensions[name] !== undefined);
  if (!fit || !unique || !whole || dependencies === undefined) return undefined;
  const declared = (all: Json, names: readonly string[]): Json =>
    Object.fromEntries(names.map((name) => [name, all[name]]));
  const [attribute, dimension] = [declared(attributes, schema.attributes), declared(dimensions, schema.dimensions)];
  const { id, accountId, schemaName } = event;
  const timestamp = new Date(instant).toISOString();
  const named = { attribute, attributes: attribute, dimension, dimensions: dimension };
  return { ...named, dependencies, event: { id, accountId, schemaName, timestamp } };
}

/** What each meter counts of an event, after its enrichment; undefined where the event fails (S4.3, S5.2). */
function unitsOf(facts: Json, schema: Schema, rules: Rules): ReadonlyMap<string, Fraction> | undefined {
  try {
    for (const field of schema.fields) enrich(facts, field, rules);
    for (const name of schema.consumed) {
      if (name === "") continue;
      const quantity = decimalIn(record(facts["attribute"])[name]);
      if (quantity.over < 0n || !fits(quantity, 40)) throw new Error(`${name} is no quantity to consume`);
    }
    return new Map(
      schema.meters.flatMap((meter): [string, Fraction][] => {
        const units = measure(facts, meter, rules);
        return units === undefined ? [] : [[meter.name, units]];
      }),
    );
  } catch {
    // Whatever a rule throws fails that event alone (S3.8).
    return undefined;
  }
}

/** Adds a computed field to what later rules see. @throws {Error} where it does not come out as its type */
function enrich(facts: Json, { name, type, rules: computed }: Step, rules: Rules): void {
  const [{ kind, rule } = { kind: "VALUE", rule: undefined }] = computed;
  const given = kind === "JSON_LOGIC_FROM_DEPENDENCY" ? record(facts["dependencies"])[text(rule)] : rule;
  const asked = kind === "JSON_LOGIC_FROM_DEPENDENCY" ? ruleOf(given, parseJson) : given;
  const value = kind === "VALUE" ? asked : rules.evaluate(asked, facts);
  if (type === "ATTRIBUTE") {
    (facts["attribute"] as Record<string, unknown>)[name] = decimalIn(value);
  } else if (typeof value === "string" || isFraction(value)) {
    (facts["dimension"] as Record<string, unknown>)[name] = stringOf(value);
  } else throw new Error(`${name} is no text`);
}

/** What a meter counts of an event; undefined where none of its matchers is met. */
function measure(facts: Json, { name, type, rules: computations }: Step, rules: Rules): Fraction | undefined {
  const matching = computations.filter(
    ({ matcher }) => matcher === undefined || rules.evaluate({ "!!": [matcher] }, facts) === true,
  );
  if (matching.length === 0) return undefined;
  const results = type === "COUNT" ? [ONE] : matching.map(({ rule }) => decimalIn(rules.evaluate(rule, facts)));
  const total = results.reduce(add, ZERO);
  if (!fits(total, 40)) throw new Error(`${name} counts too many digits`);
  return total;
}

/** So many digits at most before and after the point (S1.3, S1.6). */
function fits({ over, under }: Fraction, digits: number): boolean {
  const size = 10n ** BigInt(digits);
  return (
    (over < 0n ? -over : over) < size * under && rounded({ over, under }, digits, "DOWN").over * under === over * size
  );
}

/** The ACTIVE schemas by name, with their ACTIVE meters. */
function schemasOf(book: Json, rules: Rules, creditsSuffice: boolean): ReadonlyMap<string, Schema> {
  const active = list(book["eventSchemas"]).filter(isActive);
  const names = (of: unknown): readonly string[] => list(of).map((each) => text(each["name"]));
  return new Map(
    active.map((schema) => {
      const { name, attributes, dimensions, enrichments } = schema;
      const fields = list(record(enrichments)["fields"]).toSorted(byOrder).map(fieldStep);
      const meters = list(book["usageMeters"]).filter(
        (meter) => isActive(meter) && [name, schema["id"]].includes(meter["eventSchemaName"]),
      );
      const measured = meters.map(meterStep);
      const all = [...fields, ...measured].flatMap((step) =>
        step.rules.flatMap(({ matcher, rule }) => [matcher, rule]),
      );
      const lacking = all.map(rules.lacks).find((operator) => operator !== undefined);
      const consumed = consumedOf(schema, book);
      const spends =
        consumed.length > 0 && !creditsSuffice ? `events of ${text(name)} consume feature credits` : undefined;
      const reason = lacking === undefined ? spends : `the operator ${lacking} is not known here`;
      const declared = { attributes: names(attributes), dimensions: names(dimensions) };
      const dependencies = list(record(enrichments)["dependencies"]);
      return [text(name), { ...declared, dependencies, fields, meters: measured, consumed, reason }];
    }),
  );
}

function isActive({ status }: Json): boolean {
  return (status ?? "ACTIVE") === "ACTIVE";
}

function fieldStep(field: Json): Step {
  const kind = text(field["enrichmentType"]);
  const rule = kind === "JSON_LOGIC" ? ruleOf(field["value"], parseJson) : exactly(field["value"]);
  return { name: text(field["name"]), type: text(field["type"]), rules: [{ matcher: undefined, rule, kind }] };
}

function meterStep(meter: Json): Step {
  const computations = list(meter["computations"]).toSorted(byOrder);
  return {
    name: text(meter["id"]),
    type: text(meter["aggregation"]),
    rules: computations.map(({ matcher, computation }) => ({
      matcher: (matcher ?? undefined) === undefined ? undefined : ruleOf(matcher, parseJson),
      rule: ruleOf(computation ?? 1, parseJson),
      kind: "",
    })),
  };
}

/** The attributes of a schema that consume feature credits; an empty name consumes 1 for each event (S11.2). */
function consumedOf({ name, attributes, featureDetails }: Json, book: Json): readonly string[] {
  const own = text(record(featureDetails)["attributeName"]);
  const usual = (featureDetails ?? undefined) === undefined ? text(list(attributes)[0]?.["name"]) : own;
  const associations = list(book["features"]).flatMap((feature) => {
    const given = feature["schemaAssociations"] ?? feature["schemaAssocitions"];
    return Array.isArray(given) ? (given as unknown[]) : [];
  });
  const named = associations.flatMap((each) => {
    if (each !== name && record(each)["schemaName"] !== name) return [];
    const asked = record(each)["attributeName"] ?? undefined;
    return [asked === undefined ? usual : text(asked)];
  });
  return (featureDetails ?? undefined) === undefined ? named : [...named, own];
}

/** The settings that a schema depends on, as an account has them (S4.2); undefined where one is missing or unfit. */
function dependenciesOf({ dependencies }: Schema, account: Json, book: Json): Json | undefined {
  const customer = list(book["customers"]).find(({ id, name }) => [id, name].includes(account["customerId"])) ?? {};
  const owners: readonly ((setting: Json) => boolean)[] = [
    ({ entityType, entityId }) => entityType === "ACCOUNT" && [account["id"], account["name"]].includes(entityId),
    ({ entityType, entityId }) =>
      entityType === "CUSTOMER" && [customer["id"], customer["name"], account["customerId"]].includes(entityId),
    ({ entityType }) => (entityType ?? "ORGANIZATION") === "ORGANIZATION",
  ];
  const found = dependencies.map(({ name, key }) => {
    const isMeant = ({ id, namespace }: Json): boolean =>
      id === key || `setting.${text(namespace)}.${text(id)}`.toLowerCase() === text(key).toLowerCase();
    const settings = list(book["settings"]).filter(isMeant);
    const setting = owners.map((owns) => settings.find(owns)).find((each) => each !== undefined);
    try {
      return [text(name), setting && settingValue(setting)] as const;
    } catch {
      return [text(name), undefined] as const;
    }
  });
  return found.every(([, value]) => value !== undefined) ? Object.fromEntries(found) : undefined;
}

function settingValue({ dataType, value }: Json): unknown {
  if (dataType === "NUMERIC") return fraction(value);
  return dataType === "JSON" ? exactly(parseJson(text(value))) : value;
}

/** ACTIVE accounts by id and by alias. */
function accountsOf(book: Json): ReadonlyMap<string, Json> {
  const active = list(book["accounts"]).filter(isActive);
  const aliases = active.flatMap((account) => {
    const given = Array.isArray(account["aliases"]) ? (account["aliases"] as unknown[]) : [];
    return given.map((alias): [string, Json] => [
      text(typeof alias === "string" ? alias : record(alias)["alias"]),
      account,
    ]);
  });
  return new Map([...aliases, ...active.map((account): [string, Json] => [text(account["id"]), account])]);
}

function byOrder(a: Json, b: Json): number {
  return compare(figure(a["order"]), figure(b["order"]));
}

function instantOrNone(timestamp: unknown): number | undefined {
  try {
    return instantIn(timestamp);
  } catch {
    return undefined;
  }
}
