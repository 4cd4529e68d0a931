// How much one request may count.
#pragma once

namespace postrider::api {

/// A count is read in rounds, each on its own turn of the caller, so that others do not wait for
/// it. This many rounds of `scanned_default` rows take about half a second.
constexpr int count_rounds_max = 20;

/// Grouping reads more of each row than counting.
constexpr int group_rounds_max = 5;

}  // namespace postrider::api
