/** Add-ons over HTTP. */
import * as z from "zod";

import { type AddOn, addOn } from "../../../book/resources/catalog-items.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { createAnswerDeriver, toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

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
    status: 200,
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
  return toAnswer(addOnShape, { ...item, createdAt: formatTime(createdAt) });
}
