/**
 * Settings in answers (service-reference: Setting).
 *
 * @module
 */
import * as z from "zod";

import { setting } from "../../book/resources/catalog-items.ts";
import { configuredDocumentId } from "../../engine/document-ids.ts";
import type { StoredSetting } from "../../engine/entity-settings.ts";
import { withoutAbsent } from "../http/fields.ts";
import { createAnswerDeriver } from "./derive-answers.ts";

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
  const { value, entityType, entityId, namespace, name, dataType } = item;
  return withoutAbsent({
    id: configuredDocumentId("setting", input),
    value,
    entityType,
    entityId,
    namespace,
    name,
    dataType,
  });
}
