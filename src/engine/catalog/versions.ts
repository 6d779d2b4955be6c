/**
 * Documents with versions: event schemas by name, price plans by id (S4.4, S16.4).
 *
 * @module
 */
import type { DocumentRecord } from "../../ledger/decision.ts";
import { notFoundError, versionNotFoundError } from "../../ledger/refusals.ts";
import type { Body } from "../document-body.ts";

/** A stored document that is one version of a resource. */
interface VersionDocument extends DocumentRecord {
  readonly body: Body & { readonly version: number };
}

/** How versions of a kind are named. */
export interface VersionNaming<Document> {
  /** The name shared by all versions. */
  readonly nameOf: (document: Document) => string;
  /** The kind of resource in messages. */
  readonly noun: string;
}

/** The latest version of each resource. */
export function latestVersions<Document extends VersionDocument>(
  documents: readonly Document[],
  { nameOf }: Pick<VersionNaming<Document>, "nameOf">,
): readonly Document[] {
  const latest = new Map<string, Document>();
  for (const document of documents) {
    const other = latest.get(nameOf(document));
    if (other === undefined || document.body.version > other.body.version) latest.set(nameOf(document), document);
  }
  return [...latest.values()];
}

/**
 * The first version of a document's resource. Lists sort by its age, so that a new version does not move the resource
 * while pages are read.
 */
export function firstVersions<Document extends VersionDocument>({
  nameOf,
}: Pick<VersionNaming<Document>, "nameOf">): (documents: readonly Document[]) => (document: Document) => Document {
  return (documents) => {
    const first = new Map<string, Document>();
    for (const document of documents) {
      const other = first.get(nameOf(document));
      if (other === undefined || document.body.version < other.body.version) first.set(nameOf(document), document);
    }
    return (document) => first.get(nameOf(document)) ?? document;
  };
}

/** The latest version of a resource. @throws {RatebookError} ERR_NOT_FOUND */
export function requireLatest<Document extends VersionDocument>(
  documents: readonly Document[],
  name: string,
  naming: VersionNaming<Document>,
): Document {
  const versions = documents.filter((document) => naming.nameOf(document) === name);
  const [latest] = latestVersions(versions, naming);
  if (latest === undefined) throw notFoundError(naming.noun, name);
  return latest;
}

/** One version of a resource. @throws {RatebookError} ERR_NOT_FOUND */
export function requireVersion<Document extends VersionDocument>(
  documents: readonly Document[],
  name: string,
  version: number,
  naming: VersionNaming<Document>,
): Document {
  const match = documents.find((document) => naming.nameOf(document) === name && document.body.version === version);
  if (match !== undefined) return match;
  requireLatest(documents, name, naming);
  throw versionNotFoundError(naming.noun, name, version);
}
