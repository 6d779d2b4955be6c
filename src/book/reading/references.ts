/**
 * Finds what a reference means: an id, else a name (book.md). Ids win over names; a name of something archived counts
 * only when nothing else has it.
 *
 * @module
 */
import { hintAt } from "../nearest.ts";
import type { Path, Report } from "../problems.ts";
import { SETTING_NAMESPACE, settingKey } from "../resources/catalog-items.ts";
import { allOf, anOrA, shown } from "../sentences.ts";
import type { ResourceList } from "./document.ts";

/** The items of each list, as messages name them. */
export const LIST_WORDS: Readonly<Record<ResourceList, string>> = {
  settings: "setting",
  eventSchemas: "event schema",
  usageMeters: "usage meter",
  features: "feature",
  addOns: "add-on",
  pricePlans: "price plan",
  customers: "customer",
  accounts: "account",
  invoiceGroups: "invoice group",
};

/** So many references that lead nowhere get a guess. */
const GUESSES_MAX = 50;

/** A list that others refer to. */
export type ReferredList = Exclude<ResourceList, "settings" | "invoiceGroups">;

/** The items that have one name: nearly always a single one, which then needs no set. */
type Names = Map<string, string | Set<string>>;

/** The ids that one list knows, and the ids of those that have a name. */
interface Entries {
  readonly ids: Set<string>;
  readonly byName: Names;
  readonly byArchivedName: Names;
  /** Something in the list could not be read, and may be what a reference means. */
  isOpen: boolean;
}

/** Everything in a book that can be referred to. */
export interface References {
  readonly lists: Readonly<Record<ReferredList, Entries>>;
  /** The keys that a dependency may mean by a full key or a bare id, both in lower case (S4.2). */
  readonly settings: ReadonlyMap<string, string | ReadonlySet<string>>;
  /** How many more references get a guess at what was meant: a broken book may have a million. */
  readonly guesses: { left: number };
}

/** The context of resolving: the book's references, and the receiver of problems. */
export interface Resolving {
  readonly references: References;
  readonly report: Report;
  /** Takes a note of everything that is looked up; absent where nothing is to be remembered. */
  readonly lookups?: Lookup[];
}

/** Looks something up again: whether it is what it was. */
export type Lookup = (again: Resolving) => boolean;

/** Whether everything that was looked up is found in other references, too, and means the same. */
export function areSameReferences(lookups: readonly Lookup[], references: References): boolean {
  let isFound = true;
  const again: Resolving = {
    references: { ...references, guesses: { left: 0 } },
    report: () => {
      isFound = false;
    },
  };
  return lookups.every((lookup) => lookup(again) && isFound);
}

/** The lists of a document, well-formed or not. */
export type RawLists = Readonly<Partial<Record<ResourceList, unknown>>>;

/** Indexes a document, well-formed or not: a broken item is still there to be referred to. */
export function referencesOf(raw: RawLists): References {
  return {
    lists: {
      eventSchemas: entriesOf(raw.eventSchemas, "name"),
      usageMeters: entriesOf(raw.usageMeters, "id"),
      features: entriesOf(raw.features, "id"),
      addOns: entriesOf(raw.addOns, "id"),
      pricePlans: entriesOf(raw.pricePlans, "id"),
      customers: entriesOf(raw.customers, "id"),
      accounts: entriesOf(raw.accounts, "id"),
    },
    settings: settingsOf(raw.settings),
    guesses: { left: GUESSES_MAX },
  };
}

/** The id that a reference to one kind of thing means; see {@link idAmong}. */
export function idAt(list: ReferredList, given: string, path: () => Path, resolving: Resolving): string {
  // Most references are ids: a path is made for the others alone, as a book may have a million of them.
  if (resolving.references.lists[list].ids.has(given)) {
    resolving.lookups?.push(({ references: { lists } }) => lists[list].ids.has(given));
    return given;
  }
  return idAmong([list], given, path(), resolving);
}

/**
 * The id that a reference means: an id in any of the lists, else a name. What cannot be found is reported, and comes
 * back as it was given.
 */
