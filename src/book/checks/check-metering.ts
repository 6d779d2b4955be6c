/** Checks event schemas, usage meters and their rules (S3.6, S3.8, S4, S5). */
import { RatebookError } from "../../errors.ts";
import { parseValue } from "../../numbers/decimal.ts";
import { findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Steps } from "../../numbers/steps.ts";
import type { FullRuleBudget } from "../../rules/budget.ts";
import { describeExcessWork } from "../../rules/compile.ts";
import { checkRule, type Rule, type RuleFields, type RuleProblem } from "../../rules/rule.ts";
import { checkUnique, guessName, hasNoHoles, type Path, formatPath, type Report, quoteValue } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import { findDeepNesting, NESTING_MAX } from "../reading/read-document.ts";
import { readRule } from "../resolving/resolve-metering.ts";
import type { Book } from "../resources/book.ts";
import { type Setting, settingKey } from "../resources/catalog-items.ts";
import {
  type EnrichmentField,
  type EventSchema,
  findCurrentSchemas,
  type UsageMeter,
} from "../resources/event-schema.ts";

/** Reports problems of the event schemas and the settings that they use, one per step. */
export function* checkSchemas(book: Book, cache: BookCache, report: Report): Steps {
  const ruleFields = findSettingRuleFields(book.eventSchemas);
  for (const [index, setting] of book.settings.entries()) {
    if (setting === undefined) continue;
    const path: Path = ["settings", index, "value"];
    const dependentFields = ruleFields.get(settingKey(setting)) ?? [];
    const checkThisItem = (itemReport: Report): void => {
      checkSettingValue(setting, path, itemReport);
      for (const ruleField of dependentFields) checkSettingRule(setting, ruleField, path, itemReport);
    };
    const dependsOn = dependentFields.map(({ schema }) => schema);
    cache.runOrReuse({ work: "check", item: setting, dependsOn, report, run: checkThisItem });
    yield;
  }
  for (const [index, schema] of book.eventSchemas.entries()) {
    if (schema === undefined) continue;
    const path: Path = ["eventSchemas", index];
    const checkThisItem = (itemReport: Report): void => {
      checkFieldNames(schema, path, itemReport);
      checkEnrichments(schema, path, itemReport);
      checkDependencyNames(schema, path, itemReport);
    };
    cache.runOrReuse({ work: "check", item: schema, report, run: checkThisItem });
    yield;
  }
}

function checkFieldNames(schema: EventSchema, path: Path, report: Report): void {
  const { dependencies, fields } = schema.enrichments;
  const enrichments: Path = [...path, "enrichments"];
  checkUnique(schema.attributes, { path: [...path, "attributes"], field: "name" }, report);
  checkUnique(schema.dimensions, { path: [...path, "dimensions"], field: "name" }, report);
  checkUnique(dependencies, { path: [...enrichments, "dependencies"], field: "name" }, report);
  checkUnique(fields, { path: [...enrichments, "fields"], field: "name" }, report);
  checkUnique(fields, { path: [...enrichments, "fields"], field: "order" }, report);
  const declaredNames = new Set(
    [...schema.attributes, ...schema.dimensions].flatMap((field) => (field ? [field.name] : [])),
  );
  fields.forEach(({ name }, index) => {
    if (!declaredNames.has(name)) return;
    report([...enrichments, "fields", index, "name"], "NOT_UNIQUE", { what: "name", other: "a declared field" });
  });
}

/** Each rule may use declared fields and the fields before its own (S4.3). */
function checkEnrichments(schema: EventSchema, path: Path, report: Report): void {
  const { fields } = schema.enrichments;
  let uses: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  fields.forEach((field, index) => {
    if (field.enrichmentType !== "JSON_LOGIC") return;
    const place: Path = [...path, "enrichments", "fields", index, "value"];
    if (checkRuleForSchema(field.value, schema, place, report)) return;
    const before = listRuleFields(schema, ({ order }) => order < field.order);
    if (before === undefined || checkRule(field.value, { fields: before }).length === 0) return;
    uses ??= findUses(schema);
    for (const other of fields) {
      if (other === undefined || other.order < field.order || uses.get(field.name)?.has(other.name) !== true) continue;
      const isCycle = field.name === other.name || usesIndirectly(other.name, field.name, uses);
      const names = { field: field.name, other: other.name };
      if (isCycle) report(place, "ENRICHMENT_CYCLE", names);
      else report(place, "ENRICHMENT_ORDER", { ...names, order: other.order });
    }
  });
}

