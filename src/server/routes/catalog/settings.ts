/** Settings over HTTP (S4.2). */
import * as z from "zod";

import { setting } from "../../../book/resources/catalog-items.ts";
import { configuredDocumentId } from "../../../engine/documents.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { StoredSetting } from "../../../engine/entity-settings.ts";
import { createAnswerDeriver, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { pathId } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

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
const name = z.string().max(255);
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
    body: z.strictObject({
      id,
      value,
      entityType,
      entityId,
      namespace,
      name,
      dataType,
    }),
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
    run: async (engine, settingId) => engine.settings.get(await resolveSettingId(engine, settingId)),
  }),
  SETTINGS.update({
    id: "updateSetting",
    summary: "Change a setting",
    description: "Events ingested from now on use it. The value must parse as its dataType.",
    body: z.strictObject({ value: value.optional(), name: name.optional(), dataType: dataType.optional() }),
    run: async (engine, settingId, body) => engine.settings.update(await resolveSettingId(engine, settingId), body),
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
