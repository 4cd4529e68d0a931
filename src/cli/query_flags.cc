#include "cli/query_flags.h"

#include <algorithm>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "cli/time_argument.h"

namespace postrider::cli {

CLI::Option* QueryFlags::add_entry(CLI::App& app, const QueryFlag& flag) {
  Entry& entry = entries_.emplace_back(Entry{.flag = flag.name, .parameter = flag.parameter});
  return app.add_option(flag.name, entry.values, flag.description)
      ->option_text(flag.value)
      ->allow_extra_args(false);
}

void QueryFlags::add(CLI::App& app, const QueryFlag& flag) { add_entry(app, flag)->expected(1); }

void QueryFlags::add_list(CLI::App& app, const QueryFlag& flag) { add_entry(app, flag); }

void QueryFlags::add_time(CLI::App& app, const QueryFlag& flag) {
  add_entry(app, flag)->expected(1);
  entries_.back().is_time = true;
}

void QueryFlags::add_page(CLI::App& app) {
  constexpr int limit_max = 250;
  add_entry(app, {"--limit", "limit", "N", "At most this many (1 to 250; 50 unless told)"})
      ->expected(1)
      ->check(CLI::Range(1, limit_max));
  entries_.back().is_page = true;
  CLI::Option* const cursor =
      add_entry(app, {"--cursor", "cursor", "CURSOR", "Go on where the page before ended"})
          ->expected(1);
  entries_.back().is_page = true;
  constexpr int offset_max = 1'000'000;
  add_entry(app, {"--offset", "offset", "N", "Leave the first of them out (up to 1000000)"})
      ->expected(1)
      ->check(CLI::Range(0, offset_max))
      ->excludes(cursor);
  entries_.back().is_page = true;
}

Result<QueryFlags::Query> QueryFlags::query() const {
  Query query;
  for (const Entry& entry : entries_) {
    for (const std::string& value : entry.values) {
      if (!entry.is_time) {
        query.emplace_back(entry.parameter, value);
        continue;
      }
      POSTRIDER_TRY(std::string time, time_argument(entry.flag, value));
      query.emplace_back(entry.parameter, std::move(time));
    }
  }
  return query;
}

bool QueryFlags::narrows() const {
  return std::ranges::any_of(
      entries_, [](const Entry& entry) { return !entry.is_page && !entry.values.empty(); });
}

}  // namespace postrider::cli