/** The enriched fields that each enriched field's rule uses, found by checking the rule without them. */
function findUses(schema: EventSchema): ReadonlyMap<string, ReadonlySet<string>> {
  const uses = new Map<string, ReadonlySet<string>>();
  schema.enrichments.fields.forEach((field) => {
    const usedNames = new Set<string>();
    if (field.enrichmentType === "JSON_LOGIC") {
      schema.enrichments.fields.forEach((other) => {
        const otherFields = listRuleFields(schema, (each) => each !== other);
        if (otherFields !== undefined && checkRule(field.value, { fields: otherFields }).length > 0)
          usedNames.add(other.name);
      });
    }
    uses.set(field.name, usedNames);
  });
  return uses;
}

function usesIndirectly(from: string, to: string, uses: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const reachableNames = new Set([from]);
  // The set grows during iteration; each field is visited once.
  for (const name of reachableNames) for (const next of uses.get(name) ?? []) reachableNames.add(next);
  return reachableNames.has(to) && (from !== to || uses.get(from)?.has(to) === true);
}

/** A field with a rule from a setting (S4.3). */
interface SettingRuleField {
  readonly schema: EventSchema;
  readonly field: EnrichmentField;
}

/** The fields with rules from settings, by setting key. */
function findSettingRuleFields(schemas: readonly EventSchema[]): ReadonlyMap<string, readonly SettingRuleField[]> {
  const ruleFields = new Map<string, SettingRuleField[]>();
  schemas.forEach((schema) => {
    schema.enrichments.fields.forEach((field) => {
      const key = ruleDependency(field, schema)?.key;
      if (key === undefined) return;
      const fieldsOfKey = ruleFields.get(key);
      if (fieldsOfKey === undefined) ruleFields.set(key, [{ schema, field }]);
      else fieldsOfKey.push({ schema, field });
    });
  });
  return ruleFields;
}

function ruleDependency(field: EnrichmentField, schema: EventSchema): { readonly key: string } | undefined {
  if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY") return undefined;
  return schema.enrichments.dependencies.find((dependency) => dependency?.name === field.value);
}

function checkSettingRule({ value }: Setting, { schema, field }: SettingRuleField, path: Path, report: Report): void {
  const rule = readRule(value, path, report);
  if (rule === undefined) return;
  const before = listRuleFields(schema, ({ order }) => order < field.order);
  for (const problem of checkRule(rule, before === undefined ? {} : { fields: before })) {
    reportRuleProblem(problem, path, report, ` of ${quoteValue(field.name)} in ${quoteValue(schema.name)}`);
  }
}

/** A field with a rule from a setting must name one of the schema's dependencies. */
function checkDependencyNames(schema: EventSchema, path: Path, report: Report): void {
  const { dependencies, fields } = schema.enrichments;
  const names = dependencies.flatMap(({ name }) => [name]);
  fields.forEach((field, index) => {
    if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY" || ruleDependency(field, schema) !== undefined) return;
    const guess = guessName(field.value, names);
    const params = { resources: ["dependency"], got: quoteValue(field.value), ...guess };
    report([...path, "enrichments", "fields", index, "value"], "UNKNOWN_REFERENCE", params);
  });
}

/** A setting's text must parse as its data type (S4.2). */
function checkSettingValue(setting: Setting, path: Path, report: Report): void {
  const quotedText = quoteValue(setting.value);
  switch (setting.dataType) {
    case "STRING":
      return;
    case "NUMERIC":
      if (throwsError(() => parseValue(setting.value)))
        report(path, "INVALID_FORMAT", { expected: "a decimal, because the dataType is NUMERIC", got: quotedText });
      return;
    case "JSON":
      checkJson(setting.value, path, report);
      return;
    case "JSON_LOGIC": {
      const rule: Rule | undefined = readRule(setting.value, path, report);
      if (rule !== undefined) for (const problem of checkRule(rule)) reportRuleProblem(problem, path, report);
    }
  }
}

