// Checks JSON against a JSON Schema. Compiling a schema is expensive, checking is cheap: a
// SchemaCheck is made once, when the schema is stored or loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

/// The checks of one request together: about 50 ms of a release build. An io thread answers nobody
/// else meanwhile.
constexpr std::uint64_t request_steps_max = 5'000'000;

/// Limits the work that one request may cause. One thread.
class StepBudget {
 public:
  explicit StepBudget(std::uint64_t steps = request_steps_max) : left_(steps) {}

  /// Returns false, and leaves nothing, if fewer steps are left.
  [[nodiscard]] bool spend(std::uint64_t steps) {
    const bool enough = steps <= left_;
    left_ = enough ? left_ - steps : 0;
    return enough;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

struct SchemaFault {
  std::string path;     // In the value: `items[2].price`. Empty: the value itself.
  std::string message;  // The end of a sentence that begins with the path.
};

struct SchemaVerdict {
  std::vector<SchemaFault> faults;  // Empty: the value satisfies the schema.
  bool out_of_steps = false;        // The budget did not suffice to tell.
};

/// Immutable. Any thread.
class SchemaCheck {
 public:
  virtual ~SchemaCheck() = default;

  /// `json` must have passed check_json.
  [[nodiscard]] virtual SchemaVerdict check(std::string_view json, StepBudget& budget) const = 0;

 protected:
  SchemaCheck() = default;
  SchemaCheck(const SchemaCheck&) = default;
  SchemaCheck& operator=(const SchemaCheck&) = default;
};

/// Fails with invalid; the message says what is wrong with the schema and where.
using MakeSchemaCheck =
    std::function<Result<std::unique_ptr<const SchemaCheck>>(std::string_view schema)>;

}  // namespace postrider
