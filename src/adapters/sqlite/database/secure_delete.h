// Changes that leave nothing behind of what they replace.
#pragma once

#include <type_traits>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// Runs `body`, which answers a Result: what it replaces, moves or removes is overwritten in the
/// file, too.
template <class Body>
[[nodiscard]] std::invoke_result_t<Body> leaving_no_trace(Database& database, Body body) {
  POSTRIDER_CHECK(database.execute("PRAGMA secure_delete = ON"));
  auto result = body();
  POSTRIDER_CHECK(database.execute("PRAGMA secure_delete = OFF"));
  return result;
}

}  // namespace postrider::sqlite
