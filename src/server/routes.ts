/**
 * Every endpoint of the API.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { ACCOUNT_PLAN_ENDPOINTS } from "./routes/account-plans.ts";
import { ACCOUNT_ENDPOINTS } from "./routes/accounts.ts";
import { ADD_ON_ENDPOINTS } from "./routes/add-ons.ts";
import { ALIAS_ENDPOINTS } from "./routes/aliases.ts";
import { CREDIT_BALANCE_ENDPOINTS } from "./routes/credit-balance.ts";
import { CREDIT_ENDPOINTS } from "./routes/credits.ts";
import { CUSTOMER_ENDPOINTS } from "./routes/customers.ts";
import { EVENT_SCHEMA_ENDPOINTS } from "./routes/event-schemas.ts";
import { EVENT_ENDPOINTS } from "./routes/events.ts";
import { FEATURE_ENTRY_ENDPOINTS } from "./routes/feature-entries.ts";
import { FEATURE_ENDPOINTS } from "./routes/features.ts";
import { INGEST_ENDPOINTS } from "./routes/ingest.ts";
import { INVOICE_GROUP_ENDPOINTS } from "./routes/invoice-groups.ts";
import { INVOICE_ENDPOINTS } from "./routes/invoices.ts";
import { LICENSE_UPDATE_ENDPOINTS } from "./routes/license-updates.ts";
import { METRIC_ENDPOINTS } from "./routes/metrics.ts";
import { MIGRATION_ENDPOINTS } from "./routes/migrations.ts";
import { PRICE_PLAN_ENDPOINTS } from "./routes/price-plans.ts";
import { REVENUE_CALCULATOR_ENDPOINTS } from "./routes/revenue-calculator.ts";
import { SETTING_ENDPOINTS } from "./routes/settings.ts";
import { USAGE_METER_ENDPOINTS } from "./routes/usage-meters.ts";

/** In the order of the document. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...CUSTOMER_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...ACCOUNT_PLAN_ENDPOINTS,
  ...ALIAS_ENDPOINTS,
  ...INVOICE_GROUP_ENDPOINTS,
  ...EVENT_SCHEMA_ENDPOINTS,
  ...USAGE_METER_ENDPOINTS,
  ...FEATURE_ENDPOINTS,
  ...ADD_ON_ENDPOINTS,
  ...PRICE_PLAN_ENDPOINTS,
  ...SETTING_ENDPOINTS,
  ...MIGRATION_ENDPOINTS,
  ...INGEST_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...FEATURE_ENTRY_ENDPOINTS,
  ...LICENSE_UPDATE_ENDPOINTS,
  ...CREDIT_ENDPOINTS,
  ...INVOICE_ENDPOINTS,
  ...CREDIT_BALANCE_ENDPOINTS,
  ...REVENUE_CALCULATOR_ENDPOINTS,
  ...METRIC_ENDPOINTS,
];
