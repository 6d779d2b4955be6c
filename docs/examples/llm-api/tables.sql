-- The raw traces as tables: one row a request, columns as in the CSV files.
create table code_trace (requested_at timestamp, context_tokens bigint, generated_tokens bigint);
create table conv_trace (requested_at timestamp, context_tokens bigint, generated_tokens bigint);
