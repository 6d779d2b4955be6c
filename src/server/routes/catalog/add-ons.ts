/** Add-ons over HTTP. */
import * as z from "zod";

import { type AddOn, addOn } from "../../../book/resources/catalog-items.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { createAnswerDeriver, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import {
  defineCreateEndpoint,
  defineGetEndpoint,
  defineListEndpoint,
  defineRemoveEndpoint,
  defineUpdateEndpoint,
  type ItemSpec,
} from "../resource-endpoints.ts";

const { name, billableName } = addOn.shape;
const addOnShape = createAnswerDeriver().deriveObject(
  addOn,
  {
    name: z.string().max(255),
    type: addOn.shape.type.meta({
      description: "The kind of rate card that prices the add-on.",
    }),
    createdAt: timestamp,
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
  },
  { id: "AddOn" },
);
const { type, status } = addOnShape.shape;
const ADD_ONS: ItemSpec<StoredResource<AddOn>> = {
  tag: "Add-ons",
  path: "/addons",
  idName: "addon_id",
  shape: addOnShape,
  toJson: toAddOnJson,
};

export const ADD_ON_ENDPOINTS: readonly Endpoint[] = [
  defineCreateEndpoint(ADD_ONS, {
    id: "createAddOn",
    summary: "Create an add-on",
    body: z.strictObject({ name, type, billableName }),
    status: 200,
    run: (engine, body) => engine.addOns.create(withoutAbsent(body)),
  }),
  defineListEndpoint(ADD_ONS, {
    id: "listAddOns",
    summary: "List add-ons, newest first",
    filters: { status: status.optional(), type: type.optional() },
    answerId: "AddOnList",
    run: (engine, filter, page) => engine.addOns.list({ filter, page }),
  }),
  defineGetEndpoint(ADD_ONS, {
    id: "getAddOn",
    summary: "Get an add-on",
    run: (engine, id) => engine.addOns.get(id),
  }),
  defineUpdateEndpoint(ADD_ONS, {
    id: "updateAddOn",
    summary: "Change an add-on's names",
    body: z.strictObject({ name: name.optional(), billableName }),
    run: (engine, id, body) => engine.addOns.update(id, body),
  }),
  defineRemoveEndpoint(ADD_ONS, {
    id: "archiveAddOn",
    summary: "Archive an add-on",
    description: "Plans that already use it keep it.",
    run: (engine, id) => engine.addOns.archive(id),
  }),
];

function toAddOnJson({ item, createdAt }: StoredResource<AddOn>): z.input<typeof addOnShape> {
  return toAnswer(addOnShape, { ...item, createdAt: formatTime(createdAt) });
}
