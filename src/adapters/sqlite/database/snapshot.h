// Runs several queries of one reader on the same state of the store.
#pragma once

#include <type_traits>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// Runs `body`, which returns a Result, in a read transaction.
template <class Body>
[[nodiscard]] std::invoke_result_t<Body> snapshot(Database& database, Body body) {
  POSTRIDER_CHECK(database.execute("BEGIN"));
  auto result = body();
  const Result<void> ended = database.execute("ROLLBACK");
  if (result && !ended) {
    return tl::make_unexpected(ended.error());
  }
  return result;
}

}  // namespace postrider::sqlite
