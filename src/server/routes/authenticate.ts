/**
 * Tokens over HTTP (service-reference: Authentication).
 *
 * @module
 */
import * as z from "zod";

import type { KeyAccessControl } from "../access/access.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";

/** Issues a token for the calling key. */
export function authenticateEndpoints(access: Pick<KeyAccessControl, "tokenFor">): readonly Endpoint[] {
  return [
    defineEndpoint({
      method: "POST",
      path: "/authenticate",
      id: "authenticate",
      tag: "Credentials",
      summary: "Create a token",
      description:
        "A JWT, valid for 24 hours unless its key is revoked before. A request with a token returns that token.",
      access: "any",
      answers: { 200: z.strictObject({ token: z.string() }).meta({ id: "Token" }) },
      handle: async ({ caller, credential }) => {
        if (caller === undefined || credential === undefined) throw new Refusal(401, "expected a credential");
        return answerOk({ token: await access.tokenFor({ caller, credential }) });
      },
    }),
  ];
}
