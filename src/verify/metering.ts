/** Meters events independently, by the rules of a book (S4, S5, S19). */
import {
  type Aggregation,
  hasKeys,
  readAggregation,
  readAggregations,
  listKeyedUnits,
  findMeasure,
} from "./aggregation.ts";
import {
  add,
  compare,
  fractionOrZero,
  hasAtMostDigits,
  toFraction,
  isFraction,
  type JsonObject,
  asList,
  parseJson,
  asObject,
  asText,
  formatFraction,
  ONE,
  ZERO,
} from "./figures.ts";
import {
  createRuleEvaluator,
  requireDecimal,
  toExactNumbers,
  readInstant,
  toRule,
  type RuleEvaluator,
  toText,
} from "./rules.ts";
import {
  addToCell,
  createUsedGroups,
  dayKey,
  KEY_NAME,
  type MeteredUnits,
  readGroup,
  type UsageCells,
} from "./usage-cells.ts";

/** The result of metering, which grows with each event. */
export interface Metering {
  /** Meters one event. Events must be in time order. */
  readonly add: (event: unknown) => void;
  readonly cells: UsageCells;
  /** How the meters of the book make quantities of their cells. */
  readonly aggregations: ReadonlyMap<string, Aggregation>;
  /** The number of events, and of those whose quantities can't be verified here. */
  readonly events: () => { readonly total: number; readonly unverified: number };
  /** Why some can't be verified, without duplicates. */
  readonly reasons: ReadonlySet<string>;
  /** Meters whose quantities can't be verified. */
  readonly unverified: ReadonlySet<string>;
}

const ID_RETENTION_MS = 45 * 86_400_000;

/** A meter or a field with its parsed rules. */
interface Step {
  readonly name: string;
  readonly type: string;
  readonly rules: readonly { readonly matcher: unknown; readonly rule: unknown; readonly kind: string }[];
}

interface MeterStep extends Step {
  readonly aggregation: Aggregation;
  /** The dimensions of the groups; undefined without groups. */
  readonly groupBy: readonly string[] | undefined;
}

/** A schema and its meters. */
interface Schema {
  readonly attributes: readonly string[];
  readonly dimensions: readonly string[];
  readonly dependencies: readonly JsonObject[];
  readonly fields: readonly Step[];
  readonly meters: readonly MeterStep[];
  /** The attributes that consume feature credits. */
  readonly consumedAttributes: readonly string[];
  /** Why quantities of its events can't be verified. */
  readonly reason: string | undefined;
}

/**
 * Meters events by a book in input form: parsed JSON, with numbers as fractions or JavaScript numbers.
 *
 * Events whose rules use unknown operators are not verified. Neither are events that consume feature credits, whose
 * result depends on earlier consumption, unless `creditsSuffice`.
 *
 * @param creditsSuffice whether no event failed for lack of feature credits; if this is wrong, quantities differ
 */
export function createMetering(bookValue: unknown, creditsSuffice = false): Metering {
  const book = asObject(bookValue);
  const rules = createRuleEvaluator();
  const schemas = buildSchemas(book, rules, creditsSuffice);
  const accounts = indexAccounts(book);
  const dependencies = new Map<string, JsonObject | undefined>();
  const unverified = new Set<string>();
  const reasons = new Set<string>();
  const cells: UsageCells = new Map();
  const usedGroups = createUsedGroups();
  const acceptedAt = new Map<string, number>();
  let [total, unverifiedEvents] = [0, 0];
  const markUnverified = ({ meters }: Schema, reason: string): void => {
    unverifiedEvents++;
    reasons.add(reason);
    for (const { name } of meters) unverified.add(name);
  };
  for (const { reason, meters } of schemas.values()) {
    if (reason !== undefined) for (const { name } of meters) unverified.add(name);
  }
  return {
    cells,
    aggregations: readAggregations(book),
    reasons,
    unverified,
    events: () => ({ total, unverified: unverifiedEvents }),
    add(eventValue) {
      total++;
      const event = asObject(eventValue);
      const schema = schemas.get(asText(event["schemaName"]));
      const account = accounts.get(asText(event["accountId"]));
      const instant = tryReadInstant(event["timestamp"]);
      if (schema === undefined || account === undefined || instant === undefined || event["id"] === undefined) return;
      if (schema.reason !== undefined) return markUnverified(schema, schema.reason);
      const firstAcceptedAt = acceptedAt.get(asText(event["id"]));
      if (firstAcceptedAt !== undefined) {
        // How long an id is remembered depends on when its cycle closed (S14.1).
        if (instant - firstAcceptedAt >= ID_RETENTION_MS) markUnverified(schema, "ids that are repeated after 45 days");
        return;
      }
      const key = JSON.stringify([event["schemaName"], account["id"]]);
      if (!dependencies.has(key)) dependencies.set(key, resolveDependencies(schema, account, book));
      const facts = buildFacts(event, instant, schema, dependencies.get(key));
      const units = facts && measureEvent(facts, schema, rules);
      if (units === undefined) return;
      const [accountId, date] = [asText(account["id"]), new Date(instant).toISOString().slice(0, 10)];
      if (units.some((each) => !usedGroups.haveRoom(accountId, date, each))) return;
      acceptedAt.set(asText(event["id"]), instant);
      for (const each of units) {
        const sum = addToCell(cells, accountId, each.meterId, dayKey(date, each.group), each.quantity);
        usedGroups.update(accountId, date, each, sum);
      }
    },
  };
}

