/** Enrichment: computes fields from an event, its account's settings and earlier fields (S4.2, S4.3). */

import type { Setting } from "../book/resources/catalog-items.ts";
import type { EnrichmentField, EventSchema } from "../book/resources/event-schema.ts";
import { InvariantError } from "../errors.ts";
import { parseValue } from "../numbers/decimal.ts";
import { type Exact, exactOfText, exactOfDecimal } from "../numbers/exact.ts";
import { parseJson } from "../numbers/json.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { computeEventSteps, type FullRuleBudget } from "../rules/budget.ts";
import { compile } from "../rules/compile.ts";
import { type Rule, requireValidRule, parseRule } from "../rules/rule.ts";
import {
  type RuleObject,
  type RuleValue,
  isDecimal,
  describeError,
  toRuleValue,
  formatValue,
  toText,
} from "../rules/value.ts";
import {
  type AccountDependencies,
  type EventSlots,
  type VisibleSlots,
  createFacts,
  fieldsInOrder,
  createVariableReader,
  createSlotFinder,
} from "./event-slots.ts";

/** Computes the enriched fields of the event in the slots. */
export interface Enrichment {
  /** Whether the schema depends on settings. */
  readonly usesSettings: boolean;
  /** The account's settings that the schema depends on; put them into the slots before {@link run}. */
  findDependencies(owner: SettingOwner): AccountDependencies;
  /**
   * Fills the enriched slots. The event starts with its full budget; the meters use the rest of it.
   *
   * @returns the problem if a field cannot be computed
   */
  run(): Problem | undefined;
}

type CompiledRule = (facts: RuleObject) => RuleValue;

interface Step {
  readonly field: EnrichmentField;
  readonly isAttribute: boolean;
  readonly slot: number;
  readonly facts: RuleObject;
  readonly visible: VisibleSlots;
  readonly compute: CompiledRule;
}

/** Compiles a schema's enrichment over its slots. @param budget for one evaluation of a rule (S3.8) */
export function compileEnrichment(
  schema: EventSchema,
  slots: EventSlots,
  findSetting: FindSetting,
  budget: FullRuleBudget,
): Enrichment {
  let visible: VisibleSlots = { attributes: slots.declaredAttributes, dimensions: slots.declaredDimensions };
  const stepsMax = computeEventSteps(budget);
  const steps: Step[] = [];
  for (const field of fieldsInOrder(schema)) {
    const isAttribute = field.type === "ATTRIBUTE";
    const slot = (isAttribute ? slots.attributeSlots : slots.dimensionSlots).get(field.name) ?? -1;
    const compute = compileField(field, steps.length, { slots, visible, budget });
    steps.push({ field, isAttribute, slot, facts: createFacts(slots, visible), visible, compute });
    visible = isAttribute
      ? { ...visible, attributes: visible.attributes + 1 }
      : { ...visible, dimensions: visible.dimensions + 1 };
  }
  return {
    usesSettings: schema.enrichments.dependencies.length > 0,
    findDependencies: (owner) => findDependencies({ schema, slots, steps, budget }, owner, findSetting),
    run() {
      slots.remainingSteps = stepsMax;
      const { fault } = slots.dependencies;
      if (fault !== undefined) return fault;
      let failure: Problem | undefined;
      for (let index = 0; index < steps.length && failure === undefined; index++) {
        const step = steps[index];
        if (step !== undefined) failure = runStep(step, slots);
      }
      return failure;
    },
  };
}

/** The slots for compiling a rule, and its budget. */
export interface RuleContext {
  readonly slots: EventSlots;
  readonly visible: VisibleSlots;
  /** The budget for one evaluation (S3.8). */
  readonly budget: FullRuleBudget;
}

/** Compiles a rule whose variables are read from the slots. */
export function compileRuleOver(rule: unknown, { slots, visible, budget }: RuleContext): CompiledRule {
  return compile<RuleObject>(rule as Rule, {
    variables: createVariableReader(slots, visible),
    slots: createSlotFinder(slots, visible),
    budget,
    event: slots,
  });
}

/** A rule's result as a decimal; undefined if it is not one. A decimal text is a decimal (S3.2). */
export function toExactResult(value: RuleValue): Exact | undefined {
  if (typeof value === "number") return value;
  if (isDecimal(value)) return value;
  return typeof value === "string" ? exactOfText(value) : undefined;
}

