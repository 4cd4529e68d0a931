// Flags that narrow a list down: each becomes a parameter of the query.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

#include "cli/commands/syntax.h"

namespace postrider::cli {

struct QueryFlag {
  std::string usage;      // `--event-type TYPE`
  std::string parameter;  // `event_type`
  std::string description;
};

/// The parse writes into it, so it stays where it is made: keep it in a shared_ptr.
class QueryFlags {
 public:
  using Query = std::vector<std::pair<std::string, std::string>>;

  void add(Syntax syntax, const QueryFlag& flag);
  /// May be given several times; any of them fits.
  void add_list(Syntax syntax, const QueryFlag& flag);
  /// A point in time, or how long ago.
  void add_time(Syntax syntax, const QueryFlag& flag);
  /// `--limit`, and `--cursor` or `--offset`.
  void add_page(Syntax syntax);

  /// What was given. Fails with invalid: a time that cannot be read.
  [[nodiscard]] Result<Query> query() const;
  /// Whether any flag but those of the page was given.
  [[nodiscard]] bool narrows() const;

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
