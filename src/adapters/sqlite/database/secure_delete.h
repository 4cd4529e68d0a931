// Changes that overwrite deleted content in the file.
#pragma once

#include <type_traits>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// While on, SQLite overwrites everything that it deletes or moves with zeros.
[[nodiscard]] inline Result<void> set_secure_delete(Database& database, bool on) {
  return database.execute(on ? "PRAGMA secure_delete = ON" : "PRAGMA secure_delete = OFF");
}

/// Runs `body`, which returns a Result, with secure_delete on.
template <class Body>
[[nodiscard]] std::invoke_result_t<Body> with_secure_delete(Database& database, Body body) {
  POSTRIDER_CHECK(set_secure_delete(database, true));
  auto result = body();
  POSTRIDER_CHECK(set_secure_delete(database, false));
  return result;
}

}  // namespace postrider::sqlite
