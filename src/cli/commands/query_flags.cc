#include "cli/commands/query_flags.h"

#include <algorithm>

#include "cli/text/time_argument.h"

namespace postrider::cli {

Option QueryFlags::add_entry(Syntax syntax, const QueryFlag& flag) {
  Entry& entry = entries_.emplace_back(Entry{.parameter = flag.parameter});
  const Option option = syntax.option(flag.usage, entry.values, flag.description);
  entry.flag = option.name();
  return option;
}

void QueryFlags::add(Syntax syntax, const QueryFlag& flag) { add_entry(syntax, flag).once(); }

void QueryFlags::add_list(Syntax syntax, const QueryFlag& flag) { add_entry(syntax, flag); }

void QueryFlags::add_time(Syntax syntax, const QueryFlag& flag) {
  add_entry(syntax, flag).once();
  entries_.back().is_time = true;
}

void QueryFlags::add_page(Syntax syntax) {
  constexpr int limit_max = 250;
  add_entry(syntax, {"--limit N", "limit", "Page size, 1 to 250 (default 50)"})
      .once()
      .range(1, limit_max);
  entries_.back().is_page = true;
  const Option cursor = add_entry(syntax, {"--cursor CURSOR", "cursor",
                                           "Cursor of the next page, from the previous one"})
                            .once();
  entries_.back().is_page = true;
  constexpr int offset_max = 1'000'000;
  add_entry(syntax, {"--offset N", "offset", "Skip this many results, at most 1000000"})
      .once()
      .range(0, offset_max)
      .excludes(cursor);
  entries_.back().is_page = true;
}

Result<QueryFlags::Query> QueryFlags::query(WallTime now) const {
  Query query;
  for (const Entry& entry : entries_) {
    for (const std::string& value : entry.values) {
      if (!entry.is_time) {
        query.emplace_back(entry.parameter, value);
        continue;
      }
      POSTRIDER_TRY(std::string time, time_argument(entry.flag, value, now));
      query.emplace_back(entry.parameter, std::move(time));
    }
  }
  return query;
}

bool QueryFlags::has_filter() const {
  return std::ranges::any_of(
      entries_, [](const Entry& entry) { return !entry.is_page && !entry.values.empty(); });
}

}  // namespace postrider::cli
