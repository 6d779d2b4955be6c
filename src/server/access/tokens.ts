/** Tokens: JWTs (HS256) that represent an API key for 24 hours, and the secret that signs them and list cursors. */
import { hkdfSync, randomBytes } from "node:crypto";

import { jwtVerify, SignJWT } from "jose";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";
import { Refusal } from "../http/failures.ts";
import { EXCLUSIVE } from "./keys.ts";

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
  const claims = await verifyClaims(token, tokens, now);
  if (claims === undefined) return undefined;
  const { sub, iat, exp, nbf = iat } = claims;
  // A token expires a day after its start, even if it states a later end.
  if (exp <= now || now - iat > TOKEN_SECONDS) return undefined;
  const startsAt = Math.max(iat, nbf);
  if (startsAt > now + CLOCK_TOLERANCE_SECONDS) throw createFutureTokenRefusal(startsAt, now);
  return sub;
}

interface Claims {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
}

/** The claims of a correctly signed token, without a time check; undefined for any other. */
async function verifyClaims(token: string, secret: Uint8Array, now: number): Promise<Claims | undefined> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      typ: "JWT",
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ["sub", "iat", "exp"],
      // The library only checks that times are numbers; the caller compares them.
      currentDate: new Date(now * 1000),
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    return payload as Claims & typeof payload;
  } catch {
    return undefined;
  }
}

/** Only a server with the secret can have signed it, so it doesn't count as an invalid credential. */
function createFutureTokenRefusal(startsAt: number, now: number): Refusal {
  const waitSeconds = startsAt - now;
  return new Refusal(
    401,
    `the token becomes valid in ${waitSeconds} s by this server's clock; correct the clock or create a new token`,
  );
}
