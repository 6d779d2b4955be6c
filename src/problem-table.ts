/**
 * The problems of inputs: each code with its parameters and its message. Code branches on codes and parameters, never
 * on messages. Input texts are truncated to 60 characters.
 *
 * @module
 */

/** A range of numbers, or of lengths in a unit. */
interface Bounds {
  readonly minimum?: number | string;
  readonly maximum?: number | string;
  /** The value must be greater than this. */
  readonly above?: number | string;
  /** What is counted: `character`, `item`. */
  readonly unit?: string;
  /** The field that sets the bound. */
  readonly source?: string;
}
/** The actual value, as text: `"abc"`, `3`, `a list`, `nothing`. */
interface Got {
  readonly got: string;
}
interface Reason {
  readonly reason: string;
}
/** The expected value; `reason` says why the actual one does not match. */
interface Expectation extends Got {
  readonly expected: string;
  readonly reason?: string;
}
interface Place {
  readonly line?: number;
  readonly column?: number;
}
interface Named {
  readonly name: string;
}
interface GroupLimit {
  readonly date: string;
  readonly maximum: number;
  /** Default groups. */
  readonly what?: "groups" | "values";
}
interface OfAccount {
  /** As in the event: an id or an alias. */
  readonly accountId: string;
}
interface Quantity {
  readonly quantity: string;
}
interface Resource {
  readonly resource: string;
  readonly id: string;
}

