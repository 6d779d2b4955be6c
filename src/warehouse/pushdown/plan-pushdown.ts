/**
 * Decides which schemas of a book are pushed down to a database, and what their meters compute there (S17.3).
 *
 * A schema is pushed down completely or not at all, because an event's outcome depends on all of its meters.
 */
import type { Book } from "../../book/resources/book.ts";
import type { EventSchema, UsageMeter } from "../../book/resources/event-schema.ts";
import { fieldsInOrder } from "../../metering/event-slots.ts";
import { listExplainingDimensions } from "../../metering/unmetered-events.ts";
import { isDecimalObject } from "../../numbers/decimal.ts";
import { exactOfText } from "../../numbers/exact.ts";
import { computeEventSteps, RULE_BUDGET } from "../../rules/budget.ts";
import { toRuleValue, formatValue } from "../../rules/value.ts";
import { inferNumber, inferRule, createTextLiteral, type VariableTerms } from "./infer-rule.ts";
import { type PushedMeter, pushMeter, requireWithinBudget } from "./push-meter.ts";
import {
  attributeColumn,
  createNumberConstant,
  createNumberTerm,
  createText,
  dimensionColumn,
  NotPushableError,
  type NumberRange,
  type NumberTerm,
  type TextTerm,
} from "./term.ts";

/** The maximum number of digits of a plain event's attribute. */
export interface DigitBounds {
  readonly before: number;
  readonly after: number;
}

/** The range of a schema's attribute, by name. */
export type AttributeRangeLookup = (name: string, bounds: DigitBounds) => NumberRange;

/** A computed field. Later fields and meters read it by its slot. */
interface PushedField {
  readonly slot: number;
  readonly term: NumberTerm | TextTerm;
}

/** A schema as terms. */
export interface PushedSchema {
  readonly schema: EventSchema;
  readonly bounds: DigitBounds;
  /** The declared attributes with their ranges; the slot is the index. */
  readonly attributes: readonly { readonly name: string; readonly range: NumberRange }[];
  /** The declared dimensions; the slot is the index. */
  readonly dimensions: readonly string[];
  /** In the order of computation. */
  readonly fields: readonly PushedField[];
  readonly meters: readonly PushedMeter[];
  /** The dimensions of the meters' groups, and those that explain unmetered rows, each once, with their slots. */
  readonly groupDimensions: readonly {
    readonly name: string;
    readonly slot: number;
    /** Whether it is also that of rows that no meter matches. */
    readonly isExplaining: boolean;
  }[];
}

/** The decision for a meter, or for a schema without meters. */
export interface PushdownDecision {
  readonly schemaName: string;
  /** Absent for a schema without meters. */
  readonly meterId?: string | undefined;
  /** Why it is not pushed down; absent if it is. */
  readonly reason?: string | undefined;
}

/** The schemas that are pushed down, and all decisions. */
interface PushdownPlan {
  /** By schema name. */
  readonly schemas: ReadonlyMap<string, PushedSchema>;
  /** In book order. */
  readonly decisions: readonly PushdownDecision[];
}

/**
 * Digit bounds to try, widest first. With narrower attributes, products fit database integers. Events with longer
 * numbers are metered by the core.
 */
const BOUNDS: readonly DigitBounds[] = [
  { before: 12, after: 6 },
  { before: 9, after: 6 },
  { before: 9, after: 3 },
  { before: 6, after: 3 },
  { before: 9, after: 0 },
  { before: 6, after: 0 },
  { before: 4, after: 0 },
];

/** How a book is pushed down. */
interface PushdownOptions {
  /** Default: that of attributes stored as text. */
  readonly ranges?: AttributeRangeLookup | undefined;
  /** Whether the database gives all values of events, and not only those that decide a quantity (S19.2); default false. */
  readonly keepsValues?: boolean | undefined;
  /** Whether rows that no meter matches are grouped by the values that explain it; default false. */
  readonly explainsUnmetered?: boolean | undefined;
}

