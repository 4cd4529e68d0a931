// Selects events by their content, with the JSON patterns of Amazon EventBridge.
//
//   {"data": {"amount": [{"numeric": [">", 100]}], "currency": ["BTC", "ETH"]}}
//
// A pattern has the structure of the event `{id, type, timestamp, tenant_id, resource_id, source,
// metadata, data}`. Where the event has a value, the pattern has an array of accepted values and
// rules. All fields of an object must match; `$or` lists alternatives. An array in the event
// matches if any of its elements matches. If the elements are objects, a single one of them must
// match the whole pattern object.
//
// Rules: prefix, suffix, equals-ignore-case, wildcard, numeric, exists, anything-but, cidr. Numbers
// are compared by value. `exists` tests for scalar values: an object or an empty array has none.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/filter/filter_plan.h"
#include "core/model/event.h"

namespace postrider {

// A string of an event may be compared with many rules. The limits keep the time for the worst
// 256 KiB of data to about 20 ms. Plain values and numbers are sorted and need no limit.
constexpr std::size_t filter_bytes_max = 8192;
constexpr std::size_t filter_fields_max = 64;
constexpr std::size_t filter_rules_max = 64;
constexpr std::size_t filter_wildcard_bytes_max = 1024;  // Of all wildcards together.

/// Describes an error in a pattern.
struct FilterFault {
  std::string path;     // `data.amount[0].numeric`. Empty for the pattern as a whole.
  std::string message;  // The end of a sentence that starts with the path.
};

/// An immutable value. Any thread.
class Filter {
 public:
  [[nodiscard]] static tl::expected<Filter, FilterFault> parse(std::string_view json);

  /// Scans the event's data at most once.
  [[nodiscard]] bool matches(const Event& event) const;

  /// An upper bound of the time for a byte of an event. 1 is the time of a filter with few rules.
  [[nodiscard]] std::size_t weight() const { return plan_.weight; }

  /// The pattern as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }

  bool operator==(const Filter& other) const { return text_ == other.text_; }

 private:
  Filter(std::string_view text, filter::Plan plan) : text_(text), plan_(std::move(plan)) {}

  std::string text_;
  filter::Plan plan_;
};

}  // namespace postrider