/** The message of each code. Adding a code is a minor release; changing or removing one is a major one. */
const SENTENCES = {
  // Shapes.
  MISSING: ({ expected, reason }: { readonly expected: string; readonly reason?: string }) =>
    `missing: expected ${expected}${reason === undefined ? "" : `, ${reason}`}`,
  WRONG_TYPE: describeExpected,
  INVALID_FORMAT: describeExpected,
  // The reason says what was expected.
  INVALID_DATE: ({ reason, ...params }: Expectation) => reason ?? describeExpected(params),
  NOT_AN_OPTION: ({ options, reason, got }: Got & { readonly options: readonly string[]; readonly reason?: string }) =>
    `expected ${joinQuoted(options, "or")}${reason === undefined ? "" : `, ${reason}`}, got ${got}`,
  OUT_OF_BOUNDS: (params: Got & Bounds) => `expected ${describeBounds(params)}, got ${params.got}`,
  UNKNOWN_FIELD: ({ guess }: { readonly field: string; readonly guess?: string }) => `unknown field${hint(guess)}`,
  UNEXPECTED_FIELD: ({ reason }: { readonly reason: string }) => `remove it; it can't be set ${reason}`,
  CONFLICTING_FIELDS: ({ fields }: { readonly fields: readonly string[] }) =>
    `expected ${fields.join(" or ")}, got ${fields.length === 2 ? "both" : "all"}`,
  NOT_ACCEPTED: repeatReason,
  MORE_PROBLEMS: ({ count }: { readonly count: number }) => `and ${count} more problem${count === 1 ? "" : "s"}`,
  // Texts of JSON.
  INVALID_JSON: repeatReason,
  REPEATED_KEY: ({ line, column, inside }: Place & { readonly inside?: string }) =>
    `${inside === undefined ? "" : `in ${inside}: `}the key is repeated${at(line, column)}`,
  TOO_DEEP: ({ maximum, line, column }: Place & { readonly maximum: number }) =>
    `nested more than ${maximum} levels deep${at(line, column)}`,
  // References and names.
  UNKNOWN_REFERENCE: ({
    resources,
    got,
    guess,
  }: Got & { readonly resources: readonly string[]; readonly guess?: string }) =>
    `expected ${describeReference(resources)}, got ${got}${hint(guess)}`,
  AMBIGUOUS_REFERENCE: ({ name, candidates }: { readonly name: string; readonly candidates: readonly string[] }) =>
    `the name ${quoteText(name)} belongs to ${joinQuoted(candidates, "and")}: use one of these`,
  UNKNOWN_VERSION: ({ plan, version }: { readonly plan: string; readonly version?: number }) =>
    version === undefined
      ? `the price plan ${quoteText(plan)} has no active or draft version`
      : `the price plan ${quoteText(plan)} has no version ${version}`,
  NOT_UNIQUE: ({ what, other }: { readonly what: string; readonly other: string }) =>
    `the ${what} is already used by ${other}`,
  SECOND_ACTIVE_VERSION: ({ other }: { readonly other: string }) =>
    `only one version of an event schema can be active; ${other} already is`,
  NOT_ACTIVE: ({ resource, id, status, reason }: Resource & { readonly status: string; readonly reason: string }) =>
    `the ${resource} ${quoteText(id)} is ${describeStatus(status)}; it must be active because the ${reason}`,
  WRONG_ADD_ON_TYPE: ({ id, expected, got }: Got & { readonly id: string; readonly expected: string }) =>
    `expected an add-on of type ${expected}, but ${quoteText(id)} has type ${got}`,
  // Accounts.
  ALIAS_IS_ACCOUNT_ID: ({ alias }: { readonly alias: string }) =>
    `the alias ${quoteText(alias)} is the id of an account; choose another alias`,
  IN_ANOTHER_GROUP: ({ id, other }: { readonly id: string; readonly other: string }) =>
    `the account ${quoteText(id)} is already in another group: ${other}`,
  WRONG_CURRENCY: (params: { readonly id: string; readonly expected: string; readonly currency: string }) =>
    `the account ${quoteText(params.id)} uses ${params.currency}, but its group uses ${params.expected}`,
  ENDS_BEFORE_START: ({ start, got }: Got & { readonly start: string }) =>
    `expected a date after the effectiveFrom, ${start}, got ${got}`,
  NOT_ASSOCIABLE: ({
    plan,
    version,
    reason,
  }: {
    readonly plan: string;
    readonly version: number;
    readonly reason: string;
  }) => `version ${version} of ${quoteText(plan)} cannot be associated: it ${reason}`,
  DECISIONS_OUT_OF_ORDER: ({ got, before, index }: Got & { readonly before: string; readonly index: number }) =>
    `associations must be sorted by decidedAt, but ${got} is before ${before} of pricePlans[${index}]`,
  BACKDATED: ({ earliest, got }: Got & { readonly earliest: string }) =>
    `expected the decidedAt, ${earliest}, or later, got ${got}; only the first association can be backdated`,
  NO_OFFSETS_TO_RETAIN: ({ date }: { readonly date: string }) =>
    `no price plan is in force on ${date} whose offsets can be retained`,
  INTERVAL_CHANGES: ({ before, now }: { readonly before: string; readonly now: string }) =>
    `offsets can only be retained if the interval stays the same; it changes from ${before} to ${now}`,
  // Prices and cycles.
  INVALID_CYCLE: repeatReason,
  INVALID_DURATION: describeExpected,
  SLAB_OUT_OF_PLACE: describeExpected,
  MISSING_CURRENCY: ({ currencies }: { readonly currencies: readonly string[] }) =>
    `missing rates in ${joinQuoted(currencies, "and")}`,
  MISSING_SLAB_RATE: ({ orders }: { readonly orders: readonly number[] }) =>
    orders.length === 1
      ? `missing rate of slab ${orders[0]}`
      : `missing rates of slabs ${orders.slice(0, 5).join(", ")}${orders.length > 5 ? ", …" : ""}`,
  // Event schemas, settings and rules.
  ENRICHMENT_CYCLE: ({ field, other }: { readonly field: string; readonly other: string }) =>
    field === other
      ? `the rule of ${quoteText(field)} uses its own result`
      : `the rules of ${quoteText(field)} and ${quoteText(other)} depend on each other`,
  ENRICHMENT_ORDER: ({
    field,
    other,
    order,
  }: {
    readonly field: string;
    readonly other: string;
    /** Absent where fields are computed in their order. */
    readonly order?: number;
  }) =>
    `the rule of ${quoteText(field)} uses ${quoteText(other)}, which is computed after it${order === undefined ? "" : `: expected an order above ${order}`}`,
  INVALID_RULE: describeRuleProblem,
  INVALID_OPERATION: describeRuleProblem,
  UNKNOWN_OPERATOR: describeRuleProblem,
  MISSING_ARGUMENTS: describeRuleProblem,
  UNKNOWN_VARIABLE: describeRuleProblem,
  INVALID_CONSTANT: describeRuleProblem,
  RULE_TOO_DEEP: describeRuleProblem,
  RULE_TOO_LARGE: describeRuleProblem,
  RULE_WORK_EXCEEDED: repeatReason,
  // Operations.
  DATE_NOT_ALLOWED: repeatReason,
  QUANTITY_NOT_ALLOWED: repeatReason,
  UNKNOWN_ID: repeatReason,
  REPEATED_ITEM: repeatReason,
  NOT_SUPPORTED: repeatReason,
  INVALID_FILTER: repeatReason,
  INVALID_USAGE: repeatReason,
  INVALID_TABLE: repeatReason,
  // Lines of event files.
  INVALID_ENCODING: ({ expected }: { readonly expected: string }) => `the line is not valid ${expected}`,
  LINE_TOO_LONG: ({ maximum }: { readonly maximum: string }) => `the line is longer than ${maximum}`,
  INVALID_CSV: repeatReason,
  WRONG_COLUMN_COUNT: repeatReason,
  MISSING_MAPPED_FIELD: ({
    name,
    fields,
    guess,
  }: Named & { readonly fields: readonly string[]; readonly guess?: string }) =>
    fields.length === 0
      ? "the line is not a JSON object with fields"
      : `the map uses the field ${quoteText(name)}, but the line has ${fields.map(quoteText).join(", ")}${hint(guess)}`,
  NOT_IN_MAP_FORM: ({ expected, value }: { readonly expected: string; readonly value: string }) =>
    `${quoteText(value)} is not ${expected}`,
  ROW_LEFT_OUT: ({ name }: Named) => `${quoteText(name)} is empty, and the map skips such rows`,
  // Events.
  INVALID_TIMESTAMP: ({ value, reason }: Reason & { readonly value: string }) =>
    value === "" ? "empty: expected a date-time such as 2024-01-02T03:04:05Z" : reason,
  REPEATED_NAME: ({ name }: Named) => `the name ${quoteText(name)} is repeated`,
  EXTERNAL_SCHEMA: ({ name }: Named) =>
    `The event schema ${quoteText(name)} does not accept events: its usage is external.`,
  UNKNOWN_ACCOUNT: ({ accountId }: OfAccount) => `No account has the id or alias ${quoteText(accountId)}.`,
  ARCHIVED_ACCOUNT: ({ accountId }: OfAccount) => `The account ${quoteText(accountId)} is archived.`,
  BILL_FAILED: ({ accountId, reason }: OfAccount & Reason) =>
    `The account ${quoteText(accountId)} cannot be billed, so its events are rejected: ${reason}.`,
  UNKNOWN_SCHEMA: ({ name }: Named) => `No event schema ${quoteText(name)} is active.`,
  MISSING_EVENT_FIELD: ({ kind, name, schemaName }: Named & { readonly kind: string; readonly schemaName: string }) =>
    `The ${kind} ${quoteText(name)} is missing; the event schema ${quoteText(schemaName)} requires it.`,
  INVALID_DECIMAL: ({
    kind,
    name,
    value,
    reason,
  }: Named & Reason & Readonly<Record<"kind" | "fault" | "value", string>>) =>
    value === ""
      ? `The ${kind} ${quoteText(name)} is empty; expected a number.`
      : `The ${kind} ${quoteText(name)} has an invalid value: ${reason}.`,
  DUPLICATE_EVENT: ({ id }: { readonly id: string }) => `An event with the id ${quoteText(id)} was accepted before.`,
  EVENT_TOO_EARLY: ({ timestamp, now }: { readonly timestamp: string; readonly now: string }) =>
    `The timestamp ${timestamp} is too far in the future; the event was ingested at ${now}.`,
  EVENT_TOO_LATE: ({ timestamp, openUntil }: { readonly timestamp: string; readonly openUntil: string }) =>
    `The billing period of ${timestamp} closed on ${openUntil}.`,
  LEVEL_TOO_LATE: ({ timestamp, closedUntil }: { readonly timestamp: string; readonly closedUntil: string }) =>
    `Billing periods up to ${closedUntil} are closed, so the level at ${timestamp} cannot change.`,
  INVOICE_FINAL: ({ timestamp }: { readonly timestamp: string }) =>
    `The invoice for the billing period of ${timestamp} is final.`,
  MISSING_SETTING: ({ name, accountId }: Named & OfAccount) =>
    `The setting ${quoteText(name)} is missing for the account ${quoteText(accountId)}.`,
  INVALID_SETTING: ({ accountId, reason }: OfAccount & Reason) =>
    `A setting of the account ${quoteText(accountId)} is invalid: ${reason}.`,
  ENRICHMENT_FAILED: ({ name, reason }: Named & Reason) =>
    `The field ${quoteText(name)} cannot be computed: ${reason}.`,
  WRONG_ENRICHMENT: ({ name, expected, got }: Named & Got & { readonly expected: string }) =>
    `The rule of the field ${quoteText(name)} must return ${expected} but returned ${got}.`,
  METER_FAILED: ({ name, place, reason }: Named & Reason & { readonly place: string }) =>
    `The meter ${quoteText(name)} cannot measure the event${place}: ${reason}.`,
  NEGATIVE_QUANTITY: ({ name, quantity }: Named & Quantity) =>
    `The event would consume ${quantity} of the feature ${quoteText(name)}; the quantity must be 0 or more.`,
  TOO_MANY_DIGITS: ({ kind, name, quantity }: Named & Quantity & { readonly kind: string }) =>
    `For the ${kind} ${quoteText(name)} the event would count ${quoteText(quantity)}, which has more than 40 digits before or after the point.`,
  INVALID_GROUP: ({ name, dimension, length }: Named & { readonly dimension: string; readonly length: number }) =>
    `The dimension ${quoteText(dimension)}, by which the meter ${quoteText(name)} groups usage, has ${length === 0 ? "an empty text" : `${length} characters`}; expected 1 to 512 characters.`,
  TOO_MANY_GROUPS: ({ name, date, maximum, what = "groups" }: Named & GroupLimit) =>
    `The account has usage of ${maximum} ${what} of the meter ${quoteText(name)} on ${date}, the maximum; use ${what === "groups" ? "dimensions" : "computations"} with fewer values.`,
  INSUFFICIENT_CREDITS: ({ name, quantity, available }: Named & Quantity & { readonly available: string }) =>
    `The event needs ${quantity} of the feature ${quoteText(name)}; the account has ${available} left.`,
} as const satisfies Readonly<Record<string, (params: never) => string>>;

