#include "adapters/memory/memory_lanes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace postrider {
namespace {

void update_rest_due(LanePage& page, WallTime due) {
  page.rest_due = std::min(page.rest_due.value_or(due), due);
}

LanePage by_due_time(std::vector<Delivery> waiting, const LoadLane& query) {
  std::ranges::stable_sort(waiting, {}, [](const Delivery& delivery) {
    return std::pair{delivery.priority, delivery.due};
  });
  LanePage page;
  std::array<std::uint32_t, priority_count> taken{};
  for (Delivery& delivery : waiting) {
    std::uint32_t& count = taken[static_cast<std::size_t>(delivery.priority)];
    if (count < query.limit && delivery.due < query.due_before) {
      ++count;
      page.deliveries.push_back(std::move(delivery));
    } else {
      update_rest_due(page, delivery.due);
    }
  }
  return page;
}

LanePage by_sequence(const std::vector<Delivery>& waiting, std::uint32_t limit) {
  LanePage page;
  const std::size_t count = std::min<std::size_t>(limit, waiting.size());
  page.deliveries.assign(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
  if (count < waiting.size()) {
    page.rest_due = waiting[count].due;
  }
  return page;
}

LanePage by_type(const std::vector<Delivery>& waiting, std::uint32_t limit) {
  std::map<std::string, std::vector<Delivery>> by_type;
  for (const Delivery& delivery : waiting) {
    by_type[delivery.event_type].push_back(delivery);
  }
  std::vector<const std::vector<Delivery>*> types;
  types.reserve(by_type.size());
  for (const auto& [name, deliveries] : by_type) {
    types.push_back(&deliveries);
  }
  std::ranges::sort(types, {}, [](const std::vector<Delivery>* deliveries) {
    return std::pair{deliveries->front().due, deliveries->front().sequence};
  });
  LanePage page;
  for (std::size_t i = 0; i < types.size(); ++i) {
    LanePage part = by_sequence(*types[i], i < lane_types_max ? limit : 0);
    std::ranges::move(part.deliveries, std::back_inserter(page.deliveries));
    if (part.rest_due) {
      update_rest_due(page, *part.rest_due);
    }
  }
  std::ranges::sort(page.deliveries, {}, &Delivery::sequence);
  return page;
}

}  // namespace

LanePage make_lane_page(const std::vector<Delivery>& waiting, const LoadLane& query) {
  switch (query.ordering) {
    case Ordering::none:
      return by_due_time(waiting, query);
    case Ordering::strict:
      return by_sequence(waiting, query.limit);
    case Ordering::per_event_type:
      return by_type(waiting, query.limit);
  }
  return {};
}

}  // namespace postrider
