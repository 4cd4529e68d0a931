// Pages of what is kept in memory, newest first: ids sort by time.
#pragma once

#include <iterator>
#include <map>

#include "api/json/pagination.h"

namespace postrider::api {

/// The page of those that `passes` lets through.
template <class SomeId, class Ref, class Passes>
[[nodiscard]] ListedById<Ref> select_page(const std::map<SomeId, Ref>& all, const IdPage& asked,
                                          Passes passes) {
  const auto end = asked.before ? all.lower_bound(SomeId{*asked.before}) : all.end();
  ListedById<Ref> page;
  SomeId last;
  std::uint32_t to_skip = asked.offset;
  for (auto next = std::make_reverse_iterator(end); next != all.rend(); ++next) {
    const auto& [id, ref] = *next;
    if (!passes(*ref)) {
      continue;
    }
    if (to_skip > 0) {
      --to_skip;
      continue;
    }
    if (page.items.size() == asked.limit) {
      page.next = last.bytes;
      break;
    }
    page.items.push_back(ref);
    last = id;
  }
  return page;
}

/// The page of all of them.
template <class SomeId, class Ref>
[[nodiscard]] ListedById<Ref> select_page(const std::map<SomeId, Ref>& all, const IdPage& asked) {
  return select_page(all, asked, [](const auto&) { return true; });
}

}  // namespace postrider::api
