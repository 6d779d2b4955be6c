/**
 * Event schemas and settings across a book: names, the order of enrichments, and the rules in them (S3.6, S4).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { parseValue } from "../../numbers/decimal.ts";
import { findRepeatedKeys, describeRepeatedKey } from "../../numbers/json-text.ts";
import { parseJson } from "../../numbers/json.ts";
import { checkRule, type Rule } from "../../rules/rule.ts";
import type { Book } from "../model/book.ts";
import type { Setting } from "../model/catalog-items.ts";
import type { EnrichmentField, EventSchema } from "../model/metering.ts";
import { type Path, pathText, type Report } from "../problems.ts";
import type { BookMemory } from "../reading/memory.ts";
import { TOO_DEEP, tooDeepInText } from "../reading/read-document.ts";
import { settingKey } from "../resources/catalog-items.ts";
import { checkRuleAt, fieldsOf, reportRule, ruleAt } from "../resources/rule-fields.ts";
import { oneOf, shown } from "../sentences.ts";
import type { Steps } from "../steps.ts";
import { unique } from "./check-names.ts";

/** Reports what is wrong within the event schemas and the settings that they use, one in a step. */
export function* checkSchemas(book: Book, memory: BookMemory, report: Report): Steps {
  const takers = takersOfRules(book.eventSchemas);
  for (const [at, setting] of book.settings.entries()) {
    if (setting === undefined) continue;
    const path: Path = ["settings", at, "value"];
    const own = takers.get(settingKey(setting)) ?? [];
    const run = (noting: Report): void => {
      checkSettingValue(setting, path, noting);
      for (const taker of own) checkTakenRule(setting, taker, path, noting);
    };
    const context = own.map(({ schema }) => schema);
    memory.recall({ work: "check", item: setting, context, report, run });
    yield;
  }
  for (const [at, schema] of book.eventSchemas.entries()) {
    if (schema === undefined) continue;
    const path: Path = ["eventSchemas", at];
    const run = (noting: Report): void => {
      checkFieldNames(schema, path, noting);
      checkEnrichments(schema, path, noting);
      checkNamedDependencies(schema, path, noting);
    };
    memory.recall({ work: "check", item: schema, report, run });
    yield;
  }
}

function checkFieldNames(schema: EventSchema, path: Path, report: Report): void {
  const { dependencies, fields } = schema.enrichments;
  const enrichments: Path = [...path, "enrichments"];
  unique(schema.attributes, { path: [...path, "attributes"], field: "name" }, report, ({ name }) => name);
  unique(schema.dimensions, { path: [...path, "dimensions"], field: "name" }, report, ({ name }) => name);
  unique(dependencies, { path: [...enrichments, "dependencies"], field: "name" }, report, ({ name }) => name);
  unique(fields, { path: [...enrichments, "fields"], field: "name" }, report, ({ name }) => name);
  unique(fields, { path: [...enrichments, "fields"], field: "order" }, report, ({ order }) => order);
  const declared = new Set(
    [...schema.attributes, ...schema.dimensions].flatMap((field) => (field ? [field.name] : [])),
  );
  fields.forEach(({ name }, at) => {
    if (!declared.has(name)) return;
    report(
      [...enrichments, "fields", at, "name"],
      `expected a name that the event schema does not declare, got ${shown(name)}`,
    );
  });
}

/** Each rule may use what is declared and the fields before its own (S4.3). */
function checkEnrichments(schema: EventSchema, path: Path, report: Report): void {
  const { fields } = schema.enrichments;
  let uses: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  fields.forEach((field, at) => {
    if (field.enrichmentType !== "JSON_LOGIC") return;
    const place: Path = [...path, "enrichments", "fields", at, "value"];
    if (checkRuleAt(field.value, schema, place, report)) return;
    const before = fieldsOf(schema, ({ order }) => order < field.order);
    if (before === undefined || checkRule(field.value, { fields: before }).length === 0) return;
    uses ??= usesOf(schema);
    for (const other of fields) {
      if (other === undefined || other.order < field.order || uses.get(field.name)?.has(other.name) !== true) continue;
      report(place, lateUse(field, other, uses));
    }
  });
}

function lateUse(
  field: EnrichmentField,
  other: EnrichmentField,
  uses: ReadonlyMap<string, ReadonlySet<string>>,
): string {
  const rule = `the rule of ${shown(field.name)}`;
  if (field.name === other.name) return `${rule} uses the field itself: a cycle`;
  const late = `${rule} uses ${shown(other.name)}, which`;
  if (reaches(other.name, field.name, uses)) return `${late} in turn needs ${shown(field.name)}: a cycle`;
  return `${late} is computed after it: expected an order above ${other.order}`;
}

