// A value that must never be printed: there is no way to format or stream it by accident.
#pragma once

#include <utility>

namespace postrider {

template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  /// The only way in, so that every use can be found by name.
  [[nodiscard]] const T& reveal() const { return value_; }

  bool operator==(const Secret&) const = default;

 private:
  T value_{};
};

}  // namespace postrider