/** The data of an event that rules can read; undefined if the event fails. */
function buildFacts(
  event: JsonObject,
  instant: number,
  schema: Schema,
  dependencies: JsonObject | undefined,
): JsonObject | undefined {
  const attributeList = Array.isArray(event["attributes"])
    ? asList(event["attributes"])
    : Object.entries(asObject(event["attributes"])).map(([name, value]) => ({ value, ...asObject(value), name }));
  const attributes = Object.fromEntries(attributeList.map(({ name, value }) => [asText(name), toFraction(value)]));
  const dimensions = Object.fromEntries(
    Object.entries(asObject(event["dimensions"])).map(([name, value]) => [
      name,
      typeof value === "string" ? value : toFraction(value) && formatFraction(toFraction(value) ?? ZERO),
    ]),
  );
  const isInBounds = Object.values(attributes).every((value) => value !== undefined && hasAtMostDigits(value, 20));
  const isUnique = new Set(attributeList.map(({ name }) => name)).size === attributeList.length;
  const isComplete =
    schema.attributes.every((name) => Object.hasOwn(attributes, name)) &&
    schema.dimensions.every((name) => Object.hasOwn(dimensions, name) && dimensions[name] !== undefined);
  if (!isInBounds || !isUnique || !isComplete || dependencies === undefined) return undefined;
  const pickFields = (all: JsonObject, names: readonly string[]): JsonObject =>
    Object.fromEntries(names.map((name) => [name, all[name]]));
  const [attribute, dimension] = [pickFields(attributes, schema.attributes), pickFields(dimensions, schema.dimensions)];
  const { id, accountId, schemaName } = event;
  const timestamp = new Date(instant).toISOString();
  const fieldFacts = { attribute, attributes: attribute, dimension, dimensions: dimension };
  return { ...fieldFacts, dependencies, event: { id, accountId, schemaName, timestamp } };
}

/** The quantity of each meter for an event, after enrichment; undefined if the event fails (S4.3, S5.2). */
function measureEvent(facts: JsonObject, schema: Schema, rules: RuleEvaluator): readonly MeteredUnits[] | undefined {
  try {
    for (const field of schema.fields) enrich(facts, field, rules);
    for (const name of schema.consumedAttributes) {
      if (name === "") continue;
      const quantity = requireDecimal(asObject(facts["attribute"])[name]);
      if (quantity.numerator < 0n || !hasAtMostDigits(quantity, 40))
        throw new Error(`${name} is not a quantity that can be consumed`);
    }
    return schema.meters.flatMap((meter) => measure(facts, meter, rules));
  } catch {
    // An error in a rule fails only this event (S3.8).
    return undefined;
  }
}

/** Adds a computed field to the facts for later rules. @throws {Error} if the result doesn't have the field's type */
function enrich(facts: JsonObject, { name, type, rules: computations }: Step, rules: RuleEvaluator): void {
  const [{ kind, rule: ruleSource } = { kind: "VALUE", rule: undefined }] = computations;
  const source =
    kind === "JSON_LOGIC_FROM_DEPENDENCY" ? asObject(facts["dependencies"])[asText(ruleSource)] : ruleSource;
  const rule = kind === "JSON_LOGIC_FROM_DEPENDENCY" ? toRule(source, parseJson) : source;
  const value = kind === "VALUE" ? rule : rules.evaluate(rule, facts);
  if (type === "ATTRIBUTE") {
    (facts["attribute"] as Record<string, unknown>)[name] = requireDecimal(value);
  } else if (typeof value === "string" || isFraction(value)) {
    (facts["dimension"] as Record<string, unknown>)[name] = toText(value);
  } else throw new Error(`${name} is not a string`);
}

