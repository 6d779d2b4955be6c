/**
 * The OpenAPI document over HTTP.
 *
 * @module
 */
import * as z from "zod";

import { type Endpoint, defineEndpoint, JSON_TYPE } from "../http/endpoint.ts";

/** @param serializeDocument returns the document for a base URL as JSON */
export function documentationEndpoints(serializeDocument: (baseUrl: string) => Promise<string>): readonly Endpoint[] {
  return [
    defineEndpoint({
      method: "GET",
      path: "/openapi.json",
      id: "openApi",
      tag: "Service",
      summary: "Get this document",
      access: "public",
      answers: {
        200: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }).meta({
          id: "OpenApi",
          description: "An OpenAPI 3.1 document.",
        }),
      },
      handle: async ({ baseUrl }) => {
        const body = await serializeDocument(baseUrl());
        return { status: 200, body, contentType: JSON_TYPE };
      },
    }),
  ];
}
