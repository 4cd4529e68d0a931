// How PostgreSQL plans the statements of a transaction. A plan must not depend on its statistics:
// they are wrong for a table that has just been filled, and a wrong plan reads all of it. Queue one
// of these before the other statements of a read.
#pragma once

#include <string_view>

namespace postrider::postgres {

/// For lists: the planner takes the index that reads the fewest rows in the order of the list. By
/// default it may prefer to read many adjacent rows and to sort them.
inline constexpr std::string_view plan_by_index =
    "SELECT set_config('random_page_cost', '0', true), set_config('seq_page_cost', '0', true),"
    " set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('enable_sort', 'off', true),"
    " set_config('max_parallel_workers_per_gather', '0', true)";

/// For prepared statements that find rows by many ids: looks each up in an index, and plans once
/// per session.
inline constexpr std::string_view plan_once_by_index =
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true),"
    " set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('max_parallel_workers_per_gather', '0', true)";

}  // namespace postrider::postgres
