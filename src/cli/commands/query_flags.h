// Flags that filter a list. Each becomes a query parameter.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

#include "cli/commands/syntax.h"

namespace postrider::cli {

struct QueryFlag {
  std::string usage;      // `--event-type TYPE`
  std::string parameter;  // `event_type`
  std::string description;
};

/// Must not move, because the parse writes into it: keep it in a shared_ptr.
class QueryFlags {
 public:
  using Query = std::vector<std::pair<std::string, std::string>>;

  void add(Syntax syntax, const QueryFlag& flag);
  /// May be repeated; an item matches if any value matches.
  void add_list(Syntax syntax, const QueryFlag& flag);
  /// A time, or a duration before now.
  void add_time(Syntax syntax, const QueryFlag& flag);
  /// `--limit`, and `--cursor` or `--offset`.
  void add_page(Syntax syntax);

  /// Returns the given values. Fails with invalid if a time is not valid.
  [[nodiscard]] Result<Query> query(WallTime now) const;
  /// True if any flag except those of add_page() was given.
  [[nodiscard]] bool has_filter() const;

 private:
  struct Entry {
    std::string flag;
    std::string parameter;
    std::vector<std::string> values;
    bool is_time = false;
    bool is_page = false;
  };

  Option add_entry(Syntax syntax, const QueryFlag& flag);

  std::deque<Entry> entries_;
};

}  // namespace postrider::cli
