/**
 * Resources as document bodies: plain JSON with references as ids and decimals as texts.
 *
 * @module
 */
import type { Book } from "../book/resources/book.ts";
import type { DocumentKind } from "../ledger/decision.ts";
import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import { stringifyJson } from "../numbers/json.ts";

export type Body = Readonly<Record<string, unknown>>;

/** The list of a book for each configured kind. */
export const BOOK_LISTS = {
  setting: "settings",
  eventSchema: "eventSchemas",
  usageMeter: "usageMeters",
  feature: "features",
  addOn: "addOns",
  pricePlan: "pricePlans",
  invoiceGroup: "invoiceGroups",
} as const satisfies Partial<Record<DocumentKind, keyof Book>>;
/** A kind of document that is part of the compiled configuration. */
export type ConfiguredKind = keyof typeof BOOK_LISTS;
/** The type of a book's item for each kind of document. */
export type ConfiguredItem<Kind extends ConfiguredKind> = Book[(typeof BOOK_LISTS)[Kind]][number];

/** The kinds in the order of a book. */
export const CONFIGURED_KINDS = Object.keys(BOOK_LISTS) as readonly ConfiguredKind[];

/** Converts a value to plain JSON: decimals become texts, and undefined fields are omitted. */
export function toPlainJson(value: unknown): unknown {
  if (isDecimalObject(value)) return formatDecimal(value);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (typeof value !== "object" || value === null) return value;
  const plain: [string, unknown][] = [];
  for (const [name, part] of Object.entries(value)) if (part !== undefined) plain.push([name, toPlainJson(part)]);
  return Object.fromEntries(plain);
}

/** Whether two values are the same JSON, in any order of fields; undefined fields are absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => isSameJson(item, b[at]))
    );
  }
  const [one, other] = [a as Body, b as Body];
  return (
    Object.keys(one).every((name) => isSameJson(one[name], Object.hasOwn(other, name) ? other[name] : undefined)) &&
    Object.keys(other).every((name) => other[name] === undefined || Object.hasOwn(one, name))
  );
}

/**
 * The stored body of an item: as sent if only that is complete (the text of a rule), else as parsed, with references as
 * ids that do not depend on names.
 *
 * @param input as sent
 * @param item as parsed in the book
 */
export function toBody<Kind extends ConfiguredKind>(kind: Kind, input: Body, item: ConfiguredItem<Kind>): Body {
  const parsedBody = toPlainJson(item) as Body & {
    readonly featureDetails?: unknown;
    readonly pricePlanDetails?: unknown;
  };
  const { displayName, featureDetails, pricePlanDetails, mode, versionsToMigrate, activatedAt } = input;
  switch (kind) {
    case "eventSchema":
      return withoutAbsent({
        ...parsedBody,
        enrichments: keepEnrichments(input, parsedBody),
        // The feature's association with the schema is stored with the feature.
        featureDetails: featureDetails ? parsedBody.featureDetails : undefined,
      });
    case "usageMeter":
      return withoutAbsent({ ...parsedBody, displayName, ...keepComputations(input) });
    case "feature":
    case "addOn":
      return withoutAbsent({ ...parsedBody, displayName });
    case "invoiceGroup":
      return withoutAbsent({ ...parsedBody, accountIds: undefined });
    case "pricePlan":
      return withoutAbsent({
        ...parsedBody,
        pricePlanDetails: withReferencedIds(parsedBody.pricePlanDetails, toPlainInput(pricePlanDetails)),
        mode,
        versionsToMigrate,
        activatedAt,
      });
    case "setting":
      return withoutAbsent(parsedBody);
  }
}

/** Rules as sent; settings by their full keys, which no other setting makes ambiguous. */
function keepEnrichments({ enrichments: input }: Body, { enrichments: read }: Body): unknown {
  if (input === undefined || input === null) return undefined;
  const { dependencies } = read as Body;
  return { ...(toPlainInput(input) as Body), dependencies };
}

/** The fields in price plan details that refer to meters, add-ons and features. */
const REFERENCES: ReadonlySet<string> = new Set(["usageMeterId", "id", "featureId", "applicableEntityIds"]);

/** Price plan details as sent, with references replaced by ids. */
function withReferencedIds(read: unknown, input: unknown): unknown {
  if (Array.isArray(input))
    return input.map((item, at) => withReferencedIds(Array.isArray(read) ? read[at] : undefined, item));
  if (typeof input !== "object" || input === null) return input;
  const readBody = (read ?? {}) as Body;
  return Object.fromEntries(
    Object.entries(input).map(([name, part]) => [
      name,
      REFERENCES.has(name) ? (readBody[name] ?? part) : withReferencedIds(readBody[name], part),
    ]),
  );
}

/** The steps of a meter, with their rules as sent. */
function keepComputations({ computations }: Body): Body {
  return computations === undefined || computations === null ? {} : { computations: toPlainInput(computations) };
}

const RULES: ReadonlySet<string> = new Set(["matcher", "computation", "value"]);

/** Like {@link toPlainJson}, but numbers in rules are kept exactly, as text if necessary. */
export function toPlainInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainInput);
  if (typeof value !== "object" || value === null || isDecimalObject(value)) return toPlainJson(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => [name, RULES.has(name) ? keepRule(part) : toPlainInput(part)]),
  );
}

function keepRule(rule: unknown): unknown {
  if (typeof rule !== "object" || rule === null || isDecimalObject(rule)) return toPlainJson(rule);
  const text = stringifyJson(rule);
  const plain: unknown = JSON.parse(text);
  return stringifyJson(plain) === text ? plain : text;
}

/** Omits undefined fields; null, which clears a field, stays. */
export function withoutUndefined(patch: object): Body {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

/** Omits null and undefined fields: both mean absent. */
export function withoutAbsent(body: object): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
}
