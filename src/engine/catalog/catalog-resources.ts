/**
 * Features, add-ons and settings of an engine (S4.2, S11.2).
 *
 * @module
 */
import type {
  AddOn,
  Feature,
  AddOnPatch,
  AddOnRequest,
  FeaturePatch,
  FeatureRequest,
  SettingPatch,
  SettingRequest,
} from "../../book/resources/catalog-items.ts";
import { SETTING_NAMESPACE } from "../../book/resources/catalog-items.ts";
import { invalidInputError, quoteText, alreadyTakenError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import {
  changeConfigured,
  requireUserFields,
  checkName,
  requireDocument,
  documentsOfKind,
  readConfigured,
  type KindWords,
  listConfigured,
  changeStatus,
  addDocument,
  newDocument,
  patchDocument,
  type StoredResource,
} from "../configured-resources.ts";
import type { EngineContext } from "../context.ts";
import type { Body, ConfiguredItem } from "../document-body.ts";
import type { DocumentOf } from "../documents.ts";
import { type SettingEntity, readEntitySettings, type StoredSetting } from "../entity-settings.ts";
import type { ListOptions, Page, PagedOptions } from "../pages.ts";

/** Features of an engine, in the shape of a book's `features`. */
export interface Features {
  create(feature: FeatureRequest): Promise<StoredResource<Feature>>;
  /** `schemaAssociations` replaces the previous ones. */
  update(id: string, patch: FeaturePatch): Promise<StoredResource<Feature>>;
  get(id: string): Promise<StoredResource<Feature>>;
  /** Newest first. */
  list(options?: PagedOptions): Promise<Page<StoredResource<Feature>>>;
}

/** Add-ons of an engine, in the shape of a book's `addOns`. */
export interface AddOns {
  create(addOn: AddOnRequest): Promise<StoredResource<AddOn>>;
  /** Changes its name and billableName. */
  update(id: string, patch: AddOnPatch): Promise<StoredResource<AddOn>>;
  archive(id: string): Promise<StoredResource<AddOn>>;
  get(id: string): Promise<StoredResource<AddOn>>;
  /** Newest first. */
  list(
    options?: ListOptions<{ readonly status?: AddOn["status"] | undefined; readonly type?: AddOn["type"] | undefined }>,
  ): Promise<Page<StoredResource<AddOn>>>;
}

/** Settings of an engine, in the shape of a book's `settings`; ids are those in lists. */
export interface Settings {
  create(setting: SettingRequest): Promise<StoredSetting>;
  /** Changes its value, name and dataType. */
  update(id: string, patch: SettingPatch): Promise<StoredSetting>;
  get(id: string): Promise<StoredSetting>;
  /** Newest first. */
  list(
    options?: ListOptions<{ readonly entityType?: "ORGANIZATION" | SettingEntity | undefined }>,
  ): Promise<Page<StoredSetting>>;
  /** Settings by customer or account id, each oldest first. */
  of(entityType: SettingEntity, entityIds: readonly string[]): Promise<ReadonlyMap<string, readonly StoredSetting[]>>;
}

const FEATURE: KindWords = { noun: "feature", rule: "S11.2" };
const ADD_ON: KindWords = { noun: "add-on", rule: "S16.4" };
const SETTING: KindWords = { noun: "setting", rule: "S4.2" };

export function createFeatures(context: EngineContext): Features {
  const resource = createSimpleResource(context, {
    kind: "feature",
    words: FEATURE,
    prefix: "ft",
    patchFor: withKnownAttributes,
  });
  return {
    create: (body) => resource.create(body),
    update: async (id, patch) =>
      resource.update(id, withOneSpelling(requireUserFields(patch, ["id", "createdAt", "updatedAt"]))),
    get: (id) => resource.get(id),
    list: ({ page = {} } = {}) => listConfigured(context, "feature", (documents) => documents, page),
  };
}

export function createAddOns(context: EngineContext): AddOns {
  const resource = createSimpleResource(context, {
    kind: "addOn",
    words: ADD_ON,
    prefix: "ao",
    patchFor: (_, body) => body,
  });
  return {
    create: (body) => resource.create(body),
    update: async (id, patch) => resource.update(id, requireUserFields(patch, ["id", "type", "status", "createdAt"])),
    archive: (id) =>
      changeConfigured(context, "addOn", ({ before, now }) => {
        const document = requireDocument(before.documents.addOn, ADD_ON.noun, id);
        return { documents: [changeStatus(document, ADD_ON, { ARCHIVED: ["ACTIVE"] }, "ARCHIVED", now)] };
      }),
    get: (id) => resource.get(id),
    list: ({ filter: { status, type } = {}, page = {} } = {}) =>
      listConfigured(
        context,
        "addOn",
        (documents) =>
          documents.filter(
            ({ body }) =>
              (status === undefined || body.status === status) && (type === undefined || body.type === type),
          ),
        page,
      ),
  };
}

export function createSettings(context: EngineContext): Settings {
  const get = (id: string): Promise<StoredSetting> =>
    readConfigured(context, "setting", (documents) => requireDocument(documents, SETTING.noun, id));
  return {
    create: (setting) =>
      changeConfigured(context, "setting", async ({ before, view, now }) => {
        const body = withDefaults(requireUserFields(setting, []), before.catalog.book.organization.id);
        await checkEntity(view, body);
        const document = newDocument("setting", body, now);
        checkIdFree(before.documents.setting, SETTING, document.id);
        return { documents: [document] };
      }),
    update: (id, patch) =>
      changeConfigured(context, "setting", ({ before, now }) => {
        const body = requireUserFields(patch, ["id", "namespace", "entityType", "entityId"]);
        return { documents: [patchDocument(requireDocument(before.documents.setting, SETTING.noun, id), body, now)] };
      }),
    get,
    list: ({ filter: { entityType } = {}, page = {} } = {}) =>
      listConfigured(
        context,
        "setting",
        (documents) => documents.filter(({ body }) => entityType === undefined || body.entityType === entityType),
        page,
      ),
    of: (entityType, entityIds) => readEntitySettings(context, entityType, entityIds),
  };
}

interface SimpleResource<Kind extends "feature" | "addOn"> {
  create(body: object): Promise<StoredResource<ConfiguredItem<Kind>>>;
  update(id: string, body: object): Promise<StoredResource<ConfiguredItem<Kind>>>;
  get(id: string): Promise<StoredResource<ConfiguredItem<Kind>>>;
}

/** The configuration of a kind of resource. */
interface SimpleKind<Kind extends "feature" | "addOn"> {
  readonly kind: Kind;
  readonly words: KindWords;
  /** The prefix of its ids. */
  readonly prefix: string;
  /** Converts a patch to one of the document. */
  readonly patchFor: (document: DocumentOf<Kind>, body: Body) => Body;
}

/** Methods of resources with generated ids and unique names. */
function createSimpleResource<Kind extends "feature" | "addOn">(
  context: EngineContext,
  { kind, words, prefix, patchFor }: SimpleKind<Kind>,
): SimpleResource<Kind> {
  return {
    create: (input) =>
      changeConfigured(context, kind, ({ before, now }) => {
        const body = requireUserFields(input, ["id", "status", "createdAt", "updatedAt"]);
        checkName(documentsOfKind(kind, before.documents), words, body);
        const status = kind === "addOn" ? { status: "ACTIVE" } : {};
        const document = addDocument(
          before,
          kind,
          { ...withOneSpelling(body), ...status, id: context.ids(prefix) },
          now,
        );
        return { documents: [document] };
      }),
    update: (id, body) =>
      changeConfigured(context, kind, ({ before, now }) => {
        const documents = documentsOfKind(kind, before.documents);
        const document = requireDocument(documents, words.noun, id);
        const next = patchDocument(document, patchFor(document, requireUserFields(body, [])), now);
        checkName(documents, words, next.body, (each) => each.id === id);
        return { documents: [next] };
      }),
    get: (id) => readConfigured(context, kind, (documents) => requireDocument(documents, words.noun, id)),
  };
}

/** Normalizes the two spellings of a feature's associations, so that a patch replaces either. */
function withOneSpelling(body: Body): Body {
  const { schemaAssocitions, ...rest } = body;
  const { schemaAssociations } = rest;
  if (schemaAssocitions === undefined || (schemaAssocitions === null && schemaAssociations !== undefined)) return rest;
  return (schemaAssociations ?? undefined) === undefined ? { ...rest, schemaAssociations: schemaAssocitions } : body;
}

/** If a patch names an associated schema without an attribute, keeps the existing attribute (S11.2). */
function withKnownAttributes(
  { body: { schemaAssociations: knownAssociations } }: DocumentOf<"feature">,
  body: Body,
): Body {
  const { schemaAssociations: requested } = body;
  if (!Array.isArray(requested) || !knownAssociations) return body;
  const associationsByName = new Map(
    knownAssociations.map((each) => [typeof each === "string" ? each : each.schemaName, each]),
  );
  return {
    ...body,
    schemaAssociations: requested.map((each: unknown) =>
      typeof each === "string" ? (associationsByName.get(each) ?? each) : each,
    ),
  };
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
  const noun = entityType.toLowerCase();
  const id = typeof entityId === "string" ? entityId : "";
  const entity = entityType === "CUSTOMER" ? await view.document("customer", id) : (await view.accounts([id]))[0];
  if (entity === undefined)
    throw invalidInputError("entityId", "UNKNOWN_ID", `expected the id of ${noun === "account" ? "an" : "a"} ${noun}`);
}

function checkIdFree(documents: Parameters<typeof requireDocument>[0], { noun }: KindWords, id: string): void {
  if (documents.some((document) => document.id === id))
    throw alreadyTakenError(noun, id, `the ${noun} ${quoteText(id)} exists`);
}
