/** API keys, tokens (JWTs that represent a key for 24 hours), and the secret that signs tokens and list cursors. */
import { createHash, randomBytes, timingSafeEqual, hkdfSync } from "node:crypto";

import { jwtVerify, SignJWT } from "jose";
import * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import { type Page, toPage, type PageOptions, pageRequest } from "../../engine/pages.ts";
import { RatebookError } from "../../errors.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { BASE_62 } from "../../numbers/ids.ts";
import type { Role } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";

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

/** Signing keys. */
interface SigningKeys {
  /** For tokens (HS256). */
  readonly tokens: Uint8Array;
  /** For list cursors. */
  readonly cursors: Uint8Array;
}

/** Returns the signing keys, read once. Rejects while the store is unavailable. */
export type SecretSource = () => Promise<SigningKeys>;

/** The length of a generated secret and the minimum of a configured one, in bytes. */
const SECRET_BYTES = 32;
const SECRET_DOCUMENT_ID = "server";

/**
 * Uses the configured secret, otherwise the one in the database, which the first server creates.
 *
 * @param jwtSecret at least 32 bytes; a string is encoded as UTF-8
 * @throws {RatebookError} ERR_OPTION_INVALID for a shorter one
 */
export function createSecretSource(
  engine: Engine,
  jwtSecret: string | Uint8Array | undefined,
  clock: () => number,
): SecretSource {
  if (jwtSecret !== undefined) {
    const secret = deriveSigningKeys(toSecretBytes(jwtSecret));
    return async () => secret;
  }
  let pending: Promise<SigningKeys> | undefined;
  return async () => {
    pending ??= readOrCreateSecret(engine, clock).then(deriveSigningKeys);
    try {
      return await pending;
    } catch (error) {
      pending = undefined;
      throw error;
    }
  };
}

function toSecretBytes(jwtSecret: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(jwtSecret);
  if (bytes.length >= SECRET_BYTES) return bytes;
  const message = `jwtSecret: expected at least ${SECRET_BYTES} bytes, got ${bytes.length}`;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "jwtSecret" });
}

function deriveSigningKeys(secret: Uint8Array): SigningKeys {
  const cursors = hkdfSync("sha256", secret, "", "ratebook cursors", SECRET_BYTES);
  return { tokens: secret, cursors: new Uint8Array(cursors) };
}

/** Reads the secret, or creates it under a lock, so that of several servers only one does. */
async function readOrCreateSecret({ store }: Engine, clock: () => number): Promise<Uint8Array> {
  const storedDocument = await store.read.document("serverSecret", SECRET_DOCUMENT_ID);
  if (storedDocument !== undefined) return decodeSecret(storedDocument.body);
  return store.transact(EXCLUSIVE, async (view) => {
    const existing = await view.document("serverSecret", SECRET_DOCUMENT_ID);
    if (existing !== undefined) return { result: decodeSecret(existing.body), changes: {} };
    const now = clock();
    const body = { secret: randomBytes(SECRET_BYTES).toString("base64url") };
    const document = { kind: "serverSecret", id: SECRET_DOCUMENT_ID, createdAt: now, updatedAt: now, body } as const;
    return { result: decodeSecret(body), changes: { documents: [document] } };
  });
}

function decodeSecret({ secret }: Readonly<Record<string, unknown>>): Uint8Array {
  return Buffer.from(String(secret), "base64url");
}

/** The lifetime of a token in seconds. */
const TOKEN_SECONDS = 86_400;
/**
 * How far in the future a token may start, in seconds, because server clocks differ. This doesn't extend its lifetime.
 */
const CLOCK_TOLERANCE_SECONDS = 3600;
const ISSUER = "ratebook";
const AUDIENCE = "ratebook-api";
const ALGORITHM = "HS256";
/** The maximum length of a token; issued ones have about 250 characters. */
const LENGTH_MAX = 2000;

/** Issues a token for a key. @param clock milliseconds since 1970 */
export async function issueToken(secret: SecretSource, keyId: string, clock: () => number): Promise<string> {
  const { tokens } = await secret();
  const now = Math.floor(clock() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
    .setSubject(keyId)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .sign(tokens);
}

/**
 * Returns the key id of a token; undefined for an invalid or expired one.
 *
 * @param clock milliseconds since 1970
 * @throws {Refusal} 401 for a valid token that starts too far in the future
 */
export async function verifyToken(
  secret: SecretSource,
  token: string,
  clock: () => number,
): Promise<string | undefined> {
  if (token.length > LENGTH_MAX) return undefined;
  const { tokens } = await secret();
  const now = Math.floor(clock() / 1000);
  const verified = await jwtVerify(token, tokens, {
    algorithms: [ALGORITHM],
    typ: "JWT",
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ["sub", "iat", "exp"],
    // The library only checks that times are numbers; they are compared below.
    currentDate: new Date(now * 1000),
    clockTolerance: Number.MAX_SAFE_INTEGER,
  }).catch(() => undefined);
  if (verified === undefined) return undefined;
  const { sub, iat = now, exp = now, nbf = iat } = verified.payload;
  // A token expires a day after its start, even if it states a later end.
  if (exp <= now || now - iat > TOKEN_SECONDS) return undefined;
  const wait = Math.max(iat, nbf) - now;
  if (wait <= CLOCK_TOLERANCE_SECONDS) return sub;
  // Only a server with the secret can have signed it, so it doesn't count as an invalid credential.
  throw new Refusal(
    401,
    `the token becomes valid in ${wait} s by this server's clock; correct the clock or create a new token`,
  );
}
