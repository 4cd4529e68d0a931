// Checks JSON against a JSON Schema. Compiling a schema is expensive, checking is cheap: a
// SchemaCheck is made once, when the schema is stored or loaded.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

struct SchemaFault {
  std::string path;     // In the value: `items[2].price`. Empty: the value itself.
  std::string message;  // The end of a sentence that begins with the path.
};

/// Immutable. Any thread.
class SchemaCheck {
 public:
  virtual ~SchemaCheck() = default;

  /// Returns no faults if `json`, which must have passed check_json, satisfies the schema. The time
  /// is bounded; a value that would take longer has a fault.
  [[nodiscard]] virtual std::vector<SchemaFault> check(std::string_view json) const = 0;

 protected:
  SchemaCheck() = default;
  SchemaCheck(const SchemaCheck&) = default;
  SchemaCheck& operator=(const SchemaCheck&) = default;
};

/// Fails with invalid; the message says what is wrong with the schema and where.
using MakeSchemaCheck =
    std::function<Result<std::unique_ptr<const SchemaCheck>>(std::string_view schema)>;

}  // namespace postrider