/** The stable codes of problems. */
export type ProblemCode = keyof typeof SENTENCES;
/** The parameters of a code: plain JSON. */
export type ProblemParams<Code extends ProblemCode> = Parameters<(typeof SENTENCES)[Code]>[0];

/** The codes of problems of one rule (S3.6, S3.8). */
export type RuleProblemCode =
  | "INVALID_RULE"
  | "INVALID_OPERATION"
  | "UNKNOWN_OPERATOR"
  | "MISSING_ARGUMENTS"
  | "UNKNOWN_VARIABLE"
  | "INVALID_CONSTANT"
  | "RULE_TOO_DEEP"
  | "RULE_TOO_LARGE"
  | "RULE_WORK_EXCEEDED";

/** The codes whose only required parameter is a reason. */
export type ReasonCode = { [Code in ProblemCode]: Reason extends ProblemParams<Code> ? Code : never }[ProblemCode];

/** A problem of an input. Branch on `code`; the wording of `message` may change. */
export interface Problem {
  readonly code: ProblemCode;
  /** A JSON path such as `$.pricePlans[0].pricePlanDetails`; `$` is the whole input. */
  readonly path: string;
  /** The values in the message: bounds, the actual value, other places. */
  readonly params: Readonly<Record<string, unknown>>;
  /** One sentence for people. */
  readonly message: string;
}

