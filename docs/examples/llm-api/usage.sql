-- Every line of this example's invoices, calculated from the raw traces with numeric arithmetic, without ratebook.
-- It contains the prices of book.json. PostgreSQL rounds numeric half away from zero, as the invoices do.
--
--   psql -f tables.sql \
--     -c "\copy code_trace from AzureLLMInferenceTrace_code.csv csv header" \
--     -c "\copy conv_trace from AzureLLMInferenceTrace_conv.csv csv header" \
--     -f usage.sql
with
  usage (account, class, requests, context, generated) as (
    select 'contoso-code', 'premium', count(*), sum(context_tokens) * 0.000001, sum(generated_tokens) * 0.000001
    from code_trace
    union all
    select 'contoso-chat', 'standard', count(*), sum(context_tokens) * 0.000001, sum(generated_tokens) * 0.000001
    from conv_trace
  ),
  -- What each card prices. 20 million archived tokens are granted; what goes beyond them is overage.
  quantities (account, place, kind, tag, card, quantity) as (
    select account, 1, 'USAGE', 'Tokens', 'um.context.' || class, context from usage
    union all
    select account, 2, 'USAGE', 'Tokens', case class when 'premium' then 'um.generated.premium' else 'um.generated.std' end,
      generated from usage
    union all
    select account, 3, 'USAGE', null, 'um.requests', requests from usage
    union all
    select account, 4, 'BILLING_ENTITLEMENT', null, 'feature.archive', 20 from usage
    union all
    select account, 5, 'ENTITLEMENT_OVERAGE', null, 'feature.archive', greatest(context + generated - 20, 0) from usage
  ),
  slabs (kind, card, slab, start_after, end_at, rate, package_size) as (
    values
      ('USAGE', 'um.context.premium', 1, 0, 10, 3, null),
      ('USAGE', 'um.context.premium', 2, 10, null, 2.4, null),
      ('USAGE', 'um.generated.premium', 1, 0, 0.2, 15, null),
      ('USAGE', 'um.generated.premium', 2, 0.2, null, 12, null),
      ('USAGE', 'um.context.standard', 1, 0, 10, 0.5, null),
      ('USAGE', 'um.context.standard', 2, 10, null, 0.4, null),
      ('USAGE', 'um.generated.std', 1, 0, 2, 1.5, null),
      ('USAGE', 'um.generated.std', 2, 2, null, 1.2, null),
      ('USAGE', 'um.requests', 1, 0, null, 0.1, 1000),
      ('BILLING_ENTITLEMENT', 'feature.archive', 1, 0, null, 0, null),
      ('ENTITLEMENT_OVERAGE', 'feature.archive', 1, 0, null, 0.1, null)
  ),
  parts as (
    select *, least(quantity, coalesce(end_at, quantity)) - start_after as units
    from quantities join slabs using (kind, card)
    where quantity > start_after
  ),
  priced as (
    select *, rate * case when package_size is null then units else ceil(units / package_size) end as exact from parts
  ),
  -- A card is rounded once. Its slabs are cut to the cent; the cents missing go to the largest remainders.
  cards as (
    select account, place, kind, tag, card, quantity, sum(exact) as exact, round(sum(exact), 2) as amount
    from priced
    group by account, place, kind, tag, card, quantity
  ),
  cut as (
    select *, floor(exact * 100) / 100 as cents,
      row_number() over (partition by account, place order by exact * 100 - floor(exact * 100) desc, slab) as turn
    from priced
  ),
  slab_lines as (
    select cut.*,
      cents + case when turn <= (cards.amount - sum(cents) over (partition by account, place)) * 100 then 0.01 else 0 end as amount
    from cut join cards using (account, place)
  ),
  sums as (
    select account, 20.00 as fee, sum(amount) as sub_total from cards group by account
  ),
  -- The commitment of 100 is the code account's, the credit of 25 the chat account's: first the fee takes from it.
  adjusted as (
    select *,
      case account when 'contoso-code' then greatest(100 - fee - sub_total, 0) else 0 end as true_up,
      case account when 'contoso-chat' then least(25, fee) else 0 end as fee_credit,
      case account when 'contoso-chat' then least(25 - least(25, fee), sub_total) else 0 end as credit
    from sums
  ),
  lines (account, invoice, place, slab, line, id, quantity, exact, amount) as (
    select account, 'STANDARD_ADVANCED', 0, 0, 'ADVANCED_FIXED_FEE', 'addon.platform', null::numeric, fee, fee from sums
    union all
    select account, 'STANDARD_ADVANCED', 6, 0, 'SUB_TOTAL_AMOUNT', null, null, null, fee from sums
    union all
    select account, 'STANDARD_ADVANCED', 8, 0, 'TOTAL_CREDITS', null, null, null, -fee_credit from adjusted where fee_credit > 0
    union all
    select account, 'STANDARD_ADVANCED', 9, 0, 'TOTAL_AMOUNT', null, null, null, fee - fee_credit from adjusted
    union all
    select account, 'STANDARD', 0, 0, 'CUSTOM_TAG', null, null, null, sum(amount) from cards where tag = 'Tokens' group by account
    union all
    select account, 'STANDARD', place, 0, kind || '_RATE_CARD_AMOUNT', card, quantity, exact, amount from cards
    union all
    select account, 'STANDARD', place, slab, kind || '_RATE_CARD_SLAB_AMOUNT', card, units, exact, amount from slab_lines
    union all
    select account, 'STANDARD', 6, 0, 'SUB_TOTAL_AMOUNT', null, null, null, sub_total from sums
    union all
    select account, 'STANDARD', 7, 0, 'TRUE_UP_AMOUNT', null, null, null, true_up from adjusted where true_up > 0
    union all
    select account, 'STANDARD', 8, 0, 'TOTAL_CREDITS', null, null, null, -credit from adjusted where credit > 0
    union all
    select account, 'STANDARD', 9, 0, 'TOTAL_AMOUNT', null, null, null, sub_total + true_up - credit from adjusted
  )
select account, invoice, line, id, trim_scale(quantity) as quantity, trim_scale(exact) as exact, round(amount, 2) as amount
from lines
order by account desc, invoice desc, place, slab;