/** Which enriched fields the rule of each enriched field uses: without them, its check finds something. */
function usesOf(schema: EventSchema): ReadonlyMap<string, ReadonlySet<string>> {
  const uses = new Map<string, ReadonlySet<string>>();
  schema.enrichments.fields.forEach((field) => {
    const used = new Set<string>();
    if (field.enrichmentType === "JSON_LOGIC") {
      schema.enrichments.fields.forEach((other) => {
        const without = fieldsOf(schema, (one) => one !== other);
        if (without !== undefined && checkRule(field.value, { fields: without }).length > 0) used.add(other.name);
      });
    }
    uses.set(field.name, used);
  });
  return uses;
}

function reaches(from: string, to: string, uses: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const seen = new Set([from]);
  // A set that grows while it is walked: every field is looked at once.
  for (const name of seen) for (const next of uses.get(name) ?? []) seen.add(next);
  return seen.has(to) && (from !== to || uses.get(from)?.has(to) === true);
}

/** A field that takes its rule from a setting (S4.3), on every level. */
interface RuleTaker {
  readonly schema: EventSchema;
  readonly field: EnrichmentField;
}

/** The fields that take their rules from settings, by the settings' keys. */
function takersOfRules(schemas: readonly EventSchema[]): ReadonlyMap<string, readonly RuleTaker[]> {
  const takers = new Map<string, RuleTaker[]>();
  schemas.forEach((schema) => {
    schema.enrichments.fields.forEach((field) => {
      const key = dependencyOf(field, schema)?.key;
      if (key === undefined) return;
      const known = takers.get(key);
      if (known === undefined) takers.set(key, [{ schema, field }]);
      else known.push({ schema, field });
    });
  });
  return takers;
}

function dependencyOf(field: EnrichmentField, schema: EventSchema): { readonly key: string } | undefined {
  if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY") return undefined;
  return schema.enrichments.dependencies.find((one) => one?.name === field.value);
}

function checkTakenRule({ value }: Setting, { schema, field }: RuleTaker, path: Path, report: Report): void {
  const rule = ruleAt(value, path, report);
  if (rule === undefined) return;
  const before = fieldsOf(schema, ({ order }) => order < field.order);
  for (const problem of checkRule(rule, before === undefined ? {} : { fields: before })) {
    reportRule(problem, path, report, ` of ${shown(field.name)} in ${shown(schema.name)}`);
  }
}

/** A field that takes its rule from a setting names the dependency that is this setting. */
function checkNamedDependencies(schema: EventSchema, path: Path, report: Report): void {
  const { dependencies, fields } = schema.enrichments;
  const names = dependencies.flatMap(({ name }) => [name]);
  fields.forEach((field, at) => {
    if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY" || dependencyOf(field, schema) !== undefined) return;
    const known = names.length === 0 ? "of a dependency, of which there is none" : oneOf(names.slice(0, 10));
    report([...path, "enrichments", "fields", at, "value"], `expected the name ${known}, got ${shown(field.value)}`);
  });
}

/** A setting's text parses as its data type (S4.2). */
function checkSettingValue(setting: Setting, path: Path, report: Report): void {
  const given = shown(setting.value);
  switch (setting.dataType) {
    case "STRING":
      return;
    case "NUMERIC":
      if (fails(() => parseValue(setting.value)))
        report(path, `expected a decimal, as dataType NUMERIC says, got ${given}`);
      return;
    case "JSON":
      checkJson(setting.value, path, report);
      return;
    case "JSON_LOGIC": {
      const rule: Rule | undefined = ruleAt(setting.value, path, report);
      if (rule !== undefined) for (const problem of checkRule(rule)) reportRule(problem, path, report);
    }
  }
}

function checkJson(text: string, path: Path, report: Report): void {
  const deep = tooDeepInText(text);
  if (deep !== undefined) report(path, `${TOO_DEEP}, at line ${deep.line}, column ${deep.column}`);
  else if (fails(() => parseJson(text))) report(path, `expected JSON, as dataType JSON says, got ${shown(text)}`);
  else for (const key of findRepeatedKeys(text)) report(path, `in ${pathText(key.path)}: ${describeRepeatedKey(key)}`);
}

function fails(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return true;
  }
}
