/**
 * Every endpoint of the API.
 *
 * @module
 */
import type { Endpoint } from "../http/endpoint.ts";
import { ACCOUNT_PLAN_ENDPOINTS } from "./account-plans.ts";
import { ACCOUNT_ENDPOINTS } from "./accounts.ts";
import { ADD_ON_ENDPOINTS } from "./add-ons.ts";
import { ALIAS_ENDPOINTS } from "./aliases.ts";
import { CREDIT_BALANCE_ENDPOINTS } from "./credit-balance.ts";
import { CREDIT_ENDPOINTS } from "./credits.ts";
import { CUSTOMER_ENDPOINTS } from "./customers.ts";
import { EVENT_SCHEMA_ENDPOINTS } from "./event-schemas.ts";
import { EVENT_ENDPOINTS } from "./events.ts";
import { FEATURE_ENTRY_ENDPOINTS } from "./feature-entries.ts";
import { FEATURE_ENDPOINTS } from "./features.ts";
import { INGEST_ENDPOINTS } from "./ingest.ts";
import { INVOICE_GROUP_ENDPOINTS } from "./invoice-groups.ts";
import { INVOICE_ENDPOINTS } from "./invoices.ts";
import { LICENSE_UPDATE_ENDPOINTS } from "./license-updates.ts";
import { LINE_EVENT_ENDPOINTS } from "./line-events.ts";
import { METRIC_ENDPOINTS } from "./metrics.ts";
import { MIGRATION_ENDPOINTS } from "./migrations.ts";
import { PRICE_PLAN_ENDPOINTS } from "./price-plans.ts";
import { REVENUE_CALCULATOR_ENDPOINTS } from "./revenue-calculator.ts";
import { SETTING_ENDPOINTS } from "./settings.ts";
import { USAGE_METER_ENDPOINTS } from "./usage-meters.ts";

/** In document order. */
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
  ...LINE_EVENT_ENDPOINTS,
  ...CREDIT_BALANCE_ENDPOINTS,
  ...REVENUE_CALCULATOR_ENDPOINTS,
  ...METRIC_ENDPOINTS,
];
