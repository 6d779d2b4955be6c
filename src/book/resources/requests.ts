/**
 * Requests for operations on accounts and their records, with the schemas and bounds of a book where possible. A day is a
 * date, or an instant that is midnight UTC; an instant is milliseconds since 1970, a `Date`, a date-time with its zone, or
 * a date.
 */
import * as z from "zod";

import type { Instant, InstantInput } from "../../calendar/instant.ts";
import {
  accountTermsFields,
  customerContactFields,
  account,
  credit,
  customer,
  featureCredit,
  invoiceGroup,
  licenseUpdate,
  planAssociation,
} from "./account.ts";
import { setting } from "./catalog-items.ts";
import {
  type Frozen,
  type Maybe,
  type Patch,
  date as dateText,
  dateOrDateTime as dateOrDateTimeText,
  decimal,
  decimalAboveZero,
  email,
  freeForm,
  idSchema,
  name,
  reference,
  type StrictSchema,
} from "./fields.ts";
import {
  type PricePlanDetailsInput,
  type PricePlanDetailsOverrideInput,
  type PricePlanInput,
  pricingCycleConfig,
} from "./price-plan.ts";
import { rateRowsRequest } from "./rate-table.ts";

/** A time in a request: callers in the same process may also use a number or a `Date`, which is converted to text first. */
export interface RequestTimeSchema extends z.ZodType<Instant, InstantInput> {}
const day = dateText as unknown as RequestTimeSchema;
const instant = dateOrDateTimeText as unknown as RequestTimeSchema;

/** A field with a default in a book that is required in a request. */
const withoutDefault = <Field extends z.ZodType>(field: z.ZodPipe<z.ZodOptional<z.ZodNullable<Field>>>): Field =>
  field.in.unwrap().unwrap();

const alias = idSchema(50).min(3);
const key = z.string().min(1).max(255);
const versionNumber = z.int().min(1);

const entitySettingFields = {
  /** 1 to 255 letters, digits, `_` and `-`. */
  id: setting.shape.id,
  /** 1 to 255 letters, digits, `_` and `-`. */
  namespace: withoutDefault(setting.shape.namespace),
  /** 1 to 255 characters. */
  name,
  /** How `value` is read. */
  dataType: withoutDefault(setting.shape.dataType),
  /** A string that parses as the data type. */
  value: setting.shape.value,
};
export interface EntitySettingSchema extends StrictSchema<typeof entitySettingFields> {}
const entitySetting: EntitySettingSchema = z.strictObject(entitySettingFields);
/** A setting created with its customer or account (S4.2). */
export interface EntitySettingRequest extends Frozen<z.input<EntitySettingSchema>> {}

const accountRequestFields = {
  /** 1 to 50 characters, without white space and slashes; no other account's id or alias. */
  id: account.shape.id,
  /** 3 to 255 characters. */
  name: account.shape.name,
  /** The id of a customer that is not archived. */
  customerId: account.shape.customerId,
  /** ISO 4217; default the organization's base currency. */
  invoiceCurrency: account.shape.invoiceCurrency,
  ...accountTermsFields,
  /** At most 10 aliases of 3 to 50 characters each (S16.6); default none. */
  aliases: z.array(alias).max(10).nullish(),
  /** At most 10 settings of its own; default none. */
  settings: z.array(entitySetting).max(10).nullish(),
};
export interface AccountRequestSchema extends StrictSchema<typeof accountRequestFields> {}
const accountCreate: AccountRequestSchema = z.strictObject(accountRequestFields);
/** A new account. */
export interface AccountRequest extends Frozen<z.input<AccountRequestSchema>> {}

const accountPatchFields = {
  /** 3 to 255 characters; it cannot be cleared. */
  name: account.shape.name.optional(),
  ...accountTermsFields,
};
export interface AccountPatchSchema extends StrictSchema<typeof accountPatchFields> {}
const accountPatch: AccountPatchSchema = z.strictObject(accountPatchFields);
/** Changes of an account: omitted fields stay, null clears. */
export interface AccountPatch extends Frozen<z.input<AccountPatchSchema>> {}

const customerRequestFields = {
  /** 1 to 50 characters, without white space and slashes. */
  id: customer.shape.id,
  /** 3 to 255 characters. */
  name: customer.shape.name,
  ...customerContactFields,
  /** At most 10 settings of its own; default none. */
  settings: accountCreate.shape.settings,
  /** Its first account, created together with it or not at all; default none. */
  account: accountCreate.omit({ customerId: true }).nullish(),
};
export interface CustomerRequestSchema extends StrictSchema<typeof customerRequestFields> {}
const customerCreate: CustomerRequestSchema = z.strictObject(customerRequestFields);
/** A new customer, with its first account. */
export interface CustomerRequest extends Frozen<z.input<CustomerRequestSchema>> {}

