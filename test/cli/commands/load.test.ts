import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { createEngine } from "../../../src/index.ts";
import { openDatabase } from "../../../src/store/open-database.ts";
import { copyEmptyDatabase } from "../../support/new-database.ts";
import { failure, ratebook, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();

const ACTIVE_BOOK = { ...SMALL_BOOK, pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, status: "ACTIVE" })) };

const load = async (content: string, database: string) =>
  files.run(["load", files.file("book.json", content), "--database", database]);

describe("ratebook load", () => {
  test("loads a book into a database once, whose invoices can be printed", async () => {
    const database = join(files.path, "data");
    await copyEmptyDatabase(database);
    expect(await load(`// a comment\n${JSON.stringify(ACTIVE_BOOK)}`, database)).toEqual({
      code: 0,
      out: "book.json: loaded 1 event schema, 1 usage meter, 1 price plan, 1 customer, 1 account\n",
      err: "",
    });
    const again = await load(JSON.stringify(ACTIVE_BOOK), database);
    expect(again).toMatchObject({ code: 1, out: "" });
    expect(again.err).toMatch(/^ratebook: .*already exists; nothing was loaded.*\n$/);
    const store = await openDatabase(database);
    const ids = ACTIVE_BOOK.accounts.map(({ id }) => id);
    expect((await store.read.accounts(ids)).map(({ id }) => id)).toEqual(ids);
    const { items } = await createEngine({ store }).invoices.list();
    const [id = ""] = items.map((item) => item.id);
    await store.close();
    const page = await ratebook(["invoice", id, "--database", database, "--number", "R-1", "--locale", "de"]);
    expect([page.code, page.err]).toEqual([0, ""]);
    expect(page.out).toContain("<dt>Rechnungsnummer</dt><dd>R-1</dd>");
    expect(page.out).toContain(`<footer>${id}</footer>`);
    const unknown = await ratebook(["invoice", "inv.0123456789ABCDEF", "--database", database]);
    expect(unknown).toMatchObject({ code: 1, out: "", err: expect.stringContaining("inv.0123456789ABCDEF") });
  });

  test("rejects a database in memory", async () => {
    expect(await load(JSON.stringify(ACTIVE_BOOK), "memory")).toEqual(
      failure("--database memory keeps nothing after exit; give a directory or a URL", 2),
    );
  });
});
