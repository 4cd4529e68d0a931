#include "engine/shard/model_store_test.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace postrider::test {

void ModelStore::settle(const Settlement& settlement) {
  if (settlement.attempt) {
    attempts.emplace(settlement.delivery.id, settlement.attempt->number);
  }
  Delivery& row = rows.at(settlement.delivery.id);
  const bool current = settlement.delivery.revivals >= row.revivals ||
                       settlement.delivery.state == DeliveryState::succeeded;
  if (is_waiting(row.state) && current) {
    const std::uint32_t revivals = row.revivals;
    row = settlement.delivery;
    row.revivals = revivals;
  } else if (is_waiting(row.state)) {
    row.attempt_count = std::max(row.attempt_count, settlement.delivery.attempt_count);
  }
}

LaneLoaded ModelStore::load(const LoadLane& query) const {
  std::vector<Delivery> waiting;
  for (const auto& [id, row] : rows) {
    if (row.webhook_id == query.webhook_id && is_waiting(row.state)) {
      waiting.push_back(row);
    }
  }
  const bool ordered = query.ordering != Ordering::none;
  std::ranges::sort(waiting, [&](const Delivery& a, const Delivery& b) {
    return ordered ? a.sequence < b.sequence
                   : std::tie(a.due, a.sequence) < std::tie(b.due, b.sequence);
  });
  LaneLoaded page{.webhook_id = query.webhook_id, .deliveries = {}, .rest_due = {}};
  std::map<std::string, std::uint32_t> counts;
  for (const Delivery& row : waiting) {
    const std::string group = query.ordering == Ordering::none
                                  ? std::string{to_string(row.priority)}
                              : query.ordering == Ordering::per_event_type ? row.event_type
                                                                           : std::string{};
    const bool early = ordered || row.due < query.due_before;
    if (early && counts[group] < query.limit) {
      ++counts[group];
      page.deliveries.push_back(row);
    } else {
      page.rest_due = page.rest_due ? std::min(*page.rest_due, row.due) : row.due;
    }
  }
  return page;
}

}  // namespace postrider::test
