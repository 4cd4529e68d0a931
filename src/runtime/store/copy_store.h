// Copies a store into another one, compares both, and makes the copy usable (ports/store_copy.h).
// Can be interrupted at any time: the next call continues. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/audit.h"
#include "ports/store_copy.h"

namespace postrider {

enum class CopyPhase : std::uint8_t { copy, verify };

/// Rows of all tables.
struct CopyProgress {
  CopyPhase phase = CopyPhase::copy;
  std::string_view table;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// All members that are not values must be set.
struct CopyOptions {
  CopySource* source = nullptr;
  CopyTarget* target = nullptr;
  Digest digest = nullptr;
  bool only_verify = false;  // Compares a complete copy, finished or not, and changes nothing.
  std::function<void(const CopyProgress&)> progress;
};

/// A table that is equal in both stores.
struct VerifiedTable {
  std::string_view name;
  std::uint64_t rows = 0;
  std::string checksum;  // Hexadecimal, over all values of all rows.
};

struct CopyReport {
  bool was_finished = false;  // By an earlier call. This call did nothing.
  std::vector<VerifiedTable> tables;
};

/// Fails with conflict if the target holds something else, or if `only_verify` is set and a server
/// has used the copy, with corrupt if the two differ after
/// the copy; the message names the tables. The copy is then not usable.
[[nodiscard]] Result<CopyReport> copy_store(const CopyOptions& options);

}  // namespace postrider
