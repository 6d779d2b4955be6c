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

/** Reads drafts until the first with problems, as {@link readDraftFile}. @returns undefined if one has problems */
export async function readDraftFiles(
  paths: readonly string[],
  book: Book,
  accounts: readonly string[] | undefined,
  io: Io,
): Promise<readonly PricePlan[] | undefined> {
  const plans: PricePlan[] = [];
  for (const path of paths) {
    const plan = await readDraftFile(path, book, accounts, io);
    if (plan === undefined) return undefined;
    plans.push(plan);
  }
  return plans;
}

/**
 * Reads a draft and prints its problems to standard error, including currencies of the accounts that it does not
 * support.
 *
 * @param accounts the selected accounts; undefined for all
 */
export async function readDraftFile(
  path: string,
  book: Book,
  accounts: readonly string[] | undefined,
  io: Io,
): Promise<PricePlan | undefined> {
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
