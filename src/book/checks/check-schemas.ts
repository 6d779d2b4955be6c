/**
 * Checks event schemas and settings: names, the order of enrichments, and rules (S3.6, S4).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { parseValue } from "../../numbers/decimal.ts";
import { findRepeatedKeys } from "../../numbers/json-text.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Steps } from "../../numbers/steps.ts";
import { checkRule, type Rule } from "../../rules/rule.ts";
import { guessName } from "../did-you-mean.ts";
import { type Path, formatPath, type Report } from "../problems.ts";
import type { BookCache } from "../reading/book-cache.ts";
import { findDeepNesting, NESTING_MAX } from "../reading/read-document.ts";
import type { Book } from "../resources/book.ts";
import type { Setting } from "../resources/catalog-items.ts";
import { settingKey } from "../resources/catalog-items.ts";
import type { EnrichmentField, EventSchema } from "../resources/event-schema.ts";
import { checkRuleForSchema, listRuleFields, reportRuleProblem, readRule } from "../resources/rule-fields.ts";
import { quoteValue } from "../wording.ts";
import { checkUnique } from "./check-names.ts";

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
  checkUnique(schema.attributes, { path: [...path, "attributes"], field: "name" }, report, ({ name }) => name);
  checkUnique(schema.dimensions, { path: [...path, "dimensions"], field: "name" }, report, ({ name }) => name);
  checkUnique(dependencies, { path: [...enrichments, "dependencies"], field: "name" }, report, ({ name }) => name);
  checkUnique(fields, { path: [...enrichments, "fields"], field: "name" }, report, ({ name }) => name);
  checkUnique(fields, { path: [...enrichments, "fields"], field: "order" }, report, ({ order }) => order);
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
      reportLateUse(field, other, uses, place, report);
    }
  });
}

function reportLateUse(
  { name }: EnrichmentField,
  other: EnrichmentField,
  uses: ReadonlyMap<string, ReadonlySet<string>>,
  place: Path,
  report: Report,
): void {
  const isCycle = name === other.name || usesIndirectly(other.name, name, uses);
  if (isCycle) report(place, "ENRICHMENT_CYCLE", { field: name, other: other.name });
  else report(place, "ENRICHMENT_ORDER", { field: name, other: other.name, order: other.order });
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
