/**
 * The secret of the servers over one database: it signs tokens and, by derivation, cursors.
 *
 * @module
 */
import { hkdfSync, randomBytes } from "node:crypto";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";

/** Keys that sign. */
export interface SigningKeys {
  /** For tokens (HS256). */
  readonly tokens: Uint8Array;
  /** For cursors of lists. */
  readonly cursors: Uint8Array;
}

/** Gives the secret; it is read once. Rejects while the store that keeps it is away. */
export type SecretSource = () => Promise<SigningKeys>;

/** Bytes of a secret that is made, and the fewest of one that is given. */
export const SECRET_BYTES = 32;
const SECRET_DOCUMENT_ID = "server";

/**
 * The secret that is given or else the one that the database keeps, which the first server to need it makes.
 *
 * @param jwtSecret at least 32 bytes; a text is its UTF-8
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

/** Of servers that start at once, one makes it and the others find it: they wait for its lock. */
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
