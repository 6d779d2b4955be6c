/**
 * The organization of a store. It cannot change once the store has a resource.
 *
 * @module
 */
import { readInput } from "../../book/reading/read-request.ts";
import type { Organization } from "../../book/resources/book.ts";
import { organizationRequest } from "../../book/resources/book.ts";
import { quoteText, refusedError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { revisionAfter } from "../configuration-revision.ts";
import type { Configuration } from "../configuration.ts";
import type { EngineContext } from "../context.ts";
import { type Body, CONFIGURED_KINDS, toPlainJson } from "../document-body.ts";
import { method, REQUEST } from "../methods.ts";

/** The expected organization of a store; absent fields are not compared. */
export interface OrganizationRequest {
  readonly id?: string | undefined;
  /** ISO 4217. */
  readonly baseCurrency?: string | undefined;
}

export const organizationMethods = {
  /** Default: `default`, in USD, rounding HALF_UP. */
  get: method({}, async ({ configuration, store }) => (await configuration(store.read)).catalog.book.organization),
  /**
   * Sets the organization of an empty store, or checks that a store in use has the same one.
   *
   * @throws {RatebookError} ERR_INPUT_INVALID; ERR_REFUSED if it differs
   */
  claim: method({ request: REQUEST }, claimOrganization),
};

async function claimOrganization(
  { store, clock, configuration }: EngineContext,
  input: OrganizationRequest,
): Promise<Organization> {
  const { id, baseCurrency } = readInput(organizationRequest, input);
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const before = await configuration(view);
    const { organization } = before.catalog.book;
    const claimedOrganization: Organization = {
      ...organization,
      id: id ?? organization.id,
      baseCurrency: baseCurrency ?? organization.baseCurrency,
    };
    if (await isInUse(before, view)) {
      const [owner, claimant] = [organization, claimedOrganization].map(formatOrganization);
      if (owner === claimant) return { result: organization, changes: {} };
      throw refusedError("S16", `the database belongs to the organization ${owner}, not to ${claimant}`);
    }
    const now = clock();
    const body = toPlainJson(claimedOrganization) as Body;
    const document = { kind: "organization", id: "organization", createdAt: now, updatedAt: now, body } as const;
    return {
      result: claimedOrganization,
      changes: { documents: [document], configurationRevision: revisionAfter(before.revision) },
    };
  });
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
