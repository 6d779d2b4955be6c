/**
 * Requests for operations on accounts and their records, with the book's schemas and bounds where possible.
 *
 * @module
 */
import * as z from "zod";

import { formatInstant, INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import { inputError, invariant, type Problem } from "../../errors.ts";
import type { MigrationMode } from "../model/requests.ts";
import { collectProblems } from "../problems.ts";
import { readStrictly } from "../reading/read-document.ts";
import {
  account,
  credit,
  customer,
  featureCredit,
  invoiceGroup,
  licenseUpdate as bookLicenseUpdate,
  planAssociation,
} from "../resources/account.ts";
import { setting } from "../resources/catalog-items.ts";
import { decimalAboveZero, email, freeForm, idSchema, name, reference } from "../resources/fields.ts";
import { pricingCycleConfig } from "../resources/price-plan.ts";

/** When a migration moves accounts, and whether overrides are kept (S16.5). */
export const MIGRATION_MODES = [
  "IMMEDIATE",
  "IMMEDIATE_IGNORE_OVERRIDE",
  "NEXT_CYCLE",
  "NEXT_CYCLE_IGNORE_OVERRIDE",
] as const satisfies readonly MigrationMode[];

/** The versions whose accounts move when the next one is activated; default the previous one (S16.4). */
export const VERSIONS_TO_MIGRATE = ["LATEST_VERSION", "ALL_VERSION"] as const;

/** A field with a default in a book that is required in a request. */
const withoutDefault = <Field extends z.ZodType>(field: z.ZodPipe<z.ZodOptional<z.ZodNullable<Field>>>): Field =>
  field.in.unwrap().unwrap();

const alias = idSchema(50).min(3);
const key = z.string().min(1).max(255);
const accountIds = z.array(reference).min(1).max(100);
/** A setting created with its customer or account, to which it belongs. */
const entitySetting = z.strictObject({
  id: setting.shape.id,
  namespace: withoutDefault(setting.shape.namespace),
  name,
  dataType: withoutDefault(setting.shape.dataType),
  value: setting.shape.value,
});
const settings = z.array(entitySetting).max(10).nullish();

/** The fields of a new account. */
const accountCreate = account
  .pick({
    id: true,
    name: true,
    customerId: true,
    invoiceCurrency: true,
    address: true,
    primaryEmail: true,
    netTermDays: true,
    metadata: true,
    tags: true,
  })
  .extend({ aliases: z.array(alias).max(10).nullish(), settings });
/** A new customer, with its first account. */
const customerCreate = customer
  .omit({ status: true })
  .extend({ settings, account: accountCreate.omit({ customerId: true }).nullish() });
const customerPatch = customerCreate.omit({ id: true, account: true, settings: true }).partial();
const accountPatch = accountCreate
  .omit({ id: true, customerId: true, invoiceCurrency: true, aliases: true, settings: true })
  .partial();
const aliases = z.array(alias).min(1).max(100);
const aliasCreate = z
  .array(z.strictObject({ value: alias, accountId: reference.nullish() }))
  .min(1)
  .max(100);

/** The override is checked with the plan (S16.2); the default version is the latest ACTIVE one. */
const associate = planAssociation.omit({ decidedAt: true }).extend({ pricePlanDetailsOverride: freeForm.nullish() });
/** With a plan or version, the days may have no other one. */
const dissociate = planAssociation
  .pick({ effectiveFrom: true, effectiveUntil: true, version: true })
  .extend({ pricePlanId: reference.nullish() });
const migrate = z.strictObject({
  sourceId: key,
  sourceVersion: z.int().min(1),
  targetId: key,
  targetVersion: z.int().min(1),
  mode: z.enum(MIGRATION_MODES),
  retainStartOffsets: planAssociation.shape.retainStartOffsets,
  pricingCycleConfig: pricingCycleConfig.nullish(),
});

const licenseUpdate = bookLicenseUpdate.extend({
  updateType: withoutDefault(bookLicenseUpdate.shape.updateType),
  effectiveFrom: bookLicenseUpdate.shape.effectiveFrom.nullish(),
  idempotencyKey: key.nullish(),
});
const entryGrant = featureCredit.omit({ id: true, featureId: true }).extend({ idempotencyKey: key.nullish() });
const entryPatch = z.strictObject({
  granted: featureCredit.shape.granted.nullish(),
  effectiveUntil: featureCredit.shape.effectiveUntil.nullish(),
});
const creditCreate = z
  .array(
    credit.omit({ id: true }).extend({
      accountId: reference,
      purpose: name,
      creditAmount: decimalAboveZero,
      priority: z.int(),
      idempotencyKey: key.nullish(),
    }),
  )
  .min(1)
  .max(100);

const groupCreate = invoiceGroup.pick({ netTermDays: true, gracePeriod: true, address: true }).extend({
  name,
  email,
  dailyInvoiceConsolidation: withoutDefault(invoiceGroup.shape.dailyInvoiceConsolidation),
  accountIds,
});

/** Every request, by kind. */
export const REQUESTS = {
  customerCreate,
  customerPatch,
  accountCreate,
  accountPatch,
  aliases,
  aliasCreate,
  associate,
  dissociate,
  migrate,
  licenseUpdate,
  entryGrant,
  entryPatch,
  creditCreate,
  groupCreate,
  accountIds,
} as const;
export type RequestKind = keyof typeof REQUESTS;
/** A parsed request: decimals are Decimals, times are milliseconds since 1970. */
export type RequestOutput<Kind extends RequestKind> = z.output<(typeof REQUESTS)[Kind]>;

/** Parses a request. @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path */
export function readRequest<Kind extends RequestKind>(kind: Kind, raw: unknown): RequestOutput<Kind> {
  return readInput(REQUESTS[kind], convertTimesToText(raw)) as RequestOutput<Kind>;
}

/** The fields of requests that are instants or days. */
const TIMES: ReadonlySet<string> = new Set(["effectiveFrom", "effectiveUntil", "startTime", "endTime"]);

/**
 * Converts the instants of a request, or a list of them, to text: a caller in the same process may also use
 * milliseconds since 1970 or a `Date`, whereas a number in a document would be a mistake.
 */
export function convertTimesToText(raw: unknown): unknown {
  if (Array.isArray(raw)) return raw.map(convertTimesToText);
  if (typeof raw !== "object" || raw === null || !Object.keys(raw).some((name) => TIMES.has(name))) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]: [string, unknown]) => [
      name,
      TIMES.has(name) ? toInstantText(value) : value,
    ]),
  );
}

