/**
 * What the resources of the catalog share: creation, changes of fields and status, their methods, and comparisons of
 * rules and their containers, given as objects or text, with or without defaults.
 */
import * as z from "zod";

import type { Instant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { alreadyTakenError, invalidInputError, refusedError } from "../../ledger/refusals.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { quoteText, describeStatus } from "../../problem-table.ts";
import type { RuleNumber } from "../../rulebook.ts";
import { parseRule } from "../../rules/rule.ts";
import type { Configuration } from "../configuration.ts";
import {
  addDocument,
  changeConfigured,
  type ConfigurationChange,
  type ConfigurationState,
  listConfigured,
  nameField,
  nameOf,
  nounOf,
  readConfigured,
  requireDocument,
  type StoredResource,
} from "../configured-resources.ts";
import { type Body, type ConfiguredItem, type ConfiguredKind, toPlainInput, type DocumentOf } from "../documents.ts";
import {
  type EngineContext,
  type EngineMethod,
  ID,
  idMethod,
  listMethod,
  method,
  patchMethod,
  REQUEST,
} from "../methods.ts";
import type { ListOptions, Page } from "../pages.ts";

/** Checks that no other resource that is not archived has the name. @throws {RatebookError} ERR_TAKEN */
export function checkName(
  configuration: Configuration,
  kind: Exclude<ConfiguredKind, "setting" | "invoiceGroup">,
  { name }: Body,
  ownId?: string,
): void {
  const other = configuration.documents[kind].find(
    (each) => each.body.name === name && each.body.status !== "ARCHIVED" && nameOf(each) !== ownId,
  );
  if (other === undefined || typeof name !== "string") return;
  const noun = nounOf(kind);
  throw alreadyTakenError(noun, name, `the name ${quoteText(name)} is taken by another ${noun}`);
}

/** Rejects fields that only the engine sets. @throws {RatebookError} ERR_INPUT_INVALID */
export function requireUserFields(input: unknown, engineFields: readonly string[]): Body {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw invalidInputError("$", "NOT_ACCEPTED", "expected an object");
  }
  const engineField = engineFields.find((name) => Object.hasOwn(input, name) && Reflect.get(input, name) !== undefined);
  if (engineField !== undefined) throw invalidInputError(engineField, "UNEXPECTED_FIELD", "here");
  return input as Body;
}