const customerPatchFields = {
  /** 3 to 255 characters; it cannot be cleared. */
  name: customer.shape.name.optional(),
  ...customerContactFields,
};
export interface CustomerPatchSchema extends StrictSchema<typeof customerPatchFields> {}
const customerPatch: CustomerPatchSchema = z.strictObject(customerPatchFields);
/** Changes of a customer: omitted fields stay, null clears. */
export interface CustomerPatch extends Frozen<z.input<CustomerPatchSchema>> {}

const aliasRequestFields = {
  /** 3 to 50 characters, without white space and slashes. */
  value: alias,
  /** The account that it names; default none. */
  accountId: reference.nullish(),
};
export interface AliasRequestSchema extends StrictSchema<typeof aliasRequestFields> {}
const aliasRequest: AliasRequestSchema = z.strictObject(aliasRequestFields);
/** A new alias (S16.6). */
export interface AliasRequest extends Frozen<z.input<AliasRequestSchema>> {}

const associationRequestFields = {
  /** The id of a price plan with an ACTIVE version. */
  pricePlanId: planAssociation.shape.pricePlanId,
  /** From 1; default the latest ACTIVE one. */
  version: planAssociation.shape.version,
  /** A day, inclusive. */
  effectiveFrom: day,
  /** A day, exclusive; default no end. */
  effectiveUntil: day.nullish(),
  /** Changes of the plan for this account, which are checked with the plan (S16.2); default none. */
  pricePlanDetailsOverride: (
    freeForm as unknown as z.ZodType<z.output<typeof freeForm>, PricePlanDetailsOverrideInput>
  ).nullish(),
  /** Whether the cycles of the previous plan are kept (S16.5); default false. */
  retainStartOffsets: planAssociation.shape.retainStartOffsets,
};
export interface AssociationRequestSchema extends StrictSchema<typeof associationRequestFields> {}
const associate: AssociationRequestSchema = z.strictObject(associationRequestFields);
/** A plan for an account, on the days from `effectiveFrom` up to, but not including, `effectiveUntil` (S16.1). */
export interface AssociationRequest extends Frozen<z.input<AssociationRequestSchema>> {}

const dissociationRequestFields = {
  /** A day, inclusive. */
  effectiveFrom: day,
  /** A day, exclusive; default no end. */
  effectiveUntil: day.nullish(),
  /** If given, the plans on these days must be of this version. */
  version: planAssociation.shape.version,
  /** If given, the account must be on this plan, or on none, on these days. */
  pricePlanId: reference.nullish(),
};
export interface DissociationRequestSchema extends StrictSchema<typeof dissociationRequestFields> {}
const dissociate: DissociationRequestSchema = z.strictObject(dissociationRequestFields);
/** The days on which an account will have no plan (S16.1). */
export interface DissociationRequest extends Frozen<z.input<DissociationRequestSchema>> {}

/** When a migration moves accounts, and whether overrides are kept (S16.5). */
export const MIGRATION_MODES = [
  "IMMEDIATE",
  "IMMEDIATE_IGNORE_OVERRIDE",
  "NEXT_CYCLE",
  "NEXT_CYCLE_IGNORE_OVERRIDE",
] as const;
/** When a migration moves accounts, and whether overrides are kept (S16.5). */
export type MigrationMode = (typeof MIGRATION_MODES)[number];
/** The versions whose accounts move when the next one is activated; default the previous one (S16.4). */
export const VERSIONS_TO_MIGRATE = ["LATEST_VERSION", "ALL_VERSION"] as const;

const migrationRequestFields = {
  /** The id of the accounts' current plan. */
  sourceId: key,
  /** From 1. */
  sourceVersion: versionNumber,
  /** The id of their new plan. */
  targetId: key,
  /** From 1; it must be ACTIVE. */
  targetVersion: versionNumber,
  /** When accounts move, and whether overrides are kept. */
  mode: z.enum(MIGRATION_MODES),
  /** Whether cycles keep their start days; default false. */
  retainStartOffsets: planAssociation.shape.retainStartOffsets,
  /** When cycles begin; default: as in the target. */
  pricingCycleConfig: pricingCycleConfig.nullish(),
};
export interface MigrationRequestSchema extends StrictSchema<typeof migrationRequestFields> {}
const migrate: MigrationRequestSchema = z.strictObject(migrationRequestFields);
/** A move of every account on one version of a plan to another (S16.5). */
export interface MigrationRequest extends Frozen<z.input<MigrationRequestSchema>> {}

