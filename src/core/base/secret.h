// A value that must never be printed. It cannot be formatted or streamed by accident.
#pragma once

#include <utility>

namespace postrider {

template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  /// The only access to the value, so that every use can be found by name.
  [[nodiscard]] const T& reveal() const { return value_; }

  bool operator==(const Secret&) const = default;

 private:
  T value_{};
};

}  // namespace postrider
