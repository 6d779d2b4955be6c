/** Event files in the playground: priced like on the command line, or rejected with a message. */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";

import { eventLine, folder, ratebook } from "../cli/fake-io.ts";
import { DESK, PHONE } from "../support/browser.ts";
import { examplePath, exampleText } from "../support/examples.ts";
import { chooseFiles, openPlayground, readTotals, SMALL } from "../support/playground.ts";

const files = folder();
afterAll(() => files.remove());

const section = (page: Page) => page.locator("section[aria-labelledby=file]");
const readNumbers = async (page: Page): Promise<readonly number[]> =>
  (await readTotals(page)).map((text) => Number(text.replaceAll(/[$,]/g, "")));

/** The totals of the command line, and its messages about lines. */
async function terminal(book: string, events: string, map?: string) {
  const { out, err } = await ratebook([
    "preview",
    files.file("book.json", book),
    "--events",
    events,
    ...(map === undefined ? [] : ["--map", map]),
    "--format",
    "json",
  ]);
  const { invoices } = JSON.parse(out) as { invoices: { revenueInfo: { value: number } }[] };
  return { totals: invoices.map(({ revenueInfo }) => revenueInfo.value), err };
}

describe("a CSV file", () => {
  test.each([
    ["on a desk", DESK],
    ["on a phone", PHONE],
  ])(
    "%s: reports missing columns, has fields for them, and prices to the same totals as the terminal",
    async (_, size) => {
      const book = exampleText("llm-api", "book.json");
      const csv = examplePath("llm-api", "AzureLLMInferenceTrace_code.csv");
      const page = await openPlayground({ book }, size);
      await chooseFiles(page, csv);
      await page.getByText("Choose a column for: account, dimension service.").waitFor();
      expect(await page.getByRole("button", { name: "Price the file" }).isDisabled()).toBe(true);
      await page.getByLabel("account", { exact: true }).selectOption({ label: "same value in all rows" });
      await page.getByLabel("account, same value in all rows").fill("contoso-code");
      await page.getByLabel("dimension service", { exact: true }).selectOption({ label: "same value in all rows" });
      await page.getByLabel("dimension service, same value in all rows").fill("code");
      await page.getByText("All event fields have a column.").waitFor();
      await page.getByRole("button", { name: "Price the file" }).click();
      await page.getByText("8,819 events, 4 invoices").waitFor();
      const { totals: expected } = await terminal(book, csv, examplePath("llm-api", "code.map.json"));
      expect(expected).toHaveLength(4);
      expect(await readNumbers(page)).toEqual(expected);
      // The page took 20,573 px before; four screens are enough.
      const height = (await page.evaluate("document.documentElement.scrollHeight")) as number;
      if (size === DESK) expect(height).toBeLessThanOrEqual(4 * 800);
    },
  );

  test("compressed, with its map beside it, is priced at once", async () => {
    const book = exampleText("llm-api", "book.json");
    const csv = examplePath("llm-api", "AzureLLMInferenceTrace_conv.csv");
    const map = examplePath("llm-api", "conv.map.json");
    const { totals: expected } = await terminal(book, csv, map);
    const gzipFile = `${files.path}/conv.csv.gz`;
    writeFileSync(gzipFile, gzipSync(readFileSync(csv)));
    const page = await openPlayground({ book });
    await chooseFiles(page, gzipFile, map);
    await page.getByText("19,366 events, 4 invoices").waitFor();
    expect(await readNumbers(page)).toEqual(expected);
  });

  test("of a spreadsheet: semicolons, decimal commas, other times, invalid lines; the map works with --map", async () => {
    const rows = [
      "\uFEFFEvent ID;Konto;Datum;Wert",
      'e1;prod;20.06.2024 08:00;"1.234,5"',
      "e2;c-1;21.06.2024 08:00;765,5",
      'e3;prod;22.06.2024;10"0',
      "e4;prod;22.06.2024;100,0;too many",
      "e5;nobody;22.06.2024;1,5",
      "e1;prod;23.06.2024;5,0",
    ];
    // The last line is not UTF-8.
    const bytes = Buffer.concat([Buffer.from(`${rows.join("\r\n")}\r\n`), Buffer.from([0xff, 0x3b, 0x0a])]);
    const csv = `${files.path}/sheet.csv`;
    writeFileSync(csv, bytes);
    const page = await openPlayground();
    await chooseFiles(page, csv);
    await page.getByText("Choose a column for: dimension region.").waitFor();
    // Values of the column repeat, so the user must confirm that it contains ids.
    await page.getByLabel("event id", { exact: true }).selectOption({ label: "column Event ID" });
    await page.getByLabel("dimension region", { exact: true }).selectOption({ label: "same value in all rows" });
    await page.getByLabel("dimension region, same value in all rows").fill("eu");
    await page.getByRole("button", { name: "Price the file" }).click();
    await page.getByText("7 events, 1 invoice").waitFor();
    await page.getByText("Columns of this file").click();
    await page.getByText("The map as JSON").click();
    const map = files.file("sheet.map.json", await page.getByLabel("The map as JSON").inputValue());
    const { totals: expected, err } = await terminal(SMALL, csv, map);
    // 100 × 2 + 1,900 × 1 − 50
    expect(expected).toEqual([2050]);
    expect(await readNumbers(page)).toEqual(expected);
    const problems = (await section(page).locator(".problems li").allInnerTexts()).map((text) =>
      text.split(/^line (\d+): /).slice(1),
    );
    expect(problems.map(([at]) => at)).toEqual(["4", "5", "6", "7", "8"]);
    for (const [at = "", sentence = ""] of problems)
      if (at !== "6" && at !== "7") expect(err).toContain(`:${at}: ${sentence}`);
  });
});