const licenseUpdateRequestFields = {
  /** The id of an add-on of the type LICENSE. */
  licenseId: licenseUpdate.shape.licenseId,
  /** ABSOLUTE: `quantity` is the new quantity; RELATIVE: it is added to the previous one. */
  updateType: withoutDefault(licenseUpdate.shape.updateType),
  /** Units. */
  quantity: decimal,
  /** An instant; default now. */
  effectiveFrom: instant.nullish(),
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  idempotencyKey: key.nullish(),
};
export interface LicenseUpdateRequestSchema extends StrictSchema<typeof licenseUpdateRequestFields> {}
const licenseUpdateRequest: LicenseUpdateRequestSchema = z.strictObject(licenseUpdateRequestFields);
/** A change of a license's quantity (S10.1). */
export interface LicenseUpdateRequest extends Frozen<z.input<LicenseUpdateRequestSchema>> {}

const entryGrantRequestFields = {
  /** Units, 0 or more. */
  granted: featureCredit.shape.granted,
  /** An instant, inclusive. */
  effectiveFrom: instant,
  /** An instant, exclusive. */
  effectiveUntil: instant,
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  idempotencyKey: key.nullish(),
};
export interface EntryGrantRequestSchema extends StrictSchema<typeof entryGrantRequestFields> {}
const entryGrant: EntryGrantRequestSchema = z.strictObject(entryGrantRequestFields);
/** Feature credits purchased for an account (S11). */
export interface EntryGrantRequest extends Frozen<z.input<EntryGrantRequestSchema>> {}

const entryPatchFields = {
  /** Units, 0 or more; not below the amount spent. */
  granted: featureCredit.shape.granted.nullish(),
  /** An instant, exclusive; after the last event that spent it. */
  effectiveUntil: instant.nullish(),
};
export interface EntryPatchSchema extends StrictSchema<typeof entryPatchFields> {}
const entryPatch: EntryPatchSchema = z.strictObject(entryPatchFields);
/** Changes of a feature credit entry; omitted fields stay. */
export interface EntryPatch extends Frozen<z.input<EntryPatchSchema>> {}

const creditRequestFields = {
  /** The description on invoices, 1 to 255 characters. */
  purpose: name,
  /** In the account's invoice currency, more than 0. */
  creditAmount: decimalAboveZero,
  /** Lower ones pay first, a whole number (S12.1). */
  priority: z.int(),
  /** A day, inclusive. */
  effectiveFrom: day,
  /** A day, exclusive; default no end. */
  effectiveUntil: day.nullish(),
  /** The items that it can pay for: ids of meters, add-ons and features, or `ALL_…_RATE_CARDS`; default all (S12.2). */
  applicableEntityIds: credit.shape.applicableEntityIds,
  /** The account's id. */
  accountId: reference,
  /** 1 to 255 characters: a repeated request with the same key has no further effect. */
  idempotencyKey: key.nullish(),
};
export interface CreditRequestSchema extends StrictSchema<typeof creditRequestFields> {}
const creditRequest: CreditRequestSchema = z.strictObject(creditRequestFields);
/** Money for an account (S12). */
export interface CreditRequest extends Frozen<z.input<CreditRequestSchema>> {}

const accountIds = z.array(reference).min(1).max(100);
const invoiceGroupRequestFields = {
  /** Days, 0 to 36,500; takes precedence over the accounts'. */
  netTermDays: invoiceGroup.shape.netTermDays,
  /** Days after a cycle, 0 to 36,500; takes precedence over the plan's. */
  gracePeriod: invoiceGroup.shape.gracePeriod,
  /** The postal address, for invoices. */
  address: invoiceGroup.shape.address,
  /** 1 to 255 characters. */
  name,
  /** An e-mail address of at most 255 characters. */
  email,
  /** Whether invoices of one day are combined into one. */
  dailyInvoiceConsolidation: withoutDefault(invoiceGroup.shape.dailyInvoiceConsolidation),
  /** Its accounts, 1 to 100 ids. */
  accountIds,
};
export interface InvoiceGroupRequestSchema extends StrictSchema<typeof invoiceGroupRequestFields> {}
const groupCreate: InvoiceGroupRequestSchema = z.strictObject(invoiceGroupRequestFields);
/** A new invoice group (S16.7). */
export interface InvoiceGroupRequest extends Frozen<z.input<InvoiceGroupRequestSchema>> {}

