/**
 * A whole book, as it is written and as it is when it was read (book.md).
 *
 * @module
 */
import type { Account, AccountInput, Customer, CustomerInput, InvoiceGroup, InvoiceGroupInput } from "./account.ts";
import type {
  AddOn,
  AddOnInput,
  Feature,
  FeatureInput,
  Setting,
  SettingInput,
  LintSuppression,
} from "./catalog-items.ts";
import type { Maybe } from "./common-types.ts";
import type { EventSchema, EventSchemaInput, UsageMeter, UsageMeterInput } from "./metering.ts";
import type { PricePlan, PricePlanInput } from "./price-plan.ts";

/** The organization of a book. */
export interface OrganizationInput {
  /** 1 to 50 characters, without white space and slashes. */
  readonly id: string;
  /** 1 to 255 characters. */
  readonly name?: Maybe<string>;
  /** ISO 4217; default USD. */
  readonly baseCurrency?: Maybe<string>;
  /** How a card's line is rounded to the currency's minor unit (S1.5); default HALF_UP. */
  readonly rounding?: Maybe<"HALF_UP" | "HALF_EVEN" | "DOWN">;
}
/** The organization of a book. */
export interface Organization {
  readonly id: string;
  readonly name?: Maybe<string>;
  readonly baseCurrency: string;
  readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
}

/** The input form of a book: what is sold, to whom, at what price. Each list is empty by default. */
export interface BookInput {
  /** The JSON Schema of books, for editors. */
  readonly $schema?: string | undefined;
  /** Default the organization `default`, in USD. */
  readonly organization?: Maybe<OrganizationInput>;
  /** Findings of lint that are known and wanted. */
  readonly lint?: Maybe<readonly LintSuppression[]>;
  /** Values that enrichments use. */
  readonly settings?: Maybe<readonly SettingInput[]>;
  /** The fields of events; several versions are several items with one name. */
  readonly eventSchemas?: Maybe<readonly EventSchemaInput[]>;
  /** What is counted or summed of events. */
  readonly usageMeters?: Maybe<readonly UsageMeterInput[]>;
  /** Features, for which accounts hold feature credits. */
  readonly features?: Maybe<readonly FeatureInput[]>;
  /** The priced items of fixed fee, license and credit grant cards. */
  readonly addOns?: Maybe<readonly AddOnInput[]>;
  /** What things cost; several versions are several items with one id. */
  readonly pricePlans?: Maybe<readonly PricePlanInput[]>;
  /** The owners of accounts. */
  readonly customers?: Maybe<readonly CustomerInput[]>;
  /** Accounts: events name them, and their customers pay their invoices. */
  readonly accounts?: Maybe<readonly AccountInput[]>;
  /** Groups of accounts whose invoices are consolidated. */
  readonly invoiceGroups?: Maybe<readonly InvoiceGroupInput[]>;
}

/**
 * A checked book: plain data in which every reference is an id (of an event schema: its name), every rule is parsed,
 * and what was left out is filled in.
 */
export interface Book {
  readonly organization: Organization;
  readonly settings: readonly Setting[];
  readonly eventSchemas: readonly EventSchema[];
  readonly usageMeters: readonly UsageMeter[];
  readonly features: readonly Feature[];
  readonly addOns: readonly AddOn[];
  readonly pricePlans: readonly PricePlan[];
  readonly customers: readonly Customer[];
  readonly accounts: readonly Account[];
  readonly invoiceGroups: readonly InvoiceGroup[];
  /** Findings of lint that are known and wanted; nothing is priced by them. */
  readonly lint?: readonly LintSuppression[];
}
