/** Ids for accounts whose names in a file, such as `Globex GmbH`, are no ids of a book. */
import { idSchema } from "../../book/resources/fields.ts";
import type { EventFileMap } from "../../event-files/event-file-map.ts";
import { createObjectEventMaker } from "../../event-files/json-fields.ts";
import type { EventSink } from "../../event-files/merge-events.ts";
import { openByteSource } from "../event-inputs/byte-source.ts";
import { createCsvCursor } from "../event-inputs/csv-cursor.ts";
import { createNdjsonCursor } from "../event-inputs/ndjson-cursor.ts";
import type { Io } from "../io.ts";

const BUFFER_BYTES = 1 << 16;
const ACCOUNT_ID_MAX = 50;
const accountId = idSchema(ACCOUNT_ID_MAX);

/** Whether a text can be the id of an account. */
export function isAccountId(text: string): boolean {
  return accountId.safeParse(text).success;
}

/** The names of the accounts of all events in a file. */
export async function readAccountNames(
  path: string,
  { map, isJson }: { readonly map: EventFileMap; readonly isJson: boolean },
  io: Io,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const sink: EventSink = {
    onEvent: (_file, _line, event) => names.add((event as { readonly accountId: string }).accountId).size > 0,
    onBadLine: () => true,
    findSlots: () => undefined,
    onFilledSlots: () => true,
    onSummedEvents: () => false,
  };
  const source = await openByteSource(path, io.stdin);
  const cursor = isJson
    ? createNdjsonCursor(path, source, sink, { bufferBytes: BUFFER_BYTES, makeEvent: createObjectEventMaker(map, {}) })
    : createCsvCursor(path, source, sink, { map });
  try {
    while (await cursor.fill()) while (cursor.advance()) cursor.take();
  } finally {
    await cursor.close();
  }
  return names;
}

/**
 * An id for each name: `Globex GmbH` is `globex-gmbh`, a second one with it `globex-gmbh-2`. Empty names have none, and
 * `__proto__`, which can't be a key of a map, stays as it is.
 */
export function createAccountIds(names: Iterable<string>): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const usedIds = new Set<string>();
  for (const name of names) {
    const slug = name
      .normalize("NFD")
      .replaceAll("ß", "ss")
      .toLowerCase()
      .replaceAll(/\p{M}/gu, "")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "");
    if (name !== "" && name !== "__proto__") ids.set(name, makeUnique(slug || "account", ACCOUNT_ID_MAX, usedIds));
  }
  return ids;
}

/** Makes a text of at most `max` characters unique with a number at its end. */
export function makeUnique(text: string, max: number, usedTexts: Set<string>): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const candidate = `${text.slice(0, max - suffix.length)}${suffix}`;
    if (usedTexts.has(candidate)) continue;
    usedTexts.add(candidate);
    return candidate;
  }
}
