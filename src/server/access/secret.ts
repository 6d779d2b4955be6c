/**
 * The secret of the servers over one database: it signs tokens and, by derivation, cursors.
 *
 * @module
 */
import { hkdfSync, randomBytes } from "node:crypto";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";

/** Keys that sign. */
export interface ServerSecret {
  /** For tokens (HS256). */
  readonly tokens: Uint8Array;
  /** For cursors of lists. */
  readonly cursors: Uint8Array;
}

/** Gives the secret; it is read once. Rejects while the store that keeps it is away. */
export type SecretSource = () => Promise<ServerSecret>;

/** Bytes of a secret that is made, and the fewest of one that is given. */
export const SECRET_BYTES = 32;
const KEPT_ID = "server";

/**
 * The secret that is given or else the one that the database keeps, which the first server to need it makes.
 *
 * @param given at least 32 bytes; a text is its UTF-8
 * @throws {RatebookError} ERR_OPTION_INVALID for a shorter one
 */
export function createSecretSource(
  engine: Engine,
  given: string | Uint8Array | undefined,
  clock: () => number,
): SecretSource {
  if (given !== undefined) {
    const secret = signersOf(checkedSecret(given));
    return async () => secret;
  }
  let reading: Promise<ServerSecret> | undefined;
  return async () => {
    reading ??= keptSecret(engine, clock).then(signersOf);
    try {
      return await reading;
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
}

function checkedSecret(given: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(given);
  if (bytes.length >= SECRET_BYTES) return bytes;
  const message = `jwtSecret: expected at least ${SECRET_BYTES} bytes, got ${bytes.length}`;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "jwtSecret" });
}

function signersOf(secret: Uint8Array): ServerSecret {
  const cursors = hkdfSync("sha256", secret, "", "ratebook cursors", SECRET_BYTES);
  return { tokens: secret, cursors: new Uint8Array(cursors) };
}

/** Of servers that start at once, one makes it and the others find it: they wait for its lock. */
async function keptSecret({ store }: Engine, clock: () => number): Promise<Uint8Array> {
  const kept = await store.read.document("serverSecret", KEPT_ID);
  if (kept !== undefined) return bytesOf(kept.body);
  return store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const made = await view.document("serverSecret", KEPT_ID);
    if (made !== undefined) return { result: bytesOf(made.body), changes: {} };
    const now = clock();
    const body = { secret: randomBytes(SECRET_BYTES).toString("base64url") };
    const document = { kind: "serverSecret", id: KEPT_ID, createdAt: now, updatedAt: now, body } as const;
    return { result: bytesOf(body), changes: { documents: [document] } };
  });
}

function bytesOf({ secret }: Readonly<Record<string, unknown>>): Uint8Array {
  return Buffer.from(String(secret), "base64url");
}
