/** Stored documents are validated when they are read; documents of older versions get the book's defaults. */
import { describe, expect, test } from "vitest";

import { toTypedDocument, type TypedKind } from "../../src/engine/documents.ts";
import { InvariantError } from "../../src/errors.ts";
import { createEngine, memoryStore } from "../../src/index.ts";
import type { DocumentRecord } from "../../src/ledger/decision.ts";

function documentRecord(kind: DocumentRecord["kind"], id: string, body: DocumentRecord["body"]): DocumentRecord {
  return { kind, id, createdAt: 1, updatedAt: 2, body };
}

describe("S16 the body of a stored document", () => {
  test.each<[TypedKind, DocumentRecord["body"], DocumentRecord["body"]]>([
    ["eventSchema", { name: "call" }, { name: "call", version: 1, status: "ACTIVE" }],
    [
      "pricePlan",
      { id: "pp.a", name: "Team", version: null },
      { id: "pp.a", name: "Team", version: 1, status: "DRAFT" },
    ],
    ["addOn", { id: "ao.a", name: "Fee", type: "FIXED_FEE" }, { status: "ACTIVE" }],
    ["setting", { id: "tax", value: "1" }, { namespace: "user", entityType: "ORGANIZATION", value: "1" }],
    ["customer", { id: "acme", name: "Acme" }, { status: "ACTIVE" }],
    ["alias", {}, {}],
  ])("of a %s without newer fields is read with their defaults", (kind, body, expected) => {
    expect(toTypedDocument(kind, documentRecord(kind, "id", body)).body).toMatchObject(expected);
  });

  test("keeps unknown fields, in order", () => {
    const body = { zone: "eu", name: "call", status: "DRAFT", attributes: [{ unit: "s", name: "n" }], version: 3 };
    expect(JSON.stringify(toTypedDocument("eventSchema", documentRecord("eventSchema", "call@3", body)).body)).toBe(
      JSON.stringify(body),
    );
  });

  test.each<[TypedKind, DocumentRecord["body"], string]>([
    ["eventSchema", { name: "call", status: "GONE" }, "status"],
    ["usageMeter", { id: "um.a", name: 5, aggregation: "SUM" }, "name"],
    ["customer", { id: "acme" }, "name"],
  ])("of a %s that is invalid is rejected with its problem", (kind, body, field) => {
    expect(() => toTypedDocument(kind, documentRecord(kind, "broken", body))).toThrow(InvariantError);
    expect(() => toTypedDocument(kind, documentRecord(kind, "broken", body))).toThrow(`"broken" is valid: ${field}:`);
  });

  test("of an older store is part of an engine's configuration", async () => {
    const store = memoryStore();
    const documents = [
      documentRecord("eventSchema", "call@1", { name: "call", attributes: [{ name: "n" }] }),
      documentRecord("setting", "setting.user.tax", { id: "tax", value: "1" }),
    ];
    const changes = { documents, configurationRevision: 1 };
    const scope = { configuration: "exclusive", accountIds: [], eventIds: [] } as const;
    await store.transact(scope, async () => ({ result: undefined, changes }));
    const engine = createEngine({ store });
    const { items } = await engine.eventSchemas.list({ filter: { status: "ACTIVE" } });
    expect(items.map(({ item }) => item.version)).toEqual([1]);
    expect((await engine.settings.get("setting.user.tax")).item.entityType).toBe("ORGANIZATION");
    expect((await engine.eventSchemas.update("call", { attributes: [{ name: "more" }] })).item.version).toBe(2);
  });
});