/** Plans the pushdown of a checked book. */
export function planPushdown(
  book: Pick<Book, "eventSchemas" | "usageMeters">,
  options: PushdownOptions = {},
): PushdownPlan {
  const schemas = new Map<string, PushedSchema>();
  const decisions: PushdownDecision[] = [];
  for (const schema of book.eventSchemas) {
    if (schema.status !== "ACTIVE") continue;
    const meters = book.usageMeters.filter(
      ({ status, eventSchemaName }) => status === "ACTIVE" && eventSchemaName === schema.name,
    );
    const outcome = pushSchema(schema, meters, options);
    if ("attributes" in outcome) schemas.set(schema.name, outcome);
    const reasons: ReadonlyMap<string, string> = "attributes" in outcome ? new Map() : outcome.reasons;
    const first = [...reasons][0];
    for (const { id } of meters) {
      const schemaReason =
        first === undefined
          ? undefined
          : `its schema cannot be summed in SQL: ${first[0] === "" ? "" : `meter ${formatValue(first[0])}: `}${first[1]}`;
      decisions.push({
        schemaName: schema.name,
        meterId: id,
        reason: reasons.get(id) ?? reasons.get("") ?? schemaReason,
      });
    }
    if (meters.length === 0) decisions.push({ schemaName: schema.name, reason: reasons.get("") });
  }
  return { schemas, decisions };
}

/** The range of attributes stored as text. */
export function createTextRange(_name: string, { before, after }: DigitBounds): NumberRange {
  const end = 10n ** BigInt(before + after);
  return { scale: after, min: 1n - end, max: end - 1n };
}

/** Why meters are not pushed down, by id; "" is the schema itself. */
interface PushdownRefusal {
  readonly reasons: ReadonlyMap<string, string>;
}

function pushSchema(
  schema: EventSchema,
  meters: readonly UsageMeter[],
  options: PushdownOptions,
): PushedSchema | PushdownRefusal {
  const refuse = (reason: string): PushdownRefusal => ({ reasons: new Map([["", reason]]) });
  if (schema.featureDetails !== undefined) return refuse("it consumes a feature, so the order of events matters");
  if (schema.enrichments.dependencies.length > 0) return refuse("it uses settings of accounts");
  if (countMaximumSteps(schema, meters) > computeEventSteps(RULE_BUDGET))
    return refuse("its rules may exceed the budget of an event");
  let refusal: PushedSchema | PushdownRefusal = { reasons: new Map() };
  for (const bounds of BOUNDS) {
    const attempt = pushWithinBounds(schema, meters, options, bounds);
    if ("attributes" in attempt) return attempt;
    refusal = attempt;
    if (!attempt.mayFitNarrowerBounds) break;
  }
  return refusal;
}

function pushWithinBounds(
  schema: EventSchema,
  meters: readonly UsageMeter[],
  { ranges = createTextRange, keepsValues = false, explainsUnmetered = false }: PushdownOptions,
  bounds: DigitBounds,
): PushedSchema | (PushdownRefusal & { readonly mayFitNarrowerBounds: boolean }) {
  const reasons = new Map<string, string>();
  let mayFitNarrowerBounds = true;
  const tryOrRecord = <Result>(id: string, work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof NotPushableError)) throw error;
      reasons.set(id, error.message);
      mayFitNarrowerBounds &&= error.mayFitNarrowerBounds;
      return undefined;
    }
  };
  const attributes = uniqueNames(schema.attributes).map((name) => ({ name, range: ranges(name, bounds) }));
  const dimensions = uniqueNames(schema.dimensions);
  const inference = tryOrRecord("", () => inferFields(schema, attributes, dimensions));
  if (inference === undefined) return { reasons, mayFitNarrowerBounds };
  const { fields, variables, dimensionSlots } = inference;
  const pushedMeters = meters.flatMap(
    (meter) => tryOrRecord(meter.id, () => pushMeter(meter, variables, keepsValues)) ?? [],
  );
  if (reasons.size > 0) return { reasons, mayFitNarrowerBounds };
  const explaining = explainsUnmetered && schema.allowUnmetered !== true ? listExplainingDimensions(meters) : [];
  const groupNames = new Set([...meters.flatMap(({ groupBy = [] }) => groupBy), ...explaining]);
  return {
    schema,
    bounds,
    attributes,
    dimensions,
    fields,
    meters: pushedMeters,
    groupDimensions: [...groupNames].flatMap((name) => {
      const slot = dimensionSlots.get(name);
      return slot === undefined ? [] : [{ name, slot, isExplaining: explaining.includes(name) }];
    }),
  };
}