/** The units of a meter for an event; none if no matcher is true. */
function measure(
  facts: JsonObject,
  { name, aggregation, groupBy, rules: computations }: MeterStep,
  rules: RuleEvaluator,
): readonly MeteredUnits[] {
  const matchingComputations = computations.filter(
    ({ matcher }) => matcher === undefined || rules.evaluate({ "!!": [matcher] }, facts) === true,
  );
  if (matchingComputations.length === 0) return [];
  const isCount = aggregation.kind === "COUNT";
  const results = isCount ? [ONE] : matchingComputations.map(({ rule }) => rules.evaluate(rule, facts));
  const group = readGroup(facts, groupBy);
  if (hasKeys(aggregation)) {
    const { id, timestamp } = asObject(facts["event"]);
    const units = listKeyedUnits(aggregation, results, { id: asText(id), instant: readInstant(timestamp) });
    return units.map(({ key, quantity }) => ({ meterId: name, quantity, group: { ...group, [KEY_NAME]: key } }));
  }
  const quantity = results.map(requireDecimal).reduce(add, ZERO);
  if (!hasAtMostDigits(quantity, 40)) throw new Error(`${name} counts too many digits`);
  return [{ meterId: name, quantity, group }];
}

/** The ACTIVE schemas by name, with their ACTIVE meters. */
function buildSchemas(book: JsonObject, rules: RuleEvaluator, creditsSuffice: boolean): ReadonlyMap<string, Schema> {
  const activeSchemas = asList(book["eventSchemas"]).filter(isActive);
  const activeMeters = asList(book["usageMeters"]).filter(isActive);
  return new Map(
    activeSchemas.map((schema) => {
      const { name, attributes, dimensions, enrichments } = schema;
      const enrichedFields = asList(asObject(enrichments)["fields"]).toSorted(byOrder);
      const fields = [...enrichedFields, ...listComputedFields(schema)].map(createFieldStep);
      const meters = activeMeters.filter((meter) =>
        [name, schema["id"]].includes(meter["schema"] ?? meter["eventSchemaName"]),
      );
      const meterSteps = meters.map(createMeterStep);
      const all = [...fields, ...meterSteps].flatMap((step) =>
        step.rules.flatMap(({ matcher, rule }) => [matcher, rule]),
      );
      const unknownOperator = all.map(rules.findUnknownOperator).find((operator) => operator !== undefined);
      const consumedAttributes = findConsumedAttributes(schema, book);
      const creditReason =
        consumedAttributes.length > 0 && !creditsSuffice
          ? `events of ${asText(name)} consume feature credits`
          : undefined;
      const reason = unknownOperator === undefined ? creditReason : `the operator ${unknownOperator} is not supported`;
      const declaredNames = { attributes: listNames(attributes), dimensions: listNames(dimensions) };
      const dependencies = asList(asObject(enrichments)["dependencies"]);
      return [asText(name), { ...declaredNames, dependencies, fields, meters: meterSteps, consumedAttributes, reason }];
    }),
  );
}

function isActive({ status }: JsonObject): boolean {
  return (status ?? "ACTIVE") === "ACTIVE";
}

function createFieldStep(field: JsonObject): Step {
  const kind = asText(field["enrichmentType"]);
  const rule = kind === "JSON_LOGIC" ? toRule(field["value"], parseJson) : toExactNumbers(field["value"]);
  return { name: asText(field["name"]), type: asText(field["type"]), rules: [{ matcher: undefined, rule, kind }] };
}

function createMeterStep(meter: JsonObject): MeterStep {
  const computations = asList(meter["computations"] ?? [toComputation(meter)]).toSorted(byOrder);
  return {
    name: asText(meter["id"]),
    type: "",
    aggregation: readAggregation(meter),
    groupBy: Array.isArray(meter["groupBy"]) ? (meter["groupBy"] as unknown[]).map(asText) : undefined,
    rules: computations.map(({ matcher, computation }) => ({
      matcher: (matcher ?? undefined) === undefined ? undefined : toRule(matcher, parseJson),
      rule: toRule(computation ?? 1, parseJson),
      kind: "",
    })),
  };
}

/** The attributes of a schema that consume feature credits. An empty name consumes 1 per event (S11.2). */
function findConsumedAttributes({ name, attributes, featureDetails }: JsonObject, book: JsonObject): readonly string[] {
  const ownAttribute = asText(asObject(featureDetails)["attributeName"]);
  const defaultAttribute =
    (featureDetails ?? undefined) === undefined ? (listNames(attributes)[0] ?? "") : ownAttribute;
  const associations = asList(book["features"]).flatMap((feature) => {
    const associationList = feature["schemaAssociations"] ?? feature["schemaAssocitions"];
    return Array.isArray(associationList) ? (associationList as unknown[]) : [];
  });
  const associatedAttributes = associations.flatMap((each) => {
    if (each !== name && asObject(each)["schemaName"] !== name) return [];
    const attributeName = asObject(each)["attributeName"] ?? undefined;
    return [attributeName === undefined ? defaultAttribute : asText(attributeName)];
  });
  return (featureDetails ?? undefined) === undefined ? associatedAttributes : [...associatedAttributes, ownAttribute];
}

