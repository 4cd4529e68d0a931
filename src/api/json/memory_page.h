// Pages of a map in memory, newest first. Ids are ordered by time.
#pragma once

#include <iterator>
#include <map>

#include "api/json/pagination.h"

namespace postrider::api {

/// The page of the items for which `passes` returns true.
template <class SomeId, class Ref, class Passes>
[[nodiscard]] ListedById<Ref> select_page(const std::map<SomeId, Ref>& all, const IdPage& query,
                                          Passes passes) {
  const auto end = query.before ? all.lower_bound(SomeId{*query.before}) : all.end();
  ListedById<Ref> page;
  SomeId last;
  std::uint32_t to_skip = query.offset;
  for (auto next = std::make_reverse_iterator(end); next != all.rend(); ++next) {
    const auto& [id, ref] = *next;
    if (!passes(*ref)) {
      continue;
    }
    if (to_skip > 0) {
      --to_skip;
      continue;
    }
    if (page.items.size() == query.limit) {
      page.next = last.bytes;
      break;
    }
    page.items.push_back(ref);
    last = id;
  }
  return page;
}

/// The page of all items.
template <class SomeId, class Ref>
[[nodiscard]] ListedById<Ref> select_page(const std::map<SomeId, Ref>& all, const IdPage& query) {
  return select_page(all, query, [](const auto&) { return true; });
}

}  // namespace postrider::api
