/**
 * Documents of which there are several versions: event schemas by name, price plans by id (S4.4, S16.4).
 *
 * @module
 */
import type { DocumentRecord } from "../../ledger/decision.ts";
import { notFound, versionNotFound } from "../../ledger/refusals.ts";

/** What the versions of one thing have in common. */
export interface Versioned {
  /** The field of the body that names the thing. */
  readonly key: "name" | "id";
  /** What it is, for a sentence. */
  readonly what: string;
}

/** The latest version of each thing. */
export function latestVersions(documents: readonly DocumentRecord[], key: Versioned["key"]): readonly DocumentRecord[] {
  const latest = new Map<unknown, DocumentRecord>();
  for (const document of documents) {
    const other = latest.get(document.body[key]);
    if (other === undefined || versionOf(document) > versionOf(other)) latest.set(document.body[key], document);
  }
  return [...latest.values()];
}

/**
 * The first version of what a document is a version of: lists go by its age, so that a new version is no new thing, and
 * a list that is read page by page tells of each thing once.
 */
export function firstVersions(
  key: Versioned["key"],
): (documents: readonly DocumentRecord[]) => (document: DocumentRecord) => DocumentRecord {
  return (documents) => {
    const first = new Map<unknown, DocumentRecord>();
    for (const document of documents) {
      const other = first.get(document.body[key]);
      if (other === undefined || versionOf(document) < versionOf(other)) first.set(document.body[key], document);
    }
    return (document) => first.get(document.body[key]) ?? document;
  };
}

/** The latest version of one thing. @throws {RatebookError} ERR_NOT_FOUND */
export function latestOf(documents: readonly DocumentRecord[], name: string, { key, what }: Versioned): DocumentRecord {
  const [found] = latestVersions(
    documents.filter(({ body }) => body[key] === name),
    key,
  );
  if (found === undefined) throw notFound(what, name);
  return found;
}

/** One version of one thing. @throws {RatebookError} ERR_NOT_FOUND */
export function versionNamed(
  documents: readonly DocumentRecord[],
  name: string,
  version: number,
  words: Versioned,
): DocumentRecord {
  const found = documents.find((document) => document.body[words.key] === name && versionOf(document) === version);
  if (found !== undefined) return found;
  latestOf(documents, name, words);
  throw versionNotFound(words.what, name, version);
}

/** A document's version; 1 where none is said. */
export function versionOf({ body }: DocumentRecord): number {
  return Number(body["version"] ?? 1);
}
