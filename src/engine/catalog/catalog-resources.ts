/** The organization, and the features, add-ons and settings of an engine (S4.2, S11.2). */
import * as z from "zod";

import { readInput } from "../../book/reading/read-request.ts";
import { type Organization, organizationRequest } from "../../book/resources/book.ts";
import {
  type AddOn,
  type AddOnPatch,
  type AddOnRequest,
  type FeaturePatch,
  type FeatureRequest,
  type SettingPatch,
  type SettingRequest,
  SETTING_NAMESPACE,
} from "../../book/resources/catalog-items.ts";
import { invalidInputError, alreadyTakenError, refusedError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { quoteText } from "../../problem-table.ts";
import type { Configuration } from "../configuration.ts";
import { changeConfigured, listConfigured, newDocument } from "../configured-resources.ts";
import { type Body, type DocumentOf, revisionAfter, CONFIGURED_KINDS, toPlainJson } from "../documents.ts";
import { type SettingEntity, readEntitySettings } from "../entity-settings.ts";
import {
  type EngineContext,
  IDS,
  method,
  type Methods,
  pageMethod,
  patchMethod,
  REQUEST,
  textFields,
} from "../methods.ts";
import {
  changeLatest,
  createMethod,
  filterMethod,
  getMethod,
  patchDocument,
  requireUserFields,
  statusMethod,
  updateMethod,
} from "./resource-methods.ts";

export const featureMethods = {
  create: createMethod<"feature", FeatureRequest>("feature", {
    idPrefix: "ft",
    engineFields: ["id", "status", "createdAt", "updatedAt"],
    initialFields: {},
    toInput: withOneSpelling,
  }),
  /** `schemaAssociations` replaces the previous ones. */
  update: updateMethod<"feature", FeaturePatch>("feature", ["id", "createdAt", "updatedAt"], (patch, document) =>
    withKnownAttributes(document, withOneSpelling(patch)),
  ),
  get: getMethod("feature"),
  /** Newest first. */
  list: pageMethod((context, page) => listConfigured(context, "feature", {}, page)),
};

/** Features of an engine, in the shape of a book's `features`. */
export interface Features extends Methods<typeof featureMethods> {}

export const addOnMethods = {
  create: createMethod<"addOn", AddOnRequest>("addOn", {
    idPrefix: "ao",
    engineFields: ["id", "status", "createdAt", "updatedAt"],
    initialFields: { status: "ACTIVE" },
  }),
  /** Changes its name and billableName. */
  update: updateMethod<"addOn", AddOnPatch>("addOn", ["id", "type", "status", "createdAt"]),
  archive: statusMethod("addOn", "ARCHIVED"),
  get: getMethod("addOn"),
  /** Newest first. */
  list: filterMethod<AddOnFilter, "addOn">("addOn", textFields("status", "type")),
};

/** Add-ons of an engine, in the shape of a book's `addOns`. */
export interface AddOns extends Methods<typeof addOnMethods> {}

interface AddOnFilter {
  readonly status?: AddOn["status"] | undefined;
  readonly type?: AddOn["type"] | undefined;
}

export const settingMethods = {
  create: method({ setting: REQUEST }, (context, setting: SettingRequest) =>
    changeConfigured(context, "setting", async ({ before, view, now }) => {
      const body = withDefaults(requireUserFields(setting, []), before.catalog.book.organization.id);
      await checkEntity(view, body);
      const document = newDocument("setting", body, now);
      const { id } = document;
      if (before.documents.setting.some((other) => other.id === id))
        throw alreadyTakenError("setting", id, `the setting ${quoteText(id)} exists`);
      return { documents: [document] };
    }),
  ),
  /** Changes its value, name and dataType. */
  update: patchMethod(async (context, id, patch: SettingPatch) => {
    const input = requireUserFields(patch, ["id", "namespace", "entityType", "entityId"]);
    return changeLatest(context, "setting", id, (document, { now }) => ({
      documents: [patchDocument(document, input, now)],
    }));
  }),
  get: getMethod("setting"),
  /** Newest first. */
  list: filterMethod<SettingFilter, "setting">("setting", textFields("entityType")),
  /** Settings by customer or account id, each oldest first. */
  of: method({ entityType: z.enum(["CUSTOMER", "ACCOUNT"]), entityIds: IDS }, readEntitySettings),
};

interface SettingFilter {
  readonly entityType?: "ORGANIZATION" | SettingEntity | undefined;
}

/** Settings of an engine, in the shape of a book's `settings`; ids are those in lists. */
export interface Settings extends Methods<typeof settingMethods> {}

/** Normalizes the two spellings of a feature's associations, so that a patch replaces either. */
function withOneSpelling(body: Body): Body {
  const { schemaAssocitions, ...rest } = body;
  const { schemaAssociations } = rest;
  if (schemaAssocitions === undefined || (schemaAssocitions === null && schemaAssociations !== undefined)) return rest;
  return (schemaAssociations ?? undefined) === undefined ? { ...rest, schemaAssociations: schemaAssocitions } : body;
}

/** If a patch names an associated schema without an attribute, keeps the existing attribute (S11.2). */
function withKnownAttributes({ body: { schemaAssociations: known } }: DocumentOf<"feature">, body: Body): Body {
  const { schemaAssociations: requested } = body;
  if (!Array.isArray(requested) || !known) return body;
  const knownByName = new Map<unknown, unknown>(
    known.map((each) => [typeof each === "string" ? each : each.schemaName, each]),
  );
  return { ...body, schemaAssociations: requested.map((each: unknown) => knownByName.get(each) ?? each) };
}

/** Fills in the fields that form the id of a setting (S4.2). */
function withDefaults(body: Body, organizationId: string): Body {
  const { namespace, entityType, entityId } = body;
  const isOrganization = (entityType ?? "ORGANIZATION") === "ORGANIZATION";
  return {
    ...body,
    namespace: namespace ?? SETTING_NAMESPACE,
    entityType: entityType ?? "ORGANIZATION",
    entityId: entityId ?? (isOrganization ? organizationId : undefined),
  };
}

async function checkEntity(view: LedgerView, { entityType, entityId }: Body): Promise<void> {
  if (entityType !== "CUSTOMER" && entityType !== "ACCOUNT") return;
  const id = typeof entityId === "string" ? entityId : "";
  const entity = entityType === "CUSTOMER" ? await view.document("customer", id) : (await view.accounts([id]))[0];
  const expected = `expected the id of ${entityType === "CUSTOMER" ? "a customer" : "an account"}`;
  if (entity === undefined) throw invalidInputError("entityId", "UNKNOWN_ID", expected);
}

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
    const { id: ownId, baseCurrency: ownCurrency } = organization;
    const claimed: Organization = { ...organization, id: id ?? ownId, baseCurrency: baseCurrency ?? ownCurrency };
    if (await isInUse(before, view)) {
      const [owner, claimant] = [organization, claimed].map(formatOrganization);
      if (owner === claimant) return { result: organization, changes: {} };
      throw refusedError("S16", `the database belongs to the organization ${owner}, not to ${claimant}`);
    }
    const now = clock();
    const body = toPlainJson(claimed) as Body;
    const document = { kind: "organization", id: "organization", createdAt: now, updatedAt: now, body } as const;
    const configurationRevision = revisionAfter(before.revision);
    return { result: claimed, changes: { documents: [document], configurationRevision } };
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