/** An instant as text. Other values stay unchanged, for the schema to reject. */
function toInstantText(value: unknown): unknown {
  if (typeof value !== "number" && !(value instanceof Date)) return value;
  const instant = Number(value);
  return Number.isInteger(instant) && instant >= INSTANT_MIN && instant < INSTANT_END ? formatInstant(instant) : value;
}

/**
 * Parses an input with its schema.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, or the first ones of an input with thousands of values,
 * each with its path; the message has the first one
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const problems = collectProblems();
  const shape = readStrictly(schema, raw, problems);
  if (problems.count() === 0) return shape as z.output<Schema>;
  throw inputError(sortByUse(problems.sorted(raw), raw));
}

/**
 * The problems in their order. If every field is unknown, the first missing field comes first, as the message: for
 * example, an event sent without its `event` wrapper gets `event: missing`.
 */
function sortByUse(problems: readonly Problem[], raw: unknown): readonly [Problem, ...Problem[]] {
  const isUnknown = ({ path, code }: Problem): boolean => code === "UNKNOWN_FIELD" && !/[.[]/.test(path.slice(2));
  const fieldCount = typeof raw === "object" && raw !== null ? Object.keys(raw).length : 0;
  const areAllUnknown = fieldCount > 0 && problems.filter(isUnknown).length >= fieldCount;
  const missing = areAllUnknown ? problems.find(({ code }) => code === "MISSING") : undefined;
  const [first, ...others] =
    missing === undefined ? problems : [missing, ...problems.filter((each) => each !== missing)];
  invariant(first !== undefined, "an input that is refused has a problem");
  return [first, ...others];
}
