// Bounds the number of values of a metric label: the first `values_max` values are kept, all others
// become `other`. A tenant cannot exhaust memory by inventing event types.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace postrider {

// Tenants, event types and webhooks with a label of their own. More would make scrapes expensive.
constexpr std::size_t label_values_max = 100;

/// Any thread.
class LabelCap {
 public:
  explicit LabelCap(std::size_t values_max) : values_max_(values_max) {}

  [[nodiscard]] std::string label(std::string_view value) {
    const std::lock_guard lock{mutex_};
    const auto found = values_.find(value);
    if (found != values_.end()) {
      return *found;
    }
    if (values_.size() >= values_max_) {
      return "other";
    }
    return *values_.emplace(value).first;
  }

 private:
  const std::size_t values_max_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> values_;
};

}  // namespace postrider