export function idAmong(lists: readonly ReferredList[], given: string, path: Path, resolving: Resolving): string {
  const id = foundAmong(lists, given, path, resolving);
  resolving.lookups?.push((again) => foundAmong(lists, given, path, again) === id);
  return id;
}

function foundAmong(lists: readonly ReferredList[], given: string, path: Path, resolving: Resolving): string {
  const entries = lists.map((list) => resolving.references.lists[list]);
  if (entries.some(({ ids }) => ids.has(given))) return given;
  const current = entries.flatMap(({ byName }) => idsOf(byName.get(given)));
  const found = current.length > 0 ? current : entries.flatMap((list) => idsOf(list.byArchivedName.get(given)));
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined) {
    if (entries.some(({ isOpen }) => isOpen)) return given;
    const what = lists.map((list) => LIST_WORDS[list]).join(" or ");
    const named = lists.length === 1 && lists[0] === "eventSchemas" ? "the name" : "the id or name";
    const guess = guessFor(given, entries, resolving.references);
    resolving.report(path, `expected ${named} of ${anOrA(what)}, got ${shown(given)}${guess}`);
  } else {
    resolving.report(path, `the name ${shown(given)} belongs to ${allOf(found.slice(0, 3))}: expected an id`);
  }
  return given;
}

function guessFor(given: string, entries: readonly Entries[], { guesses }: References): string {
  if (guesses.left === 0) return "";
  guesses.left--;
  return hintAt(
    given,
    entries.flatMap(({ ids, byName }) => [...ids, ...byName.keys()]),
  );
}

/** The full key of a dependency's setting (S4.2); what cannot be found is reported unless `mayMiss`. */
export function settingKeyAt(given: string, mayMiss: boolean, path: Path, resolving: Resolving): string {
  const key = settingKeyFound(given, mayMiss, path, resolving);
  resolving.lookups?.push((again) => settingKeyFound(given, mayMiss, path, again) === key);
  return key;
}

function settingKeyFound(given: string, mayMiss: boolean, path: Path, { references, report }: Resolving): string {
  const keys = idsOf(references.settings.get(given.toLowerCase()));
  const [first, ...others] = keys;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    report(path, `the setting id ${shown(given)} is in several namespaces: expected one of ${allOf(keys.slice(0, 3))}`);
  } else if (!mayMiss) {
    report(path, `expected the key or id of a setting, got ${shown(given)}`);
  }
  return given.toLowerCase();
}

function entriesOf(list: unknown, idField: "id" | "name"): Entries {
  const entries: Entries = { ids: new Set(), byName: new Map(), byArchivedName: new Map(), isOpen: false };
  if (list !== undefined && list !== null && !Array.isArray(list)) entries.isOpen = true;
  for (const item of itemsOf(list)) {
    const itemId = ownText(item, idField);
    if (itemId === undefined) {
      entries.isOpen = true;
      continue;
    }
    entries.ids.add(itemId);
    const itemName = ownText(item, "name");
    if (itemName === undefined) continue;
    addTo(ownText(item, "status") === "ARCHIVED" ? entries.byArchivedName : entries.byName, itemName, itemId);
  }
  return entries;
}

function settingsOf(list: unknown): Names {
  const keys: Names = new Map();
  for (const item of itemsOf(list)) {
    const settingId = ownText(item, "id");
    if (settingId === undefined) continue;
    const key = settingKey({ namespace: ownText(item, "namespace") ?? SETTING_NAMESPACE, id: settingId });
    addTo(keys, key, key);
    addTo(keys, settingId.toLowerCase(), key);
  }
  return keys;
}

function addTo(names: Names, name: string, id: string): void {
  const before = names.get(name);
  if (before === undefined) names.set(name, id);
  else if (typeof before !== "string") before.add(id);
  else if (before !== id) names.set(name, new Set([before, id]));
}

function idsOf(named: string | ReadonlySet<string> | undefined): readonly string[] {
  if (named === undefined) return [];
  return typeof named === "string" ? [named] : [...named];
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

function ownText(item: unknown, key: string): string | undefined {
  if (typeof item !== "object" || item === null || !Object.hasOwn(item, key)) return undefined;
  const value: unknown = Reflect.get(item, key);
  return typeof value === "string" ? value : undefined;
}