/** A document with changed fields; null clears a field, undefined keeps it. */
export function patchDocument(document: DocumentRecord, patch: Body, now: Instant): DocumentRecord {
  const next = new Map(Object.entries(document.body));
  for (const [name, value] of Object.entries(toPlainInput(patch) as Body)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return { ...document, updatedAt: now, body: Object.fromEntries(next) };
}

const LIFECYCLE = { ACTIVE: ["DRAFT", "INACTIVE"], INACTIVE: ["ACTIVE"], ARCHIVED: ["DRAFT", "INACTIVE"] } as const;
/** By kind, the rule of its lifecycle and, by target status, the statuses from which it can be reached. */
const LIFECYCLES = {
  eventSchema: { rule: "S4.4", transitions: LIFECYCLE },
  usageMeter: { rule: "S5.4", transitions: LIFECYCLE },
  addOn: { rule: "S16.4", transitions: { ARCHIVED: ["ACTIVE"] } },
  pricePlan: { rule: "S16.4", transitions: { ACTIVE: ["DRAFT"], ARCHIVED: ["DRAFT", "ACTIVE"] } },
} as const satisfies Partial<
  Record<ConfiguredKind, { readonly rule: RuleNumber; readonly transitions: Record<string, readonly string[]> }>
>;
type KindWithStatus = keyof typeof LIFECYCLES;

/** Changes the status of a document. @throws {RatebookError} ERR_REFUSED if not allowed */
export function changeStatus<Kind extends KindWithStatus>(
  document: DocumentOf<Kind>,
  to: string & keyof (typeof LIFECYCLES)[Kind]["transitions"],
  now: Instant,
): DocumentRecord {
  const { rule, transitions } = LIFECYCLES[document.kind];
  const { name, status }: { readonly name: string; readonly status: string } = document.body;
  const from = (transitions as Readonly<Record<string, readonly string[]>>)[to] ?? [];
  if (from.includes(status)) return patchDocument(document, { status: to }, now);
  const subject = `the ${nounOf(document.kind)} ${quoteText(name)} is ${describeStatus(status)}`;
  const allowed = from.map(describeStatus).join(" or ");
  throw refusedError(rule, `${subject}; it must be ${allowed} to become ${to.toLowerCase()}`);
}

/** How a resource with a generated id and a unique name is created. */
interface NewResource {
  readonly idPrefix: string;
  /** The fields that a request cannot have. */
  readonly engineFields: readonly string[];
  readonly initialFields: Body;
  readonly toInput?: (input: Body) => Body;
  readonly complete?: (document: DocumentRecord) => DocumentRecord;
}

/** A method that creates a resource. */
export function createMethod<Kind extends "usageMeter" | "feature" | "addOn" | "pricePlan", Request extends object>(
  kind: Kind,
  { idPrefix, engineFields, initialFields, toInput, complete }: NewResource,
): EngineMethod<[request: Request], StoredResource<ConfiguredItem<Kind>>> {
  return method({ request: REQUEST }, (context, request: Request) =>
    changeConfigured(context, kind, ({ before, now }) => {
      const input = requireUserFields(request, engineFields);
      const body = toInput?.(input) ?? input;
      checkName(before, kind, body);
      const document = addDocument(before, kind, { ...body, ...initialFields, id: context.ids(idPrefix) }, now);
      return { documents: [complete?.(document) ?? document] };
    }),
  );
}

/**
 * A method that changes fields of a resource with a unique name.
 *
 * @param engineFields those that a patch cannot have
 * @param toInput the changed fields; default those of the patch
 */
export function updateMethod<Kind extends "feature" | "addOn", Patch extends object>(
  kind: Kind,
  engineFields: readonly string[],
  toInput: (patch: Body, document: DocumentOf<Kind>) => Body = (patch) => patch,
): EngineMethod<[id: string, patch: Patch], StoredResource<ConfiguredItem<Kind>>> {
  return patchMethod(async (context, id, patch: Patch) => {
    const input = requireUserFields(patch, engineFields);
    return changeLatest(context, kind, id, (document, { before, now }) => {
      const next = patchDocument(document, toInput(input, document), now);
      checkName(before, kind, next.body, id);
      return { documents: [next] };
    });
  });
}

/** Changes the latest version of a resource. */
export function changeLatest<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  name: string,
  decide: (latest: DocumentOf<Kind>, state: ConfigurationState) => Promise<ConfigurationChange> | ConfigurationChange,
  accountIds: readonly string[] = [],
): Promise<StoredResource<ConfiguredItem<Kind>>> {
  return changeConfigured(context, kind, (state) => decide(requireDocument(state.before, kind, name), state), {
    accountIds,
  });
}

/** A method that reads a resource without versions. */
export function getMethod<Kind extends ConfiguredKind>(
  kind: Kind,
): EngineMethod<[id: string], StoredResource<ConfiguredItem<Kind>>> {
  return idMethod((context, id) => readConfigured(context, kind, id));
}

/** A method that reads a version, or the latest one. */
export function getVersionMethod<Kind extends ConfiguredKind>(
  kind: Kind,
): EngineMethod<[id: string, version?: number], StoredResource<ConfiguredItem<Kind>>> {
  return method({ [nameField(kind)]: ID, version: z.number().optional() }, (context, id: string, version?: number) =>
    readConfigured(context, kind, id, version),
  );
}

