/** Features (S11.2), add-ons and settings (S4.2) over HTTP. */
import * as z from "zod";

import { type Feature, feature, type AddOn, addOn, setting } from "../../../book/resources/catalog-items.ts";
import { label } from "../../../book/resources/fields.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { configuredDocumentId } from "../../../engine/documents.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { StoredSetting } from "../../../engine/entity-settings.ts";
import { toAnswer, createAnswerDeriver } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { timestamp, pathId } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

const featureShape = z
  .strictObject({
    id: z.string(),
    name: z.string().max(255),
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
    description: z.string().optional(),
    schemaAssociations: z.array(z.string()).max(50).meta({ description: "Names of event schemas." }),
    schemaAttributes: z
      .array(z.strictObject({ schemaName: z.string(), attributeName: z.string() }))
      .max(50)
      .meta({
        description:
          "The attribute of each schema with the credits that an event consumes; empty: each event consumes 1.",
      }),
    schemaCount: z.int().min(0).max(50),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Feature" });

function toFeatureJson({ item, createdAt, updatedAt }: StoredResource<Feature>): z.input<typeof featureShape> {
  return toAnswer(featureShape, {
    ...item,
    createdAt,
    updatedAt,
    schemaAssociations: item.schemaAssociations.map(({ schemaName }) => schemaName),
    schemaAttributes: item.schemaAssociations,
    schemaCount: item.schemaAssociations.length,
  });
}

const featureFields = {
  billableName: feature.shape.billableName,
  /** Limited in requests only; stored descriptions may be longer. */
  description: label,
  schemaAssocitions: feature.shape.schemaAssocitions.meta({
    description:
      "Names of event schemas, or each with the attribute that contains the credits an event consumes; if it is empty, each event consumes 1.",
  }),
  schemaAssociations: feature.shape.schemaAssociations.meta({ description: "The same field, spelled correctly." }),
};
/** The spelling of the reference, for requests without the correct one. */
const FEATURE_WIRE_NAMES = { schemaAssociations: "schemaAssocitions" };
const FEATURES = new ResourceEndpoints<StoredResource<Feature>>({
  tag: "Features",
  path: "/features",
  methods: (engine) => engine.features,
  idName: "feature_id",
  shape: featureShape,
  toJson: toFeatureJson,
});

export const FEATURE_ENDPOINTS: readonly Endpoint[] = [
  FEATURES.create({
    id: "createFeature",
    summary: "Create a feature",
    description:
      "The events of a schema consume credits of one feature. If only the schema's name is given, its first attribute is used; " +
      "if it has none, each event consumes 1.",
    body: z.strictObject({ name: feature.shape.name, ...featureFields }),
    wireNames: FEATURE_WIRE_NAMES,
  }),
  FEATURES.list({ id: "listFeatures", summary: "List features, newest first", answerId: "FeatureList" }),
  FEATURES.get({ id: "getFeature", summary: "Get a feature" }),
  FEATURES.update({
    id: "updateFeature",
    summary: "Change a feature",
    description:
      "Associations replace the existing ones. If only the schema's name is given, the current attribute is kept. Without one, " +
      "the schema's first attribute is used; if it has none, each event consumes 1.",
    body: z.strictObject({ name: feature.shape.name.optional(), ...featureFields }),
    wireNames: FEATURE_WIRE_NAMES,
  }),
];

const { name, billableName } = addOn.shape;
const addOnShape = createAnswerDeriver().deriveObject(
  addOn,
  {
    name: z.string().max(255),
    type: addOn.shape.type.meta({ description: "The kind of rate card that prices the add-on." }),
    createdAt: timestamp,
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
  },
  { id: "AddOn" },
);
const { type, status } = addOnShape.shape;
const ADD_ONS = new ResourceEndpoints<StoredResource<AddOn>>({
  tag: "Add-ons",
  path: "/addons",
  methods: (engine) => engine.addOns,
  idName: "addon_id",
  shape: addOnShape,
  toJson: toAddOnJson,
});

export const ADD_ON_ENDPOINTS: readonly Endpoint[] = [
  ADD_ONS.create({
    id: "createAddOn",
    summary: "Create an add-on",
    body: z.strictObject({ name, type, billableName }),
  }),
  ADD_ONS.list({
    id: "listAddOns",
    summary: "List add-ons, newest first",
    filters: { status: status.optional(), type: type.optional() },
    answerId: "AddOnList",
  }),
  ADD_ONS.get({ id: "getAddOn", summary: "Get an add-on" }),
  ADD_ONS.update({
    id: "updateAddOn",
    summary: "Change an add-on's names",
    body: z.strictObject({ name: name.optional(), billableName }),
  }),
  ADD_ONS.remove({
    id: "archiveAddOn",
    summary: "Archive an add-on",
    description: "Plans that already use it keep it.",
  }),
];

function toAddOnJson({ item, createdAt }: StoredResource<AddOn>): z.input<typeof addOnShape> {
  return toAnswer(addOnShape, { ...item, createdAt });
}

export const settingShape = createAnswerDeriver().deriveObject(
  setting,
  {
    id: z.string().meta({
      description:
        "`setting.<namespace>.<id>` in lower case, with `.<entityType>.<entityId>` at the end for customers and accounts.",
    }),
    value: z.string().meta({ description: "The value as it was sent." }),
    entityId: z.string(),
  },
  { id: "Setting" },
);

export function toSettingJson({ item, input }: StoredSetting): z.input<typeof settingShape> {
  return toAnswer(settingShape, { ...item, id: configuredDocumentId("setting", input) });
}

/** The maximum length of `setting.<namespace>.<id>.<entityType>.<entityId>`. */
const ID_MAX = 1100;
const { id, value, entityType, entityId } = setting.shape;
const namespace = setting.shape.namespace.in.unwrap().unwrap();
const settingName = z.string().max(255);
const dataType = settingShape.shape.dataType;
const SETTINGS = new ResourceEndpoints<StoredSetting>({
  tag: "Settings",
  path: "/settings",
  methods: (engine) => engine.settings,
  idName: "setting_id_str",
  idSchema: pathId(ID_MAX),
  shape: settingShape,
  toJson: toSettingJson,
});

export const SETTING_ENDPOINTS: readonly Endpoint[] = [
  SETTINGS.create({
    id: "createSetting",
    summary: "Create a setting",
    description:
      "`id` is the short id. The response has `setting.<namespace>.<id>` in lower case, with `.<entityType>.<entityId>` " +
      "at the end for customers and accounts. The value must parse as its dataType.",
    body: z.strictObject({ id, value, entityType, entityId, namespace, name: settingName, dataType }),
    status: 201,
  }),
  SETTINGS.list({
    id: "listSettings",
    summary: "List settings, newest first",
    filters: { entity_type: settingShape.shape.entityType.optional() },
    answerId: "SettingList",
  }),
  SETTINGS.get({
    id: "getSetting",
    summary: "Get a setting",
    run: async ({ engine, id }) => engine.settings.get(await resolveSettingId(engine, id)),
  }),
  SETTINGS.update({
    id: "updateSetting",
    summary: "Change a setting",
    description: "Events ingested from now on use it. The value must parse as its dataType.",
    body: z.strictObject({ value: value.optional(), name: settingName.optional(), dataType: dataType.optional() }),
    run: async ({ engine, id, body }) => engine.settings.update(await resolveSettingId(engine, id), body),
  }),
];

const LONG_ID = /^setting\.([\w-]+)\.([\w-]+)\.(organization|customer|account)\.(.+)$/i;

/** The canonical id of a setting, if requested in uppercase or with the organization's id. */
async function resolveSettingId(engine: Engine, requestedId: string): Promise<string> {
  const [, namespaceName, shortName, entityKind, entityKey] = LONG_ID.exec(requestedId) ?? [];
  if (namespaceName === undefined || shortName === undefined || entityKind === undefined || entityKey === undefined) {
    return /^setting\.[\w-]+\.[\w-]+$/i.test(requestedId) ? requestedId.toLowerCase() : requestedId;
  }
  const key = `setting.${namespaceName}.${shortName}`.toLowerCase();
  const type = entityKind.toUpperCase();
  if (type !== "ORGANIZATION") return `${key}.${type}.${entityKey}`;
  return (await engine.organization.get()).id === entityKey ? key : requestedId;
}
