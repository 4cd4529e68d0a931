// Parses the rules of a filter's pattern. Used by filter only.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/filter/filter.h"
#include "core/filter/filter_rules.h"

namespace postrider::filter {

template <class T>
using Read = tl::expected<T, FilterFault>;

[[nodiscard]] inline tl::unexpected<FilterFault> refuse(std::string path, std::string message) {
  return tl::make_unexpected(FilterFault{std::move(path), std::move(message)});
}

struct ReadRule {
  Rule rule;
  bool matches_absence = false;  // `exists: false`. The rule then matches no value.
};

/// Use one reader per filter: it enforces the limits of a whole filter.
class RuleReader {
 public:
  /// `raw` is the object at `path`, which must contain one rule.
  [[nodiscard]] Read<ReadRule> read(std::string_view raw, const std::string& path);

 private:
  [[nodiscard]] Read<ReadRule> read_named(std::string_view name, std::string_view raw,
                                          const std::string& path);
  [[nodiscard]] Read<Rule> read_anything_but(std::string_view raw, const std::string& path);
  [[nodiscard]] Read<Test> read_text_test(std::string_view name, std::string_view raw,
                                          const std::string& path);
  [[nodiscard]] Read<Test> read_wildcard(const std::string& text, const std::string& path);

  std::size_t rules_left_ = filter_rules_max;
  std::size_t wildcard_bytes_left_ = filter_wildcard_bytes_max;
};

}  // namespace postrider::filter
