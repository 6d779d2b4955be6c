/** Creates, lists and revokes API keys. The key itself is shown once and not stored. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

import * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import { type Page, toPage, type PageOptions, pageRequest } from "../../engine/pages.ts";
import { RatebookError } from "../../errors.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { BASE_62 } from "../../numbers/ids.ts";
import type { Role } from "../http/endpoint.ts";

export const ROLES = ["admin", "full", "ingest", "read"] as const satisfies readonly Role[];

export const keyRequest = z.strictObject({
  name: z.string().min(1).max(255).meta({ description: "Name of the key." }),
  role: z.enum(ROLES).meta({
    description:
      "`admin`: everything; `full`: everything but keys; `ingest`: POST /ingest, /ingestBatch and /entitled; " +
      "`read`: every GET, POST /metrics and /revenue_calculator.",
  }),
});

/** An API key without its secret text. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The start of the key, for recognition. */
  readonly prefix: string;
  readonly createdAt: number;
  /** Absent unless revoked. */
  readonly revokedAt?: number | undefined;
}

/** A key with its secret text. */
export interface CreatedApiKey extends ApiKey {
  /** The secret text. It is not stored and can't be shown again. */
  readonly key: string;
}

export interface StoredKey {
  readonly apiKey: ApiKey;
  /** The SHA-256 of the key. */
  readonly digest: Uint8Array;
}

export interface ApiKeys {
  /** Creates a key. */
  create(request: z.output<typeof keyRequest>): Promise<CreatedApiKey>;
  /**
   * Creates the first key, with the role admin, unless the database ever had a key. Concurrent callers create only one.
   *
   * @param key the secret text; random by default
   * @throws {RatebookError} ERR_OPTION_INVALID for a `key` that is not `rb_` and 43 letters or digits
   */
  createFirst(key?: string): Promise<CreatedApiKey | undefined>;
  /** Newest first, including revoked keys. */
  list(options?: PageOptions): Promise<Page<ApiKey>>;
  /**
   * Revokes a key and all its tokens permanently. Has no effect on a revoked key.
   * @throws {RatebookError} ERR_NOT_FOUND
   */
  revoke(id: string): Promise<ApiKey>;
  /** Reads a key from the store. */
  find(id: string): Promise<StoredKey | undefined>;
}

const KEY_PATTERN = /^rb_[0-9A-Za-z]{43}$/;
/** 62^43 is a little more than 2^256. */
const KEY_DIGITS = 43;
const KEY_BYTES = 32;
/** `rb_` and 8 characters, which identify the key; the other 208 bits are not stored. */
const PREFIX_LENGTH = 11;
/** Locks the configuration. */
export const EXCLUSIVE = { configuration: "exclusive", accountIds: [], eventIds: [] } as const;

/** Whether a text has the format of a key. */
export function isKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** The id of a key with this text, whether or not it exists. */
export function keyIdOf(key: string): string {
  return `key.${key.slice(3, PREFIX_LENGTH)}`;
}

/** Whether a text is this key, in constant time. */
export function isSameKey(text: string, storedKey: StoredKey | undefined): storedKey is StoredKey {
  const digest = hashKey(text);
  return timingSafeEqual(digest, storedKey?.digest ?? NO_DIGEST) && storedKey !== undefined;
}

/** The API keys of an engine's database. @param clock milliseconds since 1970 */
export function manageApiKeys({ store }: Pick<Engine, "store">, clock: () => number = Date.now): ApiKeys {
  return {
    create: (request) =>
      store.transact(EXCLUSIVE, async (view) => {
        let key = generateKey();
        while ((await view.document("apiKey", keyIdOf(key))) !== undefined) key = generateKey();
        return createKeyDecision(key, request, clock());
      }),
    createFirst: (key) => {
      if (key !== undefined && !isKey(key)) {
        const message = "the first key: expected rb_ and 43 letters or digits";
        return Promise.reject(new RatebookError("ERR_OPTION_INVALID", message, { option: "apiKey" }));
      }
      return store.transact(EXCLUSIVE, async (view) => {
        const [existing] = await view.documents("apiKey", { limit: 1 });
        if (existing !== undefined) return { result: undefined, changes: {} };
        return createKeyDecision(key ?? generateKey(), { name: "first key", role: "admin" }, clock());
      });
    },
    list: async (options = {}) => {
      const { limit, ...rest } = pageRequest(options);
      const documents = await store.read.documents("apiKey", { ...rest, limit: limit + 1 });
      const page = toPage(documents, limit, ({ createdAt, id }) => ({ createdAt, id }));
      return { ...page, items: page.items.map((document) => parseStoredKey(document).apiKey) };
    },
    revoke: (id) =>
      store.transact(EXCLUSIVE, async (view) => {
        const document = await view.document("apiKey", id);
        if (document === undefined) throw notFoundError("API key", id);
        const storedKey = parseStoredKey(document);
        if (storedKey.apiKey.revokedAt !== undefined) return { result: storedKey.apiKey, changes: {} };
        const now = clock();
        const updatedDocument = { ...document, updatedAt: now, body: { ...document.body, revokedAt: now } };
        return { result: parseStoredKey(updatedDocument).apiKey, changes: { documents: [updatedDocument] } };
      }),
    find: async (id) => {
      const document = await store.read.document("apiKey", id);
      return document === undefined ? undefined : parseStoredKey(document);
    },
  };
}

/** Generates a key from 256 uniformly random bits. */
function generateKey(): string {
  let rest = BigInt(`0x${randomBytes(KEY_BYTES).toString("hex")}`);
  let text = "";
  while (text.length < KEY_DIGITS) {
    text = BASE_62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return `rb_${text}`;
}

function createKeyDecision(
  key: string,
  { name, role }: z.output<typeof keyRequest>,
  now: number,
): { readonly result: CreatedApiKey; readonly changes: { readonly documents: readonly DocumentRecord[] } } {
  const id = keyIdOf(key);
  const prefix = key.slice(0, PREFIX_LENGTH);
  const body = { name, role, prefix, sha256: hashKey(key).toString("hex") };
  const document = { kind: "apiKey", id, createdAt: now, updatedAt: now, body } as const;
  return { result: { ...parseStoredKey(document).apiKey, key }, changes: { documents: [document] } };
}

/**
 * A key in the store, with a digest instead of its text. A role unknown to this version gets the fewest permissions.
 */
const storedKeyShape = z.object({
  name: z.string(),
  role: z.enum(ROLES).catch("read"),
  prefix: z.string(),
  sha256: z.string(),
  revokedAt: z.number().optional(),
});

function parseStoredKey({ id, createdAt, body }: DocumentRecord): StoredKey {
  const { sha256, ...fields } = storedKeyShape.parse(body);
  return { apiKey: { id, createdAt, ...fields }, digest: Buffer.from(sha256, "hex") };
}

function hashKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Compared with if the key is unknown, so that timing doesn't reveal it. */
const NO_DIGEST = Buffer.alloc(32);
