/** Reads drafts of price plans to try on the accounts of a book. */
import { bookError } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { hasCode } from "../../errors.ts";
import { selectDraftAccounts } from "../../ledger/preview/preview-options.ts";
import { selectAccounts } from "../../ledger/preview/preview.ts";
import { rejection } from "../../problem-table.ts";
import type { Io } from "../io.ts";
import { readPlanFile } from "./read-documents.ts";

/** Reads drafts, as {@link readDraftFile}. */
export async function readDraftFiles(
  paths: readonly string[],
  book: Book,
  accounts: readonly string[] | undefined,
  io: Io,
): Promise<readonly PricePlan[]> {
  const plans: PricePlan[] = [];
  for (const path of paths) plans.push(await readDraftFile(path, book, accounts, io));
  return plans;
}

/**
 * Reads a draft. Currencies of the accounts that it does not support are problems.
 *
 * @param accounts the selected accounts; undefined for all
 * @throws {ProblemsError}, {UsageError}, {InputError} as {@link readPlanFile}
 */
export async function readDraftFile(
  path: string,
  book: Book,
  accounts: readonly string[] | undefined,
  io: Io,
): Promise<PricePlan> {
  const areRequested = accounts !== undefined;
  const draftAccounts = selectAccounts(book, accounts);
  return readPlanFile(path, book, io, (plan) => {
    try {
      selectDraftAccounts(draftAccounts, plan, { areRequested });
    } catch (error) {
      if (!hasCode(error, "ERR_OPTION_INVALID")) throw error;
      const part = plan.pricePlanDetails.pricingCycleConfig ? ".supportedCurrencies" : "";
      throw bookError("the plan", 1, [rejection(`$.pricePlanDetails${part}`, "NOT_SUPPORTED", error.message)]);
    }
  });
}
