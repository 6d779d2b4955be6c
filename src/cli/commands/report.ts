/** `ratebook report`: a preview and the effect of drafts, as a page to view and send. */
import type { Command } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { previewBook, previewCommand } from "./preview.ts";

// A report lists single events, which only the core does. It is always a page with explanations.
const {
  format: _format,
  summary: _summary,
  explain: _explain,
  trace: _trace,
  engine: _engine,
  ...options
} = previewCommand.options;

export const reportCommand: Command = {
  usage: "BOOK [--events FILE…] [--usage FILE…] [--plan DRAFT…] -o report.html [options]",
  options: {
    ...options,
    plan: { kind: "list", value: "FILE…", help: "a draft price plan to compare with the accounts' plans" },
  },
  run: async (args, io) => {
    const draftPaths = args.values("plan");
    if (draftPaths.length > 0) {
      if (args.values("events").length + args.values("usage").length === 0)
        throw new UsageError("missing --events or --usage: give the usage to price");
      if (args.flag("accounts-from-events"))
        throw new UsageError(
          "--accounts-from-events cannot be used with drafts, which are compared with the accounts' plans",
        );
    }
    return previewBook(args, { format: "html", draftPaths }, io);
  },
};
