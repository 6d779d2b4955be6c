/**
 * Tokens: JWTs (HS256) that stand for an API key for 24 hours.
 *
 * @module
 */
import { jwtVerify, SignJWT } from "jose";

import { Refusal } from "../http/failures.ts";
import type { SecretSource } from "./secret.ts";

/** Makes and reads tokens. */
export interface TokenService {
  /** A token that stands for a key. */
  issue(keyId: string): Promise<string>;
  /**
   * The id of the key that a token stands for, undefined for one that is not ours or is over.
   *
   * @throws {Refusal} 401 for a token of ours that begins too far in the future
   */
  verify(token: string): Promise<string | undefined>;
}

/** Seconds for which a token is good. */
export const TOKEN_SECONDS = 86_400;
/**
 * Seconds by which a token may begin in the future: another server made it whose clock is ahead, or a clock was put back.
 * Its end is not moved.
 */
const CLOCK_TOLERANCE_SECONDS = 3600;
const ISSUER = "ratebook";
const AUDIENCE = "ratebook-api";
const ALGORITHM = "HS256";
/** A token of ours has about 250 characters. */
const LENGTH_MAX = 2000;

/** Tokens that are signed with a secret. @param clock milliseconds since 1970 */
export function createTokenService(secret: SecretSource, clock: () => number): TokenService {
  return {
    issue: async (keyId) => {
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
    },
    verify: async (token) => {
      if (token.length > LENGTH_MAX) return undefined;
      const { tokens } = await secret();
      const now = Math.floor(clock() / 1000);
      const claims = await verifyClaims(token, tokens, now);
      if (claims === undefined) return undefined;
      const { sub, iat, exp, nbf = iat } = claims;
      // A token is good for a day from its beginning, whatever end it states.
      if (exp <= now || now - iat > TOKEN_SECONDS) return undefined;
      const startsAt = Math.max(iat, nbf);
      if (startsAt > now + CLOCK_TOLERANCE_SECONDS) throw createFutureTokenRefusal(startsAt, now);
      return sub;
    },
  };
}

/** The claims of a token of ours. */
interface Claims {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
}

/** The claims of a token that is ours whatever the time; undefined for any other. */
async function verifyClaims(token: string, secret: Uint8Array, now: number): Promise<Claims | undefined> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: [ALGORITHM],
      typ: "JWT",
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ["sub", "iat", "exp"],
      // The library checks that times are numbers; when they are is for the caller to judge.
      currentDate: new Date(now * 1000),
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    return payload as Claims & typeof payload;
  } catch {
    return undefined;
  }
}

/** Only a server with the secret can have made it: it is no bad credential, and is not counted as one. */
function createFutureTokenRefusal(startsAt: number, now: number): Refusal {
  const wait = startsAt - now;
  return new Refusal(
    401,
    `the token is not valid before ${wait} s from now by this server's clock; correct the clock or create a new token`,
  );
}