/**
 * The reason for a rule's failure, as the end of a sentence. Any error fails the event (S3.8), except an
 * {@link InvariantError}, which is rethrown.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof InvariantError) throw error;
  return describeError(error);
}

function compileField(field: EnrichmentField, index: number, context: RuleContext): CompiledRule {
  switch (field.enrichmentType) {
    case "VALUE": {
      const constant = toRuleValue(field.value);
      return () => constant;
    }
    case "JSON_LOGIC":
      return compileRuleOver(field.value, context);
    case "JSON_LOGIC_FROM_DEPENDENCY":
      return (facts) => context.slots.dependencies.rules[index]?.(facts);
  }
}

function runStep({ field, isAttribute, slot, facts, compute }: Step, slots: EventSlots): Problem | undefined {
  let result: RuleValue;
  try {
    result = compute(facts);
  } catch (error) {
    return createProblem("$", "ENRICHMENT_FAILED", { name: field.name, reason: describeFailure(error) });
  }
  if (isAttribute) {
    const exact = toExactResult(result);
    if (exact === undefined) return createResultProblem(field, "a decimal", result);
    slots.values[slot] = exact;
    return undefined;
  }
  if (typeof result === "string") slots.texts[slot] = result;
  else if (isDecimal(result)) slots.texts[slot] = toText(result);
  else return createResultProblem(field, "a string", result);
  return undefined;
}

function createResultProblem(field: EnrichmentField, expected: string, result: RuleValue): Problem {
  return createProblem("$", "WRONG_ENRICHMENT", { name: field.name, expected, got: formatValue(result) });
}

/** The parts of an enrichment that depend on settings. */
interface SettingDependentPart extends Omit<RuleContext, "visible"> {
  readonly schema: EventSchema;
  readonly steps: readonly Step[];
}

function findDependencies(
  { schema, slots, steps, budget }: SettingDependentPart,
  owner: SettingOwner,
  findSetting: FindSetting,
): AccountDependencies {
  const dependencies = schema.enrichments.dependencies;
  const settings = new Map(dependencies.map(({ name, key }) => [name, findSetting(key, owner)]));
  const missing = dependencies.find(({ name }) => settings.get(name) === undefined);
  if (missing !== undefined) {
    const fault = createProblem("$", "MISSING_SETTING", { name: missing.key, accountId: owner.accountId });
    return { byName: {}, rules: [], fault };
  }
  try {
    const valuesByName = [...settings].map(([name, setting]) => [name, setting && parseSettingValue(setting)] as const);
    const rules = steps.map(({ field, visible }) =>
      field.enrichmentType === "JSON_LOGIC_FROM_DEPENDENCY"
        ? compileSettingRule(settings.get(field.value)?.value, schema, { slots, visible, budget })
        : undefined,
    );
    return { byName: Object.fromEntries(valuesByName), rules };
  } catch (error) {
    const params = { accountId: owner.accountId, reason: describeFailure(error) };
    const fault = createProblem("$", "INVALID_SETTING", params);
    return { byName: {}, rules: [], fault };
  }
}

/** A rule in a setting was not checked with the book: its variables are checked here, on first use (S3.6). */
function compileSettingRule(text: unknown, schema: EventSchema, context: RuleContext): CompiledRule {
  const { slots, visible } = context;
  const rule = requireValidRule(parseRule(text), {
    fields: {
      attributes: new Set([...slots.attributeSlots.keys()].slice(0, visible.attributes)),
      dimensions: new Set([...slots.dimensionSlots.keys()].slice(0, visible.dimensions)),
      dependencies: new Set(schema.enrichments.dependencies.map(({ name }) => name)),
    },
  });
  return compileRuleOver(rule, context);
}

/** The account and customer whose settings apply. */
export interface SettingOwner {
  readonly accountId: string;
  readonly customerId: string;
}

/**
 * Finds a setting by `setting.<namespace>.<id>` in lower case or by its bare id: the account's own, else its
 * customer's, else the organization's; undefined if there is none.
 */
export type FindSetting = (key: string, owner: SettingOwner) => Setting | undefined;

/** The key of a setting in the dependencies of event schemas. */
export function fullKey({ namespace, id }: Pick<Setting, "namespace" | "id">): string {
  return `setting.${namespace}.${id}`.toLowerCase();
}

/** Indexes the settings of a book. */
export function createSettingFinder(settings: readonly Setting[]): FindSetting {
  const byOwner = new Map<string, Map<string, Setting>>();
  for (const setting of settings) {
    const owner = setting.entityType === "ORGANIZATION" ? "" : `${setting.entityType} ${setting.entityId}`;
    const byKey = byOwner.get(owner) ?? new Map<string, Setting>();
    byOwner.set(owner, byKey);
    const key = fullKey(setting);
    if (!byKey.has(key)) byKey.set(key, setting);
    if (!byKey.has(setting.id)) byKey.set(setting.id, setting);
  }
  return (key, { accountId, customerId }) => {
    for (const owner of [`ACCOUNT ${accountId}`, `CUSTOMER ${customerId}`, ""]) {
      const setting = byOwner.get(owner)?.get(key) ?? byOwner.get(owner)?.get(key.toLowerCase());
      if (setting !== undefined) return setting;
    }
    return undefined;
  };
}

/**
 * The value of a setting in a rule: NUMERIC is a decimal, JSON is its data, everything else a text (S4.2).
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID or ERR_JSON_INVALID if the text does not match the data type
 */
export function parseSettingValue(setting: Setting): RuleValue {
  switch (setting.dataType) {
    case "NUMERIC":
      return exactOfDecimal(parseValue(setting.value));
    case "JSON":
      return toRuleValue(parseJson(setting.value));
    case "STRING":
    case "JSON_LOGIC":
      return setting.value;
  }
}
