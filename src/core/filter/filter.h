// Which events a webhook wants, by what is in them: the JSON patterns of Amazon EventBridge.
//
//   {"data": {"amount": [{"numeric": [">", 100]}], "currency": ["BTC", "ETH"]}}
//
// A pattern has the shape of the event `{id, type, timestamp, tenant_id, resource_id, source,
// metadata, data}`. Where the event has a value, the pattern has an array: the values and rules
// that are welcome there. Fields of one object must all match; `$or` holds alternatives. An array
// in the event matches when any of its elements does; for objects in an array, one of them must
// match everything the pattern says about it.
//
// Rules: prefix, suffix, equals-ignore-case, wildcard, numeric, exists, anything-but, cidr. Numbers
// are compared by value. `exists` is about values, not about objects: an empty array has none.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/filter/filter_plan.h"
#include "core/model/event.h"

namespace postrider {

// Every value of an event may meet every rule. These bound the product for the worst 256 KiB of
// data to a fraction of a second; plain values are sorted and need no such limit.
constexpr std::size_t filter_bytes_max = 8192;
constexpr std::size_t filter_fields_max = 64;
constexpr std::size_t filter_rules_max = 64;
constexpr std::size_t filter_wildcard_bytes_max = 1024;  // Of all wildcards together.

/// What is wrong with a pattern.
struct FilterFault {
  std::string path;     // `data.amount[0].numeric`; empty for the pattern as a whole.
  std::string message;  // The end of a sentence that begins with the path.
};

/// A value; any thread.
class Filter {
 public:
  [[nodiscard]] static tl::expected<Filter, FilterFault> parse(std::string_view json);

  /// Walks the event's data at most once.
  [[nodiscard]] bool matches(const Event& event) const;

  /// The pattern as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }

  bool operator==(const Filter& other) const { return text_ == other.text_; }

 private:
  Filter(std::string_view text, filter::Plan plan) : text_(text), plan_(std::move(plan)) {}

  std::string text_;
  filter::Plan plan_;
};

}  // namespace postrider
