/**
 * The OpenAPI document over HTTP.
 *
 * @module
 */
import * as z from "zod";

import { type Endpoint, endpoint, JSON_TYPE } from "../http/endpoint.ts";

/** @param documentAt the JSON text of the document of an API at an address */
export function documentationEndpoints(documentAt: (baseUrl: string) => string): readonly Endpoint[] {
  return [
    endpoint({
      method: "GET",
      path: "/openapi.json",
      id: "openApi",
      tag: "Service",
      summary: "This document",
      access: "public",
      answers: {
        200: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }).meta({
          id: "OpenApi",
          description: "An OpenAPI 3.1 document.",
        }),
      },
      handle: async ({ baseUrl }) => ({ status: 200, body: documentAt(baseUrl()), contentType: JSON_TYPE }),
    }),
  ];
}