function checkJson(text: string, path: Path, report: Report): void {
  const deepPlace = findDeepNesting(text);
  if (deepPlace !== undefined) report(path, "TOO_DEEP", { maximum: NESTING_MAX, ...deepPlace });
  else if (throwsError(() => parseJson(text)))
    report(path, "INVALID_FORMAT", { expected: "JSON, because the dataType is JSON", got: quoteValue(text) });
  else
    for (const { line, column, path: inside } of findRepeatedKeys(text))
      report(path, "REPEATED_KEY", { line, column, inside: formatPath(inside) });
}

function throwsError(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return true;
  }
}

/** Reports problems of the usage meters, one per step. */
export function* checkMeters(book: Book, cache: BookCache, report: Report): Steps {
  const schemas = findCurrentSchemas(book.eventSchemas);
  for (const [index, meter] of book.usageMeters.entries()) {
    if (meter === undefined) continue;
    const schema = schemas.get(meter.eventSchemaName);
    const checkThisMeter = (itemReport: Report): void => checkMeter(meter, schema, ["usageMeters", index], itemReport);
    cache.runOrReuse({ work: "check", item: meter, dependsOn: [schema], report, run: checkThisMeter });
    yield;
  }
}

function checkMeter(meter: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  if (meter.status === "ACTIVE" && schema !== undefined && schema.status !== "ACTIVE") {
    const params = { resource: "event schema", id: schema.name, status: schema.status };
    report([...path, "eventSchemaName"], "NOT_ACTIVE", { ...params, reason: "usage meter is active" });
  }
  checkUnique(meter.computations, { path: [...path, "computations"], field: "order" }, report);
  meter.computations.forEach((step, index) => {
    const place: Path = [...path, "computations", index];
    if (step.matcher !== undefined) checkRuleForSchema(step.matcher, schema, [...place, "matcher"], report);
    if (step.computation !== undefined) checkRuleForSchema(step.computation, schema, [...place, "computation"], report);
    else if (meter.aggregation !== "COUNT") {
      const reason = `because the aggregation is ${meter.aggregation}`;
      report([...place, "computation"], "MISSING", { expected: "a rule", reason });
    }
  });
  checkAggregation(meter, path, report);
  checkGroupBy(meter, schema, [...path, "groupBy"], report);
}

/** The aggregations that can have each of the fields besides. */
const AGGREGATION_FIELDS = {
  daily: ["MAX", "MIN", "UNIQUE_COUNT", "TIME_WEIGHTED"],
  carryOver: ["LATEST"],
  mode: ["TIME_WEIGHTED"],
} as const satisfies Readonly<Record<string, readonly UsageMeter["aggregation"][]>>;

/** Reports fields that do not apply to a meter's aggregation, and a level of which the mode is missing (S19.1). */
function checkAggregation(meter: UsageMeter, path: Path, report: Report): void {
  const { aggregation } = meter;
  for (const [field, aggregations] of Object.entries(AGGREGATION_FIELDS)) {
    const value: unknown = Reflect.get(meter, field);
    if (!value || aggregations.some((each) => each === aggregation)) continue;
    const reason = `with the aggregation ${aggregation}, only with ${aggregations.join(", ")}`;
    report([...path, field], "UNEXPECTED_FIELD", { reason });
  }
  if (aggregation === "TIME_WEIGHTED" && !meter.mode)
    report([...path, "mode"], "MISSING", {
      expected: "the mode LEVEL or CHANGE",
      reason: "because the aggregation is TIME_WEIGHTED",
    });
}

/** A meter groups by different dimensions of its schema, declared or computed. */
function checkGroupBy({ groupBy = [] }: UsageMeter, schema: EventSchema | undefined, path: Path, report: Report): void {
  checkUnique(groupBy, { path, what: "dimension" }, report);
  const fields = schema && listRuleFields(schema);
  if (schema === undefined || fields === undefined) return;
  groupBy.forEach((dimension, index) => {
    if (fields.dimensions.has(dimension)) return;
    const resources = [`dimension of the event schema ${quoteValue(schema.name)}`];
    const guess = guessName(dimension, [...fields.dimensions]);
    report([...path, index], "UNKNOWN_REFERENCE", { resources, got: quoteValue(dimension), ...guess });
  });
}

/** The lists of a book whose items contain rules. */
export type RuleList = "settings" | "eventSchemas" | "usageMeters";

