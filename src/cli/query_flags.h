// Flags that narrow a list down: each becomes a parameter of the query.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "core/result.h"

namespace postrider::cli {

struct QueryFlag {
  std::string name;       // `--event-type`
  std::string parameter;  // `event_type`
  std::string value;      // `TYPE`, as the help shows it.
  std::string description;
};

/// CLI11 writes into it, so it stays where it is made: keep it in a shared_ptr.
class QueryFlags {
 public:
  using Query = std::vector<std::pair<std::string, std::string>>;

  void add(CLI::App& app, const QueryFlag& flag);
  /// May be given several times; any of them fits.
  void add_list(CLI::App& app, const QueryFlag& flag);
  /// A point in time, or how long ago.
  void add_time(CLI::App& app, const QueryFlag& flag);
  /// `--limit`, and `--cursor` or `--offset`.
  void add_page(CLI::App& app);

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

  CLI::Option* add_entry(CLI::App& app, const QueryFlag& flag);

  std::deque<Entry> entries_;
};

}  // namespace postrider::cli