/** The accounts that migrate when a version is activated (S16.4). */
interface MigrationFields {
  /** How accounts of older versions migrate when the version is activated; default: they do not. */
  readonly mode?: Maybe<MigrationMode>;
  /** Accounts of the previous version, or of all; default LATEST_VERSION. */
  readonly versionsToMigrate?: Maybe<"LATEST_VERSION" | "ALL_VERSION">;
}
/** A new price plan: version 1, a DRAFT, with a generated id (S16.4). */
export type PricePlanRequest = Omit<PricePlanInput, "id" | "status" | "version">;
/** Changes of a DRAFT. */
export interface PricePlanPatch extends Patch<Pick<PricePlanInput, "name" | "description">>, MigrationFields {
  /** Replaces the given fields of the draft; others stay. */
  readonly pricePlanDetails?: Maybe<PricePlanDetailsInput>;
}
/** Changes in the next version of a plan; details are given completely. */
export interface PricePlanVersionRequest extends Patch<Pick<PricePlanInput, "description" | "type">>, MigrationFields {
  /** The prices of the new version; default those of the latest one. */
  readonly pricePlanDetails?: PricePlanDetailsInput | undefined;
}

/** The metrics: units of meters, stored events, or the price of usage. */
export const METRIC_NAMES = ["USAGE", "EVENTS", "REVENUE"] as const;
/** A metric: units of meters, stored events, or the price of usage. */
export type MetricName = (typeof METRIC_NAMES)[number];
/** The length of a point; days begin at midnight UTC, weeks on Monday, months on the first. */
export const AGGREGATION_PERIODS = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
/** The length of a point; days begin at midnight UTC, weeks on Monday, months on the first. */
export type AggregationPeriod = (typeof AGGREGATION_PERIODS)[number];
/** The fields by which series are grouped and filtered. */
const METRIC_FIELDS = ["ACCOUNT_ID", "USAGE_METER_ID", "SCHEMA_NAME", "EVENT_STATUS"] as const;
/** A field by which series are grouped and filtered. */
export type MetricField = (typeof METRIC_FIELDS)[number];
/** What series are grouped by. */
export const METRIC_GROUPS = [...METRIC_FIELDS, "USAGE_GROUP"] as const;
/** What series are grouped by: a field or, for usage, the group of a meter (S18.1). */
export type MetricGroup = (typeof METRIC_GROUPS)[number];

const metricFilterFields = {
  /** The field to match. */
  fieldName: z.enum(METRIC_FIELDS),
  /** Any of these values, 1 to 100. */
  fieldValues: z.array(reference).min(1).max(100),
};
const metricQueryFields = {
  /** Identifies the query in the response, 1 to 50 characters; unique in the request. */
  id: z.string().min(1).max(50),
  /** What is summed: usage of meters, events, or revenue. */
  name: z.enum(METRIC_NAMES),
  /** The length of each point of the series, in UTC. */
  aggregationPeriod: z.enum(AGGREGATION_PERIODS),
  /** Default: one series for everything. USAGE_GROUP, only for usage: one for each group of a meter, a JSON list of its texts. */
  groupBy: z.enum(METRIC_GROUPS).nullish(),
  /** At most 4; events must match all filters, and any value of each; default all events. */
  filters: z.array(z.strictObject(metricFilterFields)).max(METRIC_FIELDS.length).nullish(),
};
export interface MetricQuerySchema extends StrictSchema<typeof metricQueryFields> {}
const metricQuery: MetricQuerySchema = z.strictObject(metricQueryFields);
/** One series, or one for each value of a field. */
export interface MetricQuery extends Frozen<z.input<MetricQuerySchema>> {}

const metricsRequestFields = {
  /** An instant, inclusive. */
  startTime: instant,
  /** An instant, exclusive. */
  endTime: instant,
  /** 1 to 5 queries; each is answered under its id. */
  metricQueries: z.array(metricQuery).min(1).max(5),
};
export interface MetricsRequestSchema extends StrictSchema<typeof metricsRequestFields> {}
export const metricsRequest: MetricsRequestSchema = z.strictObject(metricsRequestFields);
/** Metrics over the time from `startTime` up to, but not including, `endTime`. */
export interface MetricsRequestInput extends Frozen<z.input<MetricsRequestSchema>> {}
/** A parsed request for metrics; times are milliseconds since 1970. */
export type MetricsRequest = z.output<MetricsRequestSchema>;

/** The requests about accounts and their records, by kind. */
export const REQUESTS = {
  customerCreate,
  customerPatch,
  accountCreate,
  accountPatch,
  aliases: z.array(alias).min(1).max(100),
  aliasCreate: z.array(aliasRequest).min(1).max(100),
  associate,
  dissociate,
  migrate,
  licenseUpdate: licenseUpdateRequest,
  entryGrant,
  entryPatch,
  creditCreate: z.array(creditRequest).min(1).max(100),
  groupCreate,
  accountIds,
  rateRows: rateRowsRequest,
} as const;
export type RequestKind = keyof typeof REQUESTS;
/** A parsed request: decimals are Decimals, times are milliseconds since 1970. */
export type RequestOutput<Kind extends RequestKind> = z.output<(typeof REQUESTS)[Kind]>;
