/**
 * The ids of documents, which say what is unique of a kind.
 *
 * @module
 */
import { settingKey } from "../book/resources/catalog-items.ts";
import type { Body, ConfiguredKind } from "./document-body.ts";

/** The id of the document that keeps a body: a version is part of it, and whom a setting is for. */
export function documentIdOf(kind: ConfiguredKind, body: Body): string {
  switch (kind) {
    case "setting":
      return settingIdOf(body);
    case "eventSchema":
      return versionId(String(body["name"]), Number(body["version"] ?? 1));
    case "pricePlan":
      return versionId(String(body["id"]), Number(body["version"] ?? 1));
    case "usageMeter":
    case "feature":
    case "addOn":
    case "invoiceGroup":
      return String(body["id"]);
  }
}

/** The id of one version of something. */
export function versionId(id: string, version: number): string {
  return `${id}@${version}`;
}

/** `setting.<namespace>.<id>` in lower case; below the organization, whom it is for follows. */
function settingIdOf(body: Body): string {
  const key = settingKey({ namespace: String(body["namespace"]), id: String(body["id"]) });
  const entityType = String(body["entityType"]);
  return entityType === "ORGANIZATION" ? key : `${key}.${entityType}.${String(body["entityId"])}`;
}
