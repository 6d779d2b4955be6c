/**
 * Tokens: JWTs (HS256) that represent an API key for 24 hours.
 *
 * @module
 */
import { jwtVerify, SignJWT } from "jose";

import { Refusal } from "../http/failures.ts";
import type { SecretSource } from "./secret.ts";

/** Issues and verifies tokens. */
export interface TokenService {
  /** Issues a token for a key. */
  issue(keyId: string): Promise<string>;
  /**
   * Returns the key id of a token; undefined for an invalid or expired one.
   *
   * @throws {Refusal} 401 for a valid token that starts too far in the future
   */
  verify(token: string): Promise<string | undefined>;
}

/** The lifetime of a token in seconds. */
export const TOKEN_SECONDS = 86_400;
/**
 * How far in the future a token may start, in seconds, because server clocks differ. This doesn't extend its lifetime.
 */
const CLOCK_TOLERANCE_SECONDS = 3600;
const ISSUER = "ratebook";
const AUDIENCE = "ratebook-api";
const ALGORITHM = "HS256";
/** The maximum length of a token; issued ones have about 250 characters. */
const LENGTH_MAX = 2000;

/** Creates a token service. @param clock milliseconds since 1970 */
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
      // A token expires a day after its start, even if it states a later end.
      if (exp <= now || now - iat > TOKEN_SECONDS) return undefined;
      const startsAt = Math.max(iat, nbf);
      if (startsAt > now + CLOCK_TOLERANCE_SECONDS) throw createFutureTokenRefusal(startsAt, now);
      return sub;
    },
  };
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
