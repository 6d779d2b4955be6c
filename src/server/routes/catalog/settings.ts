/**
 * Settings over HTTP (S4.2).
 *
 * @module
 */
import * as z from "zod";

import { setting } from "../../../book/resources/catalog-items.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { pathId, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";
import { settingShape, toSettingJson } from "../../shapes/setting.ts";

const TAG = "Settings";
/** The maximum length of `setting.<namespace>.<id>.<entityType>.<entityId>`. */
const ID_MAX = 1100;
const { id, value, entityType, entityId } = setting.shape;
const namespace = setting.shape.namespace.in.unwrap().unwrap();
const name = z.string().max(255);
const dataType = settingShape.shape.dataType;
const params = z.strictObject({ setting_id_str: pathId(ID_MAX) });

export const SETTING_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/settings",
    id: "createSetting",
    tag: TAG,
    summary: "Make a setting",
    description:
      "`id` is the short one; the answer's is `setting.<namespace>.<id>` in lower case, below the organization plus " +
      "`.<entityType>.<entityId>`. The value must be what its dataType says.",
    access: "write",
    body: z.strictObject({
      id,
      value,
      entityType,
      entityId,
      namespace,
      name,
      dataType,
    }),
    answers: { 201: settingShape },
    handle: async ({ engine, body }) => answerCreated(toSettingJson(await engine.settings.create(withoutAbsent(body)))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/settings",
    id: "listSettings",
    tag: TAG,
    summary: "List settings, newest first",
    access: "read",
    query: listQuery({ entity_type: settingShape.shape.entityType.optional() }),
    answers: { 200: createListShape(settingShape, "SettingList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "settings", query });
      const filter = { entityType: request.filters.entity_type };
      const list = (page: PageOptions): ReturnType<typeof engine.settings.list> =>
        engine.settings.list({ filter, page });
      return answerPage(request, await readBoundedPage(request, list, toSettingJson));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/settings/{setting_id_str}",
    id: "getSetting",
    tag: TAG,
    summary: "Get a setting",
    access: "read",
    params,
    answers: { 200: settingShape },
    handle: async ({ engine, params: { setting_id_str: settingId } }) =>
      answerOk(toSettingJson(await engine.settings.get(await resolveSettingId(engine, settingId)))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/settings/{setting_id_str}",
    id: "updateSetting",
    tag: TAG,
    summary: "Change a setting",
    description: "Events that are processed from now on see it; the value must be what its dataType says.",
    access: "write",
    params,
    body: z.strictObject({ value: value.optional(), name: name.optional(), dataType: dataType.optional() }),
    answers: { 200: settingShape },
    handle: async ({ engine, params: { setting_id_str: settingId }, body }) =>
      answerOk(toSettingJson(await engine.settings.update(await resolveSettingId(engine, settingId), body))),
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