/** The limit on the minimum work of a book's rules. */
export interface RuleWorkLimits {
  readonly budget: FullRuleBudget;
  /** Whether the item at an index is checked: items saved by an older version stay readable. */
  readonly isChecked: (list: RuleList, index: number) => boolean;
}

/** Reports the rules that exceed the budget for every event, a rule per step; those that no event reaches are skipped. */
export function* checkRuleWork(book: Book, { budget, isChecked }: RuleWorkLimits, report: Report): Steps {
  const evaluationSteps = { steps: 0 };
  for (const { rule, path } of findRules(book, isChecked)) {
    // A rule with another problem was reported already.
    if (rule === undefined || rule === null || checkRule(rule).length > 0) continue;
    const reason = describeExcessWork(rule, { budget }, evaluationSteps);
    if (reason !== undefined) report(path, "RULE_WORK_EXCEEDED", { reason });
    yield;
  }
}

/** The rules to check. Items that could not be read are holes, which `forEach` skips. */
function findRules(book: Book, isChecked: RuleWorkLimits["isChecked"]) {
  const rules: { readonly rule: Rule | null | undefined; readonly path: Path }[] = [];
  const ruleSettings = findSettingRuleFields(book.eventSchemas);
  book.settings.forEach((setting, index) => {
    if (!isChecked("settings", index)) return;
    if (setting.dataType !== "JSON_LOGIC" && !ruleSettings.has(settingKey(setting))) return;
    const path: Path = ["settings", index, "value"];
    // An unreadable rule was reported already.
    rules.push({ rule: readRule(setting.value, path, () => undefined), path });
  });
  book.eventSchemas.forEach((schema, index) => {
    if (!isChecked("eventSchemas", index) || !mayApplyToEvents(schema)) return;
    schema.enrichments.fields.forEach((field, stepIndex) => {
      if (field.enrichmentType !== "JSON_LOGIC") return;
      rules.push({ rule: field.value, path: ["eventSchemas", index, "enrichments", "fields", stepIndex, "value"] });
    });
  });
  book.usageMeters.forEach((meter, index) => {
    if (!isChecked("usageMeters", index) || !mayApplyToEvents(meter)) return;
    meter.computations.forEach((step, stepIndex) => {
      const path = ["usageMeters", index, "computations", stepIndex];
      rules.push({ rule: step.matcher, path: [...path, "matcher"] });
      rules.push({ rule: step.computation, path: [...path, "computation"] });
    });
  });
  return rules;
}

/** Whether an item applies to events or may soon apply; items out of use are not checked. */
function mayApplyToEvents({ status }: { readonly status: string }): boolean {
  return status === "ACTIVE" || status === "DRAFT";
}

/**
 * The fields of an event that rules may use: those declared by its schema, and the enriched ones that `isIncluded` selects.
 *
 * @returns undefined if the schema was unreadable
 */
function listRuleFields(
  schema: EventSchema,
  isIncluded: (field: EnrichmentField) => boolean = () => true,
): RuleFields | undefined {
  const { dependencies, fields } = schema.enrichments;
  if (![schema.attributes, schema.dimensions, dependencies, fields].every(hasNoHoles)) return undefined;
  const includedFields = fields.filter(isIncluded);
  const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  return {
    attributes: new Set([
      ...names(schema.attributes),
      ...names(includedFields.filter(({ type }) => type === "ATTRIBUTE")),
    ]),
    dimensions: new Set([
      ...names(schema.dimensions),
      ...names(includedFields.filter(({ type }) => type === "DIMENSION")),
    ]),
    dependencies: new Set(names(dependencies)),
  };
}

/** Reports problems of a rule. Without a schema, its variables are not checked. */
function checkRuleForSchema(rule: Rule, schema: EventSchema | undefined, path: Path, report: Report): boolean {
  const fields = schema === undefined ? undefined : listRuleFields(schema);
  const problems = checkRule(rule, fields === undefined ? {} : { fields });
  for (const problem of problems) reportRuleProblem(problem, path, report);
  return problems.length > 0;
}

/** Reports one problem of a rule at the rule's path; the message has the path inside it. */
function reportRuleProblem(problem: RuleProblem, path: Path, report: Report, owner = ""): void {
  report(path, problem.code, { reason: problem.message, place: problem.path, ...(owner && { owner }) });
}
