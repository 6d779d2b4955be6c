/**
 * Tokens: JWTs (HS256) that stand for an API key for 24 hours.
 *
 * @module
 */
import { jwtVerify, SignJWT } from "jose";

import type { SecretSource } from "./secret.ts";

/** Makes and reads tokens. */
export interface Tokens {
  /** A token that stands for a key. */
  issue(keyId: string): Promise<string>;
  /** The id of the key that a token stands for, undefined for one that is not ours or is over. */
  keyIdOf(token: string): Promise<string | undefined>;
}

/** Seconds for which a token is good. */
export const TOKEN_SECONDS = 86_400;
const ISSUER = "ratebook";
const AUDIENCE = "ratebook-api";
const ALGORITHM = "HS256";
/** A token of ours has about 250 characters. */
const LENGTH_MAX = 2000;

/** Tokens that are signed with a secret. @param clock milliseconds since 1970 */
export function createTokens(secret: SecretSource, clock: () => number): Tokens {
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
    keyIdOf: async (token) => {
      if (token.length > LENGTH_MAX) return undefined;
      const { tokens } = await secret();
      try {
        const { payload } = await jwtVerify(token, tokens, {
          algorithms: [ALGORITHM],
          typ: "JWT",
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["sub", "iat", "exp"],
          maxTokenAge: TOKEN_SECONDS,
          currentDate: new Date(clock()),
        });
        return payload.sub;
      } catch {
        // Whatever is wrong with it, it is no token of ours.
        return undefined;
      }
    },
  };
}
