/**
 * Add-ons over HTTP.
 *
 * @module
 */
import * as z from "zod";

import type { AddOn } from "../../../book/resources/catalog-items.ts";
import { addOn } from "../../../book/resources/catalog-items.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { pathId, formatTime, success, timestamp, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { createAnswerDeriver } from "../../shapes/derive-answers.ts";
import { createListShape, answerPage } from "../../shapes/list.ts";

const TAG = "Add-ons";
const { name, billableName } = addOn.shape;
const addOnShape = createAnswerDeriver().deriveObject(
  addOn,
  {
    name: z.string().max(255),
    type: addOn.shape.type.meta({
      description: "Usable in license, fixed fee and credit grant rate cards, each in its own.",
    }),
    createdAt: timestamp,
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
  },
  { id: "AddOn" },
);
const { type, status } = addOnShape.shape;
const params = z.strictObject({ addon_id: pathId() });

export const ADD_ON_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/addons",
    id: "createAddOn",
    tag: TAG,
    summary: "Make an add-on",
    access: "write",
    body: z.strictObject({ name, type, billableName }),
    answers: { 200: addOnShape },
    handle: async ({ engine, body }) => answerOk(toAddOnJson(await engine.addOns.create(withoutAbsent(body)))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/addons",
    id: "listAddOns",
    tag: TAG,
    summary: "List add-ons, newest first",
    access: "read",
    query: listQuery({ status: status.optional(), type: type.optional() }),
    answers: { 200: createListShape(addOnShape, "AddOnList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "addons", query });
      return answerPage(
        request,
        await engine.addOns.list({ filter: request.filters, page: request.page }),
        toAddOnJson,
      );
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/addons/{addon_id}",
    id: "getAddOn",
    tag: TAG,
    summary: "Get an add-on",
    access: "read",
    params,
    answers: { 200: addOnShape },
    handle: async ({ engine, params: { addon_id: id } }) => answerOk(toAddOnJson(await engine.addOns.get(id))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/addons/{addon_id}",
    id: "updateAddOn",
    tag: TAG,
    summary: "Change an add-on's names",
    access: "write",
    params,
    body: z.strictObject({ name: name.optional(), billableName }),
    answers: { 200: addOnShape },
    handle: async ({ engine, params: { addon_id: id }, body }) =>
      answerOk(toAddOnJson(await engine.addOns.update(id, body))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/addons/{addon_id}",
    id: "archiveAddOn",
    tag: TAG,
    summary: "Archive an add-on",
    description: "Plans that have it keep it.",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { addon_id: id } }) => {
      await engine.addOns.archive(id);
      return SUCCESS;
    },
  }),
];

function toAddOnJson({ item, createdAt }: StoredResource<AddOn>): z.input<typeof addOnShape> {
  const { id, name: addOnName, type: addOnType, status: addOnStatus, displayName, billableName: billable } = item;
  return withoutAbsent({
    id,
    name: addOnName,
    type: addOnType,
    status: addOnStatus,
    createdAt: formatTime(createdAt),
    displayName,
    billableName: billable,
  });
}
