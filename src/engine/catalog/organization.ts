import { readInput } from "../../book/reading/read-request.ts";
/**
 * The organization of a store. It cannot change once the store has a resource.
 *
 * @module
 */
import type { Organization } from "../../book/resources/book.ts";
import { organizationRequest } from "../../book/resources/book.ts";
import { quoteText, refusedError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { revisionAfter } from "../configuration-revision.ts";
import type { Configuration } from "../configuration.ts";
import type { EngineContext } from "../context.ts";
import { CONFIGURED_KINDS, toPlainJson } from "../document-body.ts";

/** The expected organization of a store; absent fields are not compared. */
export interface OrganizationRequest {
  readonly id?: string | undefined;
  /** ISO 4217. */
  readonly baseCurrency?: string | undefined;
}

/** The organization of a store. */
export interface OrganizationResource {
  /** Default: `default`, in USD, rounding HALF_UP. */
  get(): Promise<Organization>;
  /**
   * Sets the organization of an empty store, or checks that a store in use has the same one.
   *
   * @throws {RatebookError} ERR_INPUT_INVALID; ERR_REFUSED if it differs
   */
  claim(request: OrganizationRequest): Promise<Organization>;
}

export function createOrganizationResource(context: EngineContext): OrganizationResource {
  const { store } = context;
  return {
    get: async () => (await context.configuration(store.read)).catalog.book.organization,
    claim: async (input) => {
      const { id, baseCurrency } = readInput(organizationRequest, input);
      return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
        const before = await context.configuration(view);
        const { organization } = before.catalog.book;
        const claimedOrganization: Organization = {
          ...organization,
          id: id ?? organization.id,
          baseCurrency: baseCurrency ?? organization.baseCurrency,
        };
        const isSame =
          claimedOrganization.id === organization.id && claimedOrganization.baseCurrency === organization.baseCurrency;
        if (await isInUse(before, view)) {
          if (!isSame) throw organizationMismatchError(organization, claimedOrganization);
          return { result: organization, changes: {} };
        }
        const now = context.clock();
        const body = toPlainJson(claimedOrganization) as Readonly<Record<string, unknown>>;
        const document = { kind: "organization", id: "organization", createdAt: now, updatedAt: now, body } as const;
        return {
          result: claimedOrganization,
          changes: { documents: [document], configurationRevision: revisionAfter(before.revision) },
        };
      });
    },
  };
}

/** Whether the organization was set, or something depends on it. */
export async function isInUse({ documents }: Configuration, view: LedgerView): Promise<boolean> {
  if (documents.organization.length > 0 || CONFIGURED_KINDS.some((kind) => documents[kind].length > 0)) return true;
  return (await view.accountList({}, { limit: 1 })).length > 0;
}

/** An organization in a message. */
export function formatOrganization({ id, baseCurrency }: Organization): string {
  return `${quoteText(id)} in ${baseCurrency}`;
}

function organizationMismatchError(owner: Organization, claimant: Organization): Error {
  return refusedError(
    "S16",
    `the database belongs to the organization ${formatOrganization(owner)}, not to ${formatOrganization(claimant)}`,
  );
}
