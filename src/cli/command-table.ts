/** The commands by name, each loaded only when it is named: `--help` loads none of them. */
import type { Command } from "./arguments.ts";

/** A command that is not loaded yet. */
export interface CommandEntry {
  /** One line on what it does. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: {
    summary: "Writes a commented book that you can run: from a template, or for your own event file.",
    load: async () => (await import("./commands/init.ts")).initCommand,
  },
  preview: {
    summary: "Meters events and previews the invoices of all accounts, or of the given ones.",
    load: async () => (await import("./commands/preview.ts")).previewCommand,
  },
  report: {
    summary:
      "Previews invoices as a self-contained HTML page: totals, accounts, invoices and how each amount was calculated.",
    load: async () => (await import("./commands/report.ts")).reportCommand,
  },
  invoice: {
    summary: "Writes invoices of a file or a database as an HTML page to send or print, in English, German or French.",
    load: async () => (await import("./commands/invoice.ts")).invoiceCommand,
  },
  meter: {
    summary: "Meters events and writes usage by account, meter and day, for --usage of other commands.",
    load: async () => (await import("./commands/meter.ts")).meterCommand,
  },
  sql: {
    summary:
      "Prints the meters of a book as SQL for a table of events, or explains why a meter cannot be computed in SQL.",
    load: async () => (await import("./commands/sql.ts")).sqlCommand,
  },
  check: {
    summary: "Checks a book, or a price plan against it: prints every problem, and warns about probable omissions.",
    load: async () => (await import("./commands/check.ts")).checkCommand,
  },
  format: {
    summary: "Writes a book in its short form, or its long one, in place: comments stay.",
    load: async () => (await import("./commands/format.ts")).formatCommand,
  },
  prices: {
    summary: "Writes a price table as a spreadsheet (CSV), and puts a changed one back into the book: comments stay.",
    load: async () => (await import("./commands/prices.ts")).pricesCommand,
  },
  schema: {
    summary: 'Prints the paths of the JSON Schemas of a book, a plan and a map, for "$schema" in an editor.',
    load: async () => (await import("./commands/schema.ts")).schemaCommand,
  },
  verify: {
    summary: "Recomputes invoices from their explanations with independent code, and lists every difference.",
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  lint: {
    summary: "Finds prices and rules that are valid but probably a mistake, each with an example to check by hand.",
    load: async () => (await import("./commands/lint.ts")).lintCommand,
  },
  chart: {
    summary: "Draws the price of a plan by quantity as an SVG, and lists where the price jumps or falls.",
    load: async () => (await import("./commands/chart.ts")).chartCommand,
  },
  play: {
    summary: "Opens the playground in a browser: change a plan or its usage, and see the invoice.",
    load: async () => (await import("./commands/play.ts")).playCommand,
  },
  backtest: {
    summary: "Prices the same usage on the current plans and on each draft, and shows what each account would pay.",
    load: async () => (await import("./commands/backtest.ts")).backtestCommand,
  },
  diff: {
    summary: "Compares two files of explained invoices, and explains the differences line by line.",
    load: async () => (await import("./commands/diff.ts")).diffCommand,
  },
  conformance: {
    summary: "Sends test vectors to a program, one per line, and compares its answers with the expected results.",
    load: async () => (await import("./commands/conformance.ts")).conformanceCommand,
  },
  load: {
    summary: "Loads a book into a database. If any of its resources exists, nothing is loaded.",
    load: async () => (await import("./commands/load.ts")).loadCommand,
  },
  export: {
    summary: "Writes the book, usage, events and invoices of a database to files that other commands can read.",
    load: async () => (await import("./commands/export.ts")).exportCommand,
  },
  serve: {
    summary: "Serves the billing API over a database.",
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  keys: {
    summary: "Creates, lists and revokes API keys of a database, even while a server uses it.",
    load: async () => (await import("./commands/keys.ts")).keysCommand,
  },
  late: {
    summary: "Lists usage that arrived after its invoice became final, and what it would have cost.",
    load: async () => (await import("./commands/late.ts")).lateCommand,
  },
};