/** Creates a problem with its message. */
export function createProblem<Code extends ProblemCode>(
  path: string,
  code: Code,
  params: ProblemParams<Code>,
): Problem {
  const describe: (params: never) => string = SENTENCES[code];
  return { code, path, params: { ...params }, message: describe(params as never) };
}

/** Creates a problem whose message is its only parameter, a reason. */
export function rejection(path: string, code: ReasonCode, reason: string): Problem {
  return createProblem(path, code, { reason });
}

/** The same problem at another path, or with other parameters. */
export function changeProblem(
  { code, path, params }: Problem,
  change: { readonly path?: string; readonly params?: Problem["params"] },
): Problem {
  return createProblem(change.path ?? path, code, { ...params, ...change.params });
}

function describeExpected({ expected, got, reason }: Expectation): string {
  return `expected ${expected}${reason === undefined ? `, got ${got}` : `: ${reason}`}`;
}

/** `place` is a path inside the rule, and `owner` says whose rule it is. */
function describeRuleProblem({
  reason,
  place,
  owner,
}: Reason & { readonly place?: string; readonly owner?: string }): string {
  return place === undefined ? reason : `in the rule${owner ?? ""}${place === "$" ? "" : ` at ${place}`}: ${reason}`;
}

function repeatReason({ reason }: Reason): string {
  return reason;
}

