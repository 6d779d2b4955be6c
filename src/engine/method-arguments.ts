/**
 * Checks the arguments of engine methods for callers without types, before anything is done. Requests and books have
 * their own schemas.
 *
 * @module
 */
import * as z from "zod";

import { readInput } from "../book/reading/read-request.ts";
import { EVENT_LINE_TYPES } from "../ledger/charged-line.ts";

/** The arguments of a method, in order, with their schemas. */
export type MethodArguments = Readonly<Record<string, z.ZodType>>;

/** The arguments of every method of an engine or a part of it. */
export type ArgumentsOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...input: never[]) => unknown
    ? MethodArguments
    : ArgumentsOf<Part[Name]>;
};

/** Wraps a part of an engine; its methods reject with ERR_INPUT_INVALID for invalid arguments. */
export function withCheckedArguments<Part extends object>(part: Part, expected: ArgumentsOf<Part>): Part {
  const checked = Object.entries(part).map(([name, argument]: readonly [string, unknown]) => {
    const expectedArguments = expected[name as keyof Part];
    return [
      name,
      typeof argument === "function"
        ? withArgumentCheck(argument as Method, expectedArguments as MethodArguments)
        : withCheckedArguments(argument as object, expectedArguments as ArgumentsOf<object>),
    ];
  });
  return Object.fromEntries(checked) as Part;
}

type Method = (...input: readonly unknown[]) => Promise<unknown>;

function withArgumentCheck(method: Method, expectedArguments: MethodArguments): Method {
  const names = Object.keys(expectedArguments);
  const schema = z.object(expectedArguments);
  return async (...input) => {
    readInput(schema, Object.fromEntries(names.map((name, place) => [name, input[place]])));
    return method(...input);
  };
}

/** Not checked here: the method validates it with its own schema or parser. */
const CHECKED_LATER = z.unknown();
const ID = z.string();
const IDS = z.array(ID);
const TEXT = ID.optional();
const VERSION = z.number().optional();
const PAGE = z
  .looseObject({ after: z.looseObject({ createdAt: z.number(), id: ID }).optional(), limit: CHECKED_LATER.optional() })
  .optional();
/** The options of a list. Unknown ones are rejected: a filter outside of `filter` would have no effect. */
const listArguments = (filter?: z.ZodType): MethodArguments => ({
  options: z.strictObject({ ...(filter && { filter }), page: PAGE }).optional(),
});
const INSTANT = z.union([z.number(), ID, z.instanceof(Date)]);
/** The pacing of background work. */
const PACING = z.strictObject({ rest: z.number().min(0).optional(), onProgress: CHECKED_LATER.optional() }).optional();
const RANGE = z.looseObject({ from: INSTANT, until: INSTANT }).optional();
const FEATURE_TARGET = z.looseObject({ accountId: ID, featureId: ID });
const ENTRY_TARGET = z.looseObject({ accountId: ID, entryId: ID, featureId: TEXT });
const USAGE_QUERY = z.looseObject({ accountIds: IDS, from: CHECKED_LATER, until: CHECKED_LATER });
const OPTIONS = z.looseObject({}).optional();

const byStatus = z.looseObject({ status: TEXT }).optional();
const patchArguments = { id: ID, patch: CHECKED_LATER } as const;
const idArgument = { id: ID } as const;
const page = listArguments();
const nameArgument = { name: ID } as const;
const accountArguments = { accountId: ID, request: CHECKED_LATER } as const;

