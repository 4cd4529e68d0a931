// Looks for damage in the files of a store, a little at a time, while the store is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace postrider {

struct CheckStep {
  std::uint64_t rows = 0;             // Rows that were checked.
  bool pass_ended = false;            // All of the store has been checked once more.
  std::optional<std::string> damage;  // A sentence that names the table.
};

/// Remembers where it stopped. Calls block and may come from different threads, one at a time.
class StoreCheck {
 public:
  virtual ~StoreCheck() = default;

  /// Checks about this many more rows with their index entries. Damaged parts are skipped, so that
  /// the pass ends. Fails with unavailable if nothing could be checked now.
  [[nodiscard]] virtual Result<CheckStep> check_some(std::uint32_t rows_max) = 0;

 protected:
  StoreCheck() = default;
  StoreCheck(const StoreCheck&) = default;
  StoreCheck& operator=(const StoreCheck&) = default;
};

}  // namespace postrider