/** A method that lists the latest version of each resource, newest first. @param fields those of its filter */
export function filterMethod<Filter extends object, Kind extends ConfiguredKind>(
  kind: Kind,
  fields: Readonly<Record<string, z.ZodType>>,
): EngineMethod<[options?: ListOptions<Filter>], Page<StoredResource<ConfiguredItem<Kind>>>> {
  return listMethod(fields, (context, filter: Filter, page) => {
    const known = Object.entries(filter).filter(([name]) => Object.hasOwn(fields, name));
    return listConfigured(context, kind, Object.fromEntries(known), page);
  });
}

/** A method that changes the status of a resource. @param check further conditions */
export function statusMethod<Kind extends KindWithStatus>(
  kind: Kind,
  to: string & keyof (typeof LIFECYCLES)[Kind]["transitions"],
  check?: (document: DocumentOf<Kind>, state: ConfigurationState) => Promise<void> | void,
): EngineMethod<[id: string], StoredResource<ConfiguredItem<Kind>>> {
  return method({ [nameField(kind)]: ID }, (context, id: string) =>
    changeLatest(context, kind, id, async (document, state) => {
      const next = changeStatus(document, to, state.now);
      await check?.(document, state);
      return { documents: [next] };
    }),
  );
}

/** Whether two sources are the same rule; null and undefined mean no rule. */
function isSameRule(a: unknown, b: unknown): boolean {
  return ruleText(a) === ruleText(b);
}

/** A part of a resource as sent or stored; its fields are checked elsewhere. */
type Part<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;
/** The rule, as text, of a step without a matcher: it matches every event (S5.1). */
export const EVERY_EVENT = "true";
/** The rule, as text, of a step without a computation, allowed only for COUNT: an event counts 1 (S5.2). */
export const ONE_UNIT = "1";
type Step = Part<"id" | "order" | "matcher" | "computation">;

/** Whether two lists of a meter's computations are equal in any order (S5.1). */
export function areSameComputations(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  const otherComputations = byOrder(b);
  return byOrder(a).every((step, at) => {
    const other = otherComputations[at] ?? {};
    return (
      step.order === other.order &&
      computationId(step) === computationId(other) &&
      isSameRule(step.matcher ?? EVERY_EVENT, other.matcher ?? EVERY_EVENT) &&
      isSameRule(step.computation ?? ONE_UNIT, other.computation ?? ONE_UNIT)
    );
  });
}

/** The id of a step, or its order, which is unique, if it has no id. */
export function computationId({ id, order }: Step): string {
  return String(id ?? order);
}

type Field = Part<"name" | "type" | "order" | "enrichmentType" | "value">;

/** Whether two enrichment fields with the same name are equal (S4.3). */
export function isSameField(a: Field, b: Field): boolean {
  const [type, otherType] = [a, b].map(({ enrichmentType }) => enrichmentType ?? "JSON_LOGIC");
  if (type !== otherType || a.type !== b.type || a.order !== b.order) return false;
  return type === "JSON_LOGIC" ? isSameRule(a.value, b.value) : String(a.value) === String(b.value);
}

/** Whether a dependency equals the existing one with its name; the setting may be given by its bare id (S4.2). */
export function isSameDependency(existing: Part<"type" | "key">, item: Part<"type" | "key">): boolean {
  const [existingKey, key] = [existing, item].map((each) => String(each.key).toLowerCase());
  const [existingType, type] = [existing, item].map((each) => each.type ?? "SETTING");
  return type === existingType && (existingKey === key || existingKey?.endsWith(`.${key}`) === true);
}

function byOrder(steps: readonly unknown[]): readonly Step[] {
  const bodies = steps.map((step): Step => (typeof step === "object" && step !== null ? step : {}));
  return bodies.toSorted((a, b) => Number(a.order) - Number(b.order));
}

/** The text of a rule; anything else gets a text that no rule has. */
function ruleText(source: unknown): string {
  if (source === undefined || source === null) return "";
  try {
    return stringifyJson(parseRule(source));
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return `not a rule: ${stringifyJson(source)}`;
  }
}
