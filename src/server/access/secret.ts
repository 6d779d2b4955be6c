/**
 * The secret of all servers of a database, from which the signing keys of tokens and cursors are derived.
 *
 * @module
 */
import { hkdfSync, randomBytes } from "node:crypto";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";

/** Signing keys. */
export interface SigningKeys {
  /** For tokens (HS256). */
  readonly tokens: Uint8Array;
  /** For list cursors. */
  readonly cursors: Uint8Array;
}

/** Returns the signing keys, read once. Rejects while the store is unavailable. */
export type SecretSource = () => Promise<SigningKeys>;

/** The length of a generated secret and the minimum of a configured one, in bytes. */
export const SECRET_BYTES = 32;
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
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
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
