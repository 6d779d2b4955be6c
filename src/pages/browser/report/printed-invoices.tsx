/**
 * The printed invoices, one per page: those of the open account, or all.
 *
 * @module
 */
import type { JSX } from "preact";

import type { ReportData } from "../../report/report-data.ts";
import { Invoice } from "./invoice.tsx";

/** The invoices after the summary. */
export function PrintedInvoices({
  data,
  accountId,
}: {
  readonly data: ReportData;
  readonly accountId: string | undefined;
}): JSX.Element {
  const digits = new Map(data.totals.map((total) => [total.currency, total.digits]));
  const printedAccounts = data.accounts.filter(({ id }) => accountId === undefined || id === accountId);
  return (
    <>
      {printedAccounts.flatMap((account) =>
        (account.detail?.invoices ?? []).map((invoice, index) => (
          <Invoice
            key={`${account.id} ${index}`}
            invoice={invoice}
            account={account}
            digits={digits.get(account.currency) ?? 0}
            isPrinted
          />
        )),
      )}
    </>
  );
}
