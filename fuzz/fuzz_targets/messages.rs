#![cfg_attr(fuzzing, no_main)]

spanner_rows_fuzz::fuzz!(spanner_rows_fuzz::messages::entry);
