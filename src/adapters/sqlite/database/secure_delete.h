// Changes that overwrite deleted content in the file.
#pragma once

#include <type_traits>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// Runs `body`, which returns a Result. SQLite overwrites everything that it deletes or moves with
/// zeros.
template <class Body>
[[nodiscard]] std::invoke_result_t<Body> with_secure_delete(Database& database, Body body) {
  POSTRIDER_CHECK(database.execute("PRAGMA secure_delete = ON"));
  auto result = body();
  POSTRIDER_CHECK(database.execute("PRAGMA secure_delete = OFF"));
  return result;
}

}  // namespace postrider::sqlite