/** The account settings that a schema depends on (S4.2); undefined if one is missing or invalid. */
function resolveDependencies({ dependencies }: Schema, account: JsonObject, book: JsonObject): JsonObject | undefined {
  const customerId = account["customerId"] ?? account["id"];
  const customer = asList(book["customers"]).find(({ id, name }) => [id, name].includes(customerId)) ?? {};
  const owners: readonly ((setting: JsonObject) => boolean)[] = [
    ({ entityType, entityId }) => entityType === "ACCOUNT" && [account["id"], account["name"]].includes(entityId),
    ({ entityType, entityId }) =>
      entityType === "CUSTOMER" && [customer["id"], customer["name"], customerId].includes(entityId),
    ({ entityType }) => (entityType ?? "ORGANIZATION") === "ORGANIZATION",
  ];
  const values = dependencies.map(({ name, key }) => {
    const isDependency = ({ id, namespace }: JsonObject): boolean =>
      id === key || `setting.${asText(namespace)}.${asText(id)}`.toLowerCase() === asText(key).toLowerCase();
    const settings = asList(book["settings"]).filter(isDependency);
    const setting = owners.map((owns) => settings.find(owns)).find((each) => each !== undefined);
    try {
      return [asText(name), setting && settingValue(setting)] as const;
    } catch {
      return [asText(name), undefined] as const;
    }
  });
  return values.every(([, value]) => value !== undefined) ? Object.fromEntries(values) : undefined;
}

function settingValue({ dataType, value }: JsonObject): unknown {
  if (dataType === "NUMERIC") return toFraction(value);
  return dataType === "JSON" ? toExactNumbers(parseJson(asText(value))) : value;
}

/** ACTIVE accounts by id and by alias. */
function indexAccounts(book: JsonObject): ReadonlyMap<string, JsonObject> {
  const activeAccounts = asList(book["accounts"]).filter(isActive);
  const aliases = activeAccounts.flatMap((account) => {
    const aliasList = Array.isArray(account["aliases"]) ? (account["aliases"] as unknown[]) : [];
    return aliasList.map((alias): [string, JsonObject] => [
      asText(typeof alias === "string" ? alias : asObject(alias)["alias"]),
      account,
    ]);
  });
  return new Map([
    ...aliases,
    ...activeAccounts.map((account): [string, JsonObject] => [asText(account["id"]), account]),
  ]);
}

function byOrder(a: JsonObject, b: JsonObject): number {
  return compare(fractionOrZero(a["order"]), fractionOrZero(b["order"]));
}

function tryReadInstant(timestamp: unknown): number | undefined {
  try {
    return readInstant(timestamp);
  } catch {
    return undefined;
  }
}

/** The names of declared fields. */
export function listNames(fields: unknown): readonly string[] {
  return Array.isArray(fields) ? fields.map((field) => asText(field) || asText(asObject(field)["name"])) : [];
}

/** The computed fields of a schema. */
export function listComputedFields({ computed, computedDimensions }: JsonObject): readonly JsonObject[] {
  const types = [["ATTRIBUTE", computed] as const, ["DIMENSION", computedDimensions] as const];
  return types.flatMap(([type, fields]) =>
    Object.entries(asObject(fields)).map(([name, value]) => ({ name, type, value, enrichmentType: "JSON_LOGIC" })),
  );
}

/** The computation of a meter. */
export function toComputation(meter: JsonObject): JsonObject {
  const { where } = meter;
  const { field = "sum" } = findMeasure(meter) ?? {};
  const measured = meter[field];
  const conditions = Object.entries(asObject(where)).map(([dimension, condition]) => {
    const { not } = asObject(condition);
    const values = [toExactNumbers(not ?? condition)].flat().map(toText);
    const isOneOf = { in: [{ var: `dimension.${dimension}` }, values] };
    return not === undefined ? isOneOf : { "!": [isOneOf] };
  });
  return {
    computation:
      typeof measured === "string"
        ? { var: `${field === "unique" ? "dimension" : "attribute"}.${measured}` }
        : measured,
    matcher: conditions.length === 0 ? undefined : { and: conditions },
  };
}
