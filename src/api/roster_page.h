// Pages of what is kept in memory, newest first: ids sort by time.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "api/json_writer.h"
#include "api/pagination.h"
#include "api/query_reader.h"

namespace postrider::api {

template <class Ref>
struct RosterPage {
  std::vector<Ref> items;
  bool more = false;
};

/// `limit`, `cursor`, `offset` and nothing else.
[[nodiscard]] inline Parsed<PageQuery> read_roster_page(const HttpRequest& request, ListKind kind) {
  QueryReader query{request};
  Parsed<PageQuery> page = read_page(query, kind);
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (page && page->place && page->place->size() != sizeof(Uuid)) {
    return tl::make_unexpected(invalid_cursor());
  }
  return page;
}

template <class SomeId, class Ref>
[[nodiscard]] RosterPage<Ref> select_page(const std::map<SomeId, Ref>& all,
                                          const PageQuery& asked) {
  auto end = all.end();
  if (asked.place) {
    SomeId last;
    std::ranges::copy(*asked.place, last.bytes.begin());
    end = all.lower_bound(last);
  }
  auto next = std::make_reverse_iterator(end);
  for (std::uint32_t skipped = 0; skipped < asked.offset && next != all.rend(); ++skipped) {
    ++next;
  }
  RosterPage<Ref> page;
  for (; next != all.rend() && page.items.size() < asked.limit; ++next) {
    page.items.push_back(next->second);
  }
  page.more = next != all.rend();
  return page;
}

/// The member `next_cursor`; `last` is the id of the page's last item.
inline void write_next_cursor(JsonWriter& writer, ListKind kind, bool more, const Uuid& last) {
  writer.key("next_cursor");
  if (more) {
    writer.value(write_cursor(kind, std::string{last.begin(), last.end()}));
  } else {
    writer.value(nullptr);
  }
}

}  // namespace postrider::api
