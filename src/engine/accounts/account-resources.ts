/**
 * The methods of an engine for customers, accounts and what belongs to them.
 *
 * @module
 */
import type {
  AccountPatch,
  AccountRequest,
  AliasRequest,
  CreditRequest,
  CustomerPatch,
  CustomerRequest,
  EntryGrantRequest,
  EntryPatch,
  LicenseUpdateRequest,
} from "../../book/resources/requests.ts";
import type { InstantInput } from "../../calendar/instant.ts";
import type { CreditSnapshot } from "../../ledger/commands/credits.ts";
import type { LicenseUpdateResult } from "../../ledger/commands/licenses.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { type CreditFilter, listCredits } from "../billing/credit-lists.ts";
import * as credits from "../billing/credits.ts";
import * as entries from "../billing/entries.ts";
import * as licenses from "../billing/licenses.ts";
import type { WithSkipped } from "../billing/skipped-accounts.ts";
import type { EngineContext } from "../context.ts";
import type { ListOptions, Page, PagedOptions } from "../pages.ts";
import * as accounts from "./accounts.ts";
import * as aliases from "./aliases.ts";
import * as customers from "./customers.ts";
import { listSchedules, type PricingSchedule } from "./plans.ts";

/** Customers of an engine. */
export interface Customers {
  /** Creates a customer, with its first account if given: both or none. */
  create(customer: CustomerRequest): Promise<customers.CreatedCustomer>;
  /** Null clears a field. */
  update(id: string, patch: CustomerPatch): Promise<customers.CustomerSnapshot>;
  /** Archives its accounts too; rejected if one of them cannot be archived (S16.3). */
  archive(id: string): Promise<customers.CustomerSnapshot>;
  get(id: string): Promise<customers.CustomerSnapshot>;
  /** Newest first. */
  list(options?: PagedOptions): Promise<Page<customers.CustomerSnapshot>>;
}

/** Accounts of an engine. */
export interface Accounts {
  create(account: AccountRequest): Promise<AccountRecord>;
  /** Null clears a field. */
  update(id: string, patch: AccountPatch): Promise<AccountRecord>;
  /** Rejected while a plan is associated now or later, or a draft invoice is open (S16.3). */
  archive(id: string): Promise<AccountRecord>;
  /** `effectiveOn`: with the aliases and the invoice group at that instant (S16.6, S16.7); default now. */
  get(id: string, options?: { readonly effectiveOn?: InstantInput | undefined }): Promise<AccountRecord>;
  /** Newest first. */
  list(
    options?: ListOptions<{
      readonly customerId?: string;
      readonly status?: "ACTIVE" | "ARCHIVED";
      readonly invoiceGroupId?: string;
    }>,
  ): Promise<Page<AccountRecord>>;
  /** At most 10 in total (S16.6). */
  addAliases(id: string, aliases: readonly string[]): Promise<AccountRecord>;
  removeAliases(id: string, aliases: readonly string[]): Promise<AccountRecord>;
  /** The past, current and future plans of an account, earliest first. */
  pricingSchedules(id: string): Promise<readonly PricingSchedule[]>;
}

/** Aliases, of accounts or not assigned yet (S16.6). */
export interface Aliases {
  create(requests: readonly AliasRequest[]): Promise<readonly aliases.AliasSnapshot[]>;
  remove(alias: string): Promise<void>;
  get(alias: string): Promise<aliases.AliasSnapshot>;
  /** Newest first. */
  list(options?: PagedOptions): Promise<Page<aliases.AliasSnapshot>>;
}

/** Licenses of accounts (S10.1). */
export interface Licenses {
  update(accountId: string, update: LicenseUpdateRequest): Promise<LicenseUpdateResult>;
  /** Newest first. */
  list(
    options?: ListOptions<{ readonly accountId?: string; readonly licenseId?: string }>,
  ): Promise<Page<licenses.LicenseUpdateSnapshot>>;
}

/** Feature credit entries of accounts (S11). */
export interface Entries {
  grant(of: entries.FeatureTarget, entry: EntryGrantRequest): Promise<entries.EntrySnapshot>;
  update(of: entries.EntryTarget, patch: EntryPatch): Promise<entries.EntrySnapshot>;
  void(of: entries.EntryTarget): Promise<entries.EntrySnapshot>;
  /** Newest first. */
  list(of: entries.FeatureTarget, options?: PagedOptions): Promise<Page<entries.EntrySnapshot>>;
  /** The current balance of a feature. */
  balance(of: entries.FeatureTarget): Promise<entries.FeatureBalance>;
}

/** Monetary credits of accounts (S12). */
export interface Credits {
  /** Creates all or none. */
  create(credits: readonly CreditRequest[]): Promise<readonly CreditSnapshot[]>;
  void(id: string): Promise<CreditSnapshot>;
  get(id: string): Promise<CreditSnapshot>;
  /** Newest first. */
  list(options?: ListOptions<CreditFilter>): Promise<Page<CreditSnapshot> & WithSkipped>;
}

/** The methods of an engine for accounts. */
export interface AccountResources {
  readonly customers: Customers;
  readonly accounts: Accounts;
  readonly aliases: Aliases;
  readonly licenses: Licenses;
  readonly entries: Entries;
  readonly credits: Credits;
}

export function createAccountResources(context: EngineContext): AccountResources {
  return {
    customers: {
      create: (customer) => customers.createCustomer(context, customer),
      update: (id, patch) => customers.updateCustomer(context, id, patch),
      archive: (id) => customers.archiveCustomer(context, id),
      get: (id) => customers.getCustomer(context, id),
      list: ({ page = {} } = {}) => customers.listCustomers(context, page),
    },
    accounts: {
      create: (account) => accounts.createAccount(context, account),
      update: (id, patch) => accounts.updateAccount(context, id, patch),
      archive: (id) => accounts.archiveAccount(context, id),
      get: (id, options = {}) => accounts.readAccount(context, id, options),
      list: ({ filter = {}, page = {} } = {}) => accounts.listAccounts(context, filter, page),
      addAliases: (id, names) => accounts.addAliases(context, id, [...names]),
      removeAliases: (id, names) => accounts.removeAliases(context, id, [...names]),
      pricingSchedules: (id) => listSchedules(context, id),
    },
    aliases: {
      create: (requests) => aliases.createAliases(context, requests),
      remove: (alias) => aliases.removeAlias(context, alias),
      get: (alias) => aliases.getAlias(context, alias),
      list: ({ page = {} } = {}) => aliases.listAliases(context, page),
    },
    licenses: {
      update: (accountId, update) => licenses.updateLicense(context, accountId, update),
      list: ({ filter = {}, page = {} } = {}) => licenses.listLicenseUpdates(context, filter, page),
    },
    entries: {
      grant: (of, entry) => entries.grantEntry(context, of, entry),
      update: (of, patch) => entries.updateEntry(context, of, patch),
      void: (of) => entries.voidEntry(context, of),
      list: (of, { page = {} } = {}) => entries.listEntries(context, of, page),
      balance: (of) => entries.featureBalance(context, of),
    },
    credits: {
      create: (requests) => credits.createCredits(context, requests),
      void: (id) => credits.voidCredit(context, id),
      get: (id) => credits.readCredit(context, id),
      list: ({ filter = {}, page = {} } = {}) => listCredits(context, filter, page),
    },
  };
}