function uniqueNames(fields: readonly { readonly name: string }[]): readonly string[] {
  return [...new Set(fields.map(({ name }) => name))];
}

/** The steps of one text search, for the longest texts of an event (S3.8). */
const SEARCH_STEPS = 64;

/** The maximum number of steps of all rules of an event: every node once, and the searches. */
function countMaximumSteps({ enrichments }: EventSchema, meters: readonly UsageMeter[]): number {
  const countSteps = (part: unknown): number => {
    if (typeof part !== "object" || part === null || isDecimalObject(part)) return 1;
    const inner = Object.values(part).reduce((steps: number, each) => steps + countSteps(each), 1);
    return inner + (Object.hasOwn(part, "in") ? SEARCH_STEPS : 0);
  };
  return countSteps([enrichments.fields.map(({ value }) => value), meters.map(({ computations }) => computations)]);
}

/** The computed fields in order, and the variables that meters can read (S4.3). */
function inferFields(
  schema: EventSchema,
  attributes: PushedSchema["attributes"],
  dimensions: readonly string[],
): {
  readonly fields: readonly PushedField[];
  readonly variables: VariableTerms;
  readonly dimensionSlots: ReadonlyMap<string, number>;
} {
  const numbers = new Map(attributes.map(({ name, range }, slot) => [name, createAttributeTerm(slot, range)]));
  const texts = new Map(dimensions.map((name, slot) => [name, createDimensionTerm(slot)]));
  const variables: VariableTerms = {
    schemaName: schema.name,
    attribute: (name) => numbers.get(name),
    dimension: (name) => texts.get(name),
  };
  const fields: PushedField[] = [];
  for (const field of fieldsInOrder(schema)) {
    withReasonPrefix(`field ${formatValue(field.name)}`, () => {
      if (field.enrichmentType === "JSON_LOGIC_FROM_DEPENDENCY") throw new NotPushableError("its rule is in a setting");
      if (field.type === "ATTRIBUTE") {
        const term = inferFieldNumber(field, variables);
        fields.push({ slot: numbers.size, term });
        numbers.set(field.name, createAttributeTerm(numbers.size, term.range));
      } else {
        fields.push({ slot: texts.size, term: inferFieldText(field, variables) });
        texts.set(field.name, createDimensionTerm(texts.size));
      }
    });
  }
  return { fields, variables, dimensionSlots: new Map([...texts.keys()].map((name, slot) => [name, slot])) };
}

type Field = EventSchema["enrichments"]["fields"][number];

function inferFieldNumber(field: Field, variables: VariableTerms): NumberTerm {
  if (field.enrichmentType === "JSON_LOGIC") return inferNumber(requireWithinBudget(field.value), variables);
  const value = toRuleValue(field.value);
  const exact = typeof value === "string" ? exactOfText(value) : value;
  if (typeof exact !== "number" && typeof exact !== "object")
    throw new NotPushableError("it always fails: its value is not a number");
  return createNumberConstant(exact as Parameters<typeof createNumberConstant>[0]);
}

function inferFieldText(field: Field, variables: VariableTerms): TextTerm {
  if (field.enrichmentType === "VALUE" && typeof field.value !== "string")
    throw new NotPushableError("its value is not a string");
  if (field.enrichmentType === "VALUE") return createTextLiteral(field.value as string);
  const term = inferRule(requireWithinBudget(field.value), variables);
  if (term.kind !== "text") throw new NotPushableError("its value is not a string");
  return term;
}

function withReasonPrefix(what: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof NotPushableError)) throw error;
    throw new NotPushableError(`${what}: ${error.message}`, error.mayFitNarrowerBounds);
  }
}

function createAttributeTerm(slot: number, range: NumberRange): NumberTerm {
  return createNumberTerm(range, () => attributeColumn(slot));
}

function createDimensionTerm(slot: number): TextTerm {
  return createText(() => dimensionColumn(slot));
}
