// The complete check of a store: what `postrider doctor --deep` runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {

/// The parts that are done, of all, and the name of the next one.
using DeepCheckProgress =
    std::function<void(std::uint64_t done, std::uint64_t total, const std::string& next)>;

/// Returns what is wrong, one sentence each; at most some dozens. Checks that no transactions are
/// missing, every page, row and index entry, the chain of the audit log, and that every waiting
/// delivery has its event and its webhook's lane. Only reads, whether or not a server uses the
/// directory. Fails with not_found when there is no store, unavailable when it cannot be opened.
/// The options must have the digest.
[[nodiscard]] Result<std::vector<std::string>> check_sqlite_deeply(
    const SqliteOptions& options, const DeepCheckProgress& progress);

}  // namespace postrider