test("a file whose decimal mark is unknown is refused until the form has it", async () => {
  const csv = files.file(
    "marks.csv",
    "Event ID;Account;Time;Units\ne1;prod;2024-06-20T10:00:00Z;1.234\ne2;prod;2024-06-21T10:00:00Z;7\ne3;prod;2024-06-21T10:00:00Z;NULL\n",
  );
  const map = files.file(
    "marks.map.json",
    JSON.stringify({
      schemaName: { value: "call" },
      accountId: { column: "Account" },
      id: { column: "Event ID" },
      timestamp: { column: "Time" },
      attributes: { units: { column: "Units", empty: "skip" } },
      dimensions: { region: { value: "eu" } },
    }),
  );
  const page = await openPlayground();
  await chooseFiles(page, csv, map);
  await page.getByText("1.234 is 1.234 or 1234").waitFor();
  await page.getByLabel("attribute units: decimal mark").selectOption({ label: "decimal comma, as in 1.234,5" });
  await page.getByRole("button", { name: "Price the file" }).click();
  await page.getByText("2 events, 1 invoice").waitFor();
  await page.getByText("1 row with an empty cell left out, as the map says").waitFor();
  expect(await page.getByLabel("The map as JSON").inputValue()).toContain('"decimal":');
});

test("a dropped file is priced, and dropped text is ignored", async () => {
  const page = await openPlayground();
  const drop = async (put: string): Promise<void> => {
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      ${put};
      document.querySelector(".drop-area").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }`);
  };
  await drop('dataTransfer.setData("text/plain", "no file")');
  expect(await section(page).getByRole("progressbar").count()).toBe(0);
  const event = JSON.stringify(eventLine("e1", "2024-06-20T00:00:00Z", "3000"));
  await drop(`dataTransfer.items.add(new File([${event}], "events.ndjson"))`);
  await page.getByText("1 event, 1 invoice").waitFor();
  // 100 × 2 + 2,900 × 1 − 50
  expect(await readNumbers(page)).toEqual([3050]);
});

describe("files other than one of events", () => {
  test.each([
    ["Parquet", "usage.parquet", "PAR1\0\0", "the file is Parquet"],
    ["a spreadsheet", "usage.xlsx", "PK\u0003\u0004\0", "save it as CSV in UTF-8"],
    ["UTF-16", "usage.csv", Buffer.from("\uFEFFid;time\r\n1;2\r\n", "utf16le"), "the file is UTF-16"],
    ["a PDF", "usage.pdf", "%PDF-1.7\n%", "the file is a PDF"],
    ["nothing", "usage.csv", "", "the file is empty"],
    ["a header alone", "usage.csv", "id,time\n", "expected a header and at least one row"],
    ["a JSON list", "usage.json", "[{}]", "the file is one JSON list"],
    ["damaged gzip", "usage.csv.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7]), "the gzip data is damaged"],
    ["lines that end in carriage returns", "usage.csv", "id,time\r1,2\r", "expected a header and at least one row"],
  ])("%s is reported", async (_, name, content, message) => {
    const page = await openPlayground();
    await chooseFiles(page, files.file(name, content));
    await section(page).getByText(message).waitFor();
  });

  test("two files of events, or only maps, are reported", async () => {
    const page = await openPlayground();
    const event = files.file("one.ndjson", eventLine("e1", "2024-06-20T00:00:00Z", "1"));
    const map = files.file("m.json", exampleText("llm-api", "code.map.json"));
    for (const droppedFile of [
      [event, files.file("two.ndjson", "{}\n")],
      [map, map],
    ]) {
      await chooseFiles(page, ...droppedFile);
      await page.getByText("choose one event file, with or without its map; got 2 files").waitFor();
    }
  });

  test("objects that are not events are priced with a map, as on the command line", async () => {
    const events = files.file(
      "own.ndjson",
      '{"at":"2024-06-20T00:00:00Z","who":{"account":"prod"},"units":3000,"region":"eu"}\n',
    );
    const page = await openPlayground();
    await chooseFiles(page, events);
    await page.getByText("1 event, 1 invoice").waitFor();
    await page.getByText("Columns of this file").click();
    await page.getByText("The map as JSON").click();
    const map = files.file("own.map.json", await page.getByLabel("The map as JSON").inputValue());
    const { totals: expected } = await terminal(SMALL, events, map);
    // 100 × 2 + 2,900 × 1 − 50
    expect(expected).toEqual([3050]);
    expect(await readNumbers(page)).toEqual(expected);
  });

  test("a folder, or a file that was changed after it was selected, is reported", async () => {
    const page = await openPlayground();
    const give = async (path: string): Promise<void> => {
      const session = await page.context().newCDPSession(page);
      const { root } = await session.send("DOM.getDocument");
      const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: "input[type=file]" });
      await session.send("DOM.setFileInputFiles", { files: [path], nodeId });
      await session.detach();
    };
    await give(files.path);
    await page.getByText("the file cannot be read; it may be a folder or may have changed").waitFor();
    const csv = files.file("changing.csv", "id,account,time,units\n1,prod,2024-06-20T00:00:00Z,5\n");
    await give(csv);
    await page.getByText("Choose a column for: dimension region.").waitFor();
    await page.getByLabel("dimension region", { exact: true }).selectOption({ label: "same value in all rows" });
    await page.getByLabel("dimension region, same value in all rows").fill("eu");
    writeFileSync(csv, "id,account,time,units\n1,prod,2024-06-20T00:00:00Z,5\n2,prod,2024-06-20T00:00:00Z,5\n");
    await page.getByRole("button", { name: "Price the file" }).click();
    await page.getByText("the file cannot be read; it may be a folder or may have changed").waitFor();
  });
});
