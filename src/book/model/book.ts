/**
 * A whole book, in input form and as read (book.md).
 *
 * @module
 */
import type {
  Account,
  AccountInput,
  Customer,
  CustomerInput,
  InvoiceGroup,
  InvoiceGroupInput,
} from "../resources/account.ts";
import type { AddOn, AddOnInput, Feature, FeatureInput, Setting, SettingInput } from "../resources/catalog-items.ts";
import type { EventSchema, EventSchemaInput } from "../resources/event-schema.ts";
import type { LintSuppression } from "../resources/lint.ts";
import type { PricePlan, PricePlanInput } from "../resources/price-plan.ts";
import type { UsageMeter, UsageMeterInput } from "../resources/usage-meter.ts";
import type { Maybe } from "./common-types.ts";

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

/** The input form of a book: products, customers and prices. Each list is empty by default. */
export interface BookInput {
  /** The JSON Schema of books, for editors. */
  readonly $schema?: string | undefined;
  /** Default the organization `default`, in USD. */
  readonly organization?: Maybe<OrganizationInput>;
  /** Lint findings that are accepted. */
  readonly lint?: Maybe<readonly LintSuppression[]>;
  /** Values that enrichments use. */
  readonly settings?: Maybe<readonly SettingInput[]>;
  /** The fields of events; several versions are several items with one name. */
  readonly eventSchemas?: Maybe<readonly EventSchemaInput[]>;
  /** What is counted or summed from events. */
  readonly usageMeters?: Maybe<readonly UsageMeterInput[]>;
  /** Features, for which accounts hold feature credits. */
  readonly features?: Maybe<readonly FeatureInput[]>;
  /** The priced items of fixed fee, license and credit grant cards. */
  readonly addOns?: Maybe<readonly AddOnInput[]>;
  /** Prices; several versions are several items with one id. */
  readonly pricePlans?: Maybe<readonly PricePlanInput[]>;
  /** The owners of accounts. */
  readonly customers?: Maybe<readonly CustomerInput[]>;
  /** Accounts: events refer to them, and their customers pay their invoices. */
  readonly accounts?: Maybe<readonly AccountInput[]>;
  /** Groups of accounts whose invoices are consolidated. */
  readonly invoiceGroups?: Maybe<readonly InvoiceGroupInput[]>;
}

/** A checked book: plain data with references as ids (for event schemas: names), parsed rules, and defaults filled in. */
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
  /** Lint findings that are accepted; no effect on prices. */
  readonly lint?: readonly LintSuppression[];
}
