/**
 * The ids of documents, which define uniqueness within a kind.
 *
 * @module
 */
import { settingKey } from "../book/resources/catalog-items.ts";
import type { Body, ConfiguredKind } from "./document-body.ts";

/** The id of a document: includes the version, and for a setting its entity. */
export function configuredDocumentId(kind: ConfiguredKind, body: Body): string {
  const { id, name, version = 1 } = body;
  switch (kind) {
    case "setting":
      return settingDocumentId(body);
    case "eventSchema":
      return versionId(String(name), Number(version));
    case "pricePlan":
      return versionId(String(id), Number(version));
    case "usageMeter":
    case "feature":
    case "addOn":
    case "invoiceGroup":
      return String(id);
  }
}

/** The id of one version. */
export function versionId(id: string, version: number): string {
  return `${id}@${version}`;
}

/** `setting.<namespace>.<id>` in lower case, and `.<entityType>.<entityId>` for customers and accounts. */
function settingDocumentId({ namespace, id, entityType, entityId }: Body): string {
  const key = settingKey({ namespace: String(namespace), id: String(id) });
  return entityType === "ORGANIZATION" ? key : `${key}.${String(entityType)}.${String(entityId)}`;
}
