/**
 * An account's credit balance over HTTP (S12).
 *
 * @module
 */
import * as z from "zod";

import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { number, pathId, formatTime, timestamp } from "../../http/fields.ts";

const creditBalanceShape = z
  .strictObject({
    accountId: z.string(),
    activeCredits: number.meta({ description: "The credited amount, minus what final invoices used." }),
    availableBalance: number.meta({ description: "`activeCredits` minus the amounts reserved by draft invoices." }),
    runningBalance: number.meta({ description: "The part of `availableBalance` that pays any line." }),
    inapplicableCredits: number.meta({ description: "The rest, which pays only some lines." }),
    unit: z.string().meta({ description: "The account's invoice currency." }),
    lastUpdatedAt: timestamp.meta({
      description: "When a credit was last created or used; without credits, when the account was created.",
    }),
  })
  .meta({ id: "CreditBalance" });

export const CREDIT_BALANCE_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}/credit_balance",
    id: "getCreditBalance",
    tag: "Credits",
    summary: "Get the current credit balance of an account",
    description: "The sum of the credits in force: started, not expired and not voided.",
    access: "read",
    params: z.strictObject({ account_id: pathId() }),
    answers: { 200: creditBalanceShape },
    handle: async ({ engine, params: { account_id: id } }) => {
      const { lastUpdatedAt, ...balance } = await engine.creditBalance(id);
      return answerOk({ ...balance, lastUpdatedAt: formatTime(lastUpdatedAt) } satisfies z.input<
        typeof creditBalanceShape
      >);
    },
  }),
];