function describeBounds({ minimum, maximum, above, unit, source }: Bounds): string {
  const suffix = (limit: number | string): string =>
    unit === undefined ? "" : ` ${unit}${String(limit) === "1" ? "" : "s"}`;
  const owner = source === undefined ? "" : `, the ${source}`;
  if (above !== undefined) return `more than ${above}${suffix(above)}${owner}`;
  if (maximum !== undefined && minimum !== undefined) return `${minimum} to ${maximum}${suffix(maximum)}`;
  if (maximum !== undefined) return `at most ${maximum}${suffix(maximum)}${owner}`;
  return unit === undefined && minimum === 0 ? "0 or more" : `at least ${minimum ?? 0}${suffix(minimum ?? 0)}${owner}`;
}

function describeReference(resources: readonly string[]): string {
  const [first = ""] = resources;
  if (first === "setting") return "the key or id of a setting";
  const isNamed = /^(?:event schema|dependency|attribute)/.test(first);
  return `${isNamed ? "the name" : "the id or name"} of ${withArticle(resources.join(" or "))}`;
}

function at(line: number | undefined, column: number | undefined): string {
  if (line === undefined) return column === undefined ? "" : ` at column ${column}`;
  return ` at line ${line}, column ${column ?? 1}`;
}

function hint(guess: string | undefined): string {
  return guess === undefined ? "" : `: did you mean ${quoteText(guess)}?`;
}

/** `a usage meter`, `an add-on`. */
function withArticle(noun: string): string {
  return /^(?:[aeio]|u[^s])/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** A status in words: `a draft`, `archived`. */
export function describeStatus(status: string): string {
  return status === "DRAFT" ? "a draft" : status.toLowerCase();
}

/** An input text of at most 60 characters, for messages. */
export function truncateText(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** An input text, quoted and truncated to 60 characters. */
export function quoteText(text: string): string {
  return JSON.stringify(truncateText(text));
}

/** Quotes and joins texts: `"a", "b" or "c"`. */
export function joinQuoted(texts: readonly string[], word: "and" | "or"): string {
  const quotedTexts = texts.map(quoteText);
  const last = quotedTexts.at(-1) ?? "nothing";
  return quotedTexts.length < 2 ? last : `${quotedTexts.slice(0, -1).join(", ")} ${word} ${last}`;
}