/** The arguments of an engine's methods. */
export const ENGINE_ARGUMENTS = {
  load: { book: CHECKED_LATER },
  exportBook: {
    options: z
      .strictObject({
        accountsMax: z.number().int().min(0).optional(),
        pricePlansLength: z.number().int().min(0).optional(),
      })
      .optional(),
  },
  ingest: { events: z.custom<readonly unknown[]>(Array.isArray, "expected a list of events") },
  entitle: { event: CHECKED_LATER },
  undo: { filter: z.looseObject({}) },
  preview: { options: z.looseObject({ accountIds: IDS.optional() }).optional() },
  finalize: { asOf: CHECKED_LATER, options: PACING },
  pruneEvents: { options: PACING },
  associate: accountArguments,
  dissociate: accountArguments,
  migrate: { request: CHECKED_LATER },
  migrations: { list: page },
  usage: { query: USAGE_QUERY },
  overage: { query: USAGE_QUERY },
  lateUsage: { query: USAGE_QUERY },
  metrics: { request: CHECKED_LATER },
  calculateRevenue: { request: CHECKED_LATER },
  creditBalance: { accountId: ID },
  events: {
    list: listArguments(
      z
        .looseObject({
          accountId: TEXT,
          schemaName: TEXT,
          status: TEXT,
          accepted: z.boolean().optional(),
          reverted: z.boolean().optional(),
          eventId: TEXT,
          referenceId: TEXT,
          timestamp: RANGE,
          createdAt: RANGE,
        })
        .optional(),
    ),
    get: idArgument,
    keptSince: {},
    cycles: { events: z.array(z.looseObject({ accountId: ID, timestamp: z.number() })) },
  },
  invoices: {
    list: listArguments(z.looseObject({ accountId: TEXT, customerId: TEXT, status: TEXT }).optional()),
    get: idArgument,
    lineEvents: {
      of: z.strictObject({ invoiceId: ID, lineId: ID, type: z.enum(EVENT_LINE_TYPES).optional() }),
      ...page,
    },
  },
  compositeInvoices: { list: listArguments(z.looseObject({ invoiceGroupId: TEXT }).optional()), get: idArgument },
  organization: { get: {}, claim: { request: CHECKED_LATER } },
  settings: {
    create: { setting: CHECKED_LATER },
    update: patchArguments,
    get: idArgument,
    list: listArguments(z.looseObject({ entityType: TEXT }).optional()),
    of: { entityType: z.enum(["CUSTOMER", "ACCOUNT"]), entityIds: IDS },
  },
  eventSchemas: {
    create: { schema: CHECKED_LATER },
    update: { name: ID, patch: CHECKED_LATER },
    activate: nameArgument,
    deactivate: nameArgument,
    archive: nameArgument,
    get: { name: ID, version: VERSION },
    list: listArguments(byStatus),
    versions: { name: ID, ...page },
  },
  usageMeters: {
    create: { meter: CHECKED_LATER },
    update: patchArguments,
    activate: idArgument,
    deactivate: idArgument,
    archive: idArgument,
    get: idArgument,
    list: listArguments(z.looseObject({ status: TEXT, aggregation: TEXT }).optional()),
  },
  features: { create: { feature: CHECKED_LATER }, update: patchArguments, get: idArgument, list: page },
  addOns: {
    create: { addOn: CHECKED_LATER },
    update: patchArguments,
    archive: idArgument,
    get: idArgument,
    list: listArguments(z.looseObject({ status: TEXT, type: TEXT }).optional()),
  },
  pricePlans: {
    create: { plan: CHECKED_LATER },
    update: patchArguments,
    createVersion: { id: ID, changes: CHECKED_LATER },
    activate: { id: ID, options: z.looseObject({ currencies: IDS.optional() }).optional() },
    archive: idArgument,
    get: { id: ID, version: VERSION },
    versions: idArgument,
    list: listArguments(byStatus),
  },
  invoiceGroups: {
    create: { group: CHECKED_LATER },
    addAccounts: { id: ID, accountIds: CHECKED_LATER },
    removeAccounts: { id: ID, accountIds: CHECKED_LATER },
    get: idArgument,
    list: page,
  },
  customers: {
    create: { customer: CHECKED_LATER },
    update: patchArguments,
    archive: idArgument,
    get: idArgument,
    list: page,
  },
  accounts: {
    create: { account: CHECKED_LATER },
    update: patchArguments,
    archive: idArgument,
    get: { id: ID, options: OPTIONS },
    list: listArguments(z.looseObject({ customerId: TEXT, status: TEXT, invoiceGroupId: TEXT }).optional()),
    addAliases: { id: ID, aliases: z.array(CHECKED_LATER) },
    removeAliases: { id: ID, aliases: z.array(CHECKED_LATER) },
    pricingSchedules: idArgument,
  },
  aliases: { create: { aliases: CHECKED_LATER }, remove: { alias: ID }, get: { alias: ID }, list: page },
  licenses: {
    update: accountArguments,
    list: listArguments(z.looseObject({ accountId: TEXT, licenseId: TEXT }).optional()),
  },
  entries: {
    grant: { of: FEATURE_TARGET, request: CHECKED_LATER },
    update: { of: ENTRY_TARGET, patch: CHECKED_LATER },
    void: { of: ENTRY_TARGET },
    list: { of: FEATURE_TARGET, ...page },
    balance: { of: FEATURE_TARGET },
  },
  credits: {
    create: { credits: CHECKED_LATER },
    void: idArgument,
    get: idArgument,
    list: listArguments(z.looseObject({ accountId: TEXT }).optional()),
  },
} as const;
