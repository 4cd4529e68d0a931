// PostgreSQL's advisory locks. Each schema has its own set. Used by the thread of the session.
#pragma once

#include <cstdint>
#include <string_view>

#include "adapters/postgres/store/database/parameters.h"

namespace postrider::postgres {

/// The numbers must differ from those of other applications in the same database.
enum class AdvisoryLock : std::int32_t {
  migration = 0x50735201,  // "PsR" and a number.
  partitions = 0x50735202,
  audit_chain = 0x50735203,  ///< Held by the transaction that appends.
  server = 0x50735204,       ///< Held by connections that write. See DatabaseUse.
};

/// Takes the lock until the end of the transaction. Waits while another transaction holds it.
inline constexpr std::string_view lock_sql =
    "SELECT 1 FROM pg_advisory_xact_lock($1::integer, hashtext(current_schema()))";

/// Like lock_sql, in shared mode: other transactions can hold the lock in shared mode too.
inline constexpr std::string_view lock_shared_sql =
    "SELECT 1 FROM pg_advisory_xact_lock_shared($1::integer, hashtext(current_schema()))";

/// Tries to take the lock until the connection is closed. Returns whether it was taken.
inline constexpr std::string_view try_lock_session_sql =
    "SELECT pg_try_advisory_lock($1::integer, hashtext(current_schema()))";
inline constexpr std::string_view try_lock_session_shared_sql =
    "SELECT pg_try_advisory_lock_shared($1::integer, hashtext(current_schema()))";
/// Tries to take the lock in shared mode until the end of the transaction.
inline constexpr std::string_view try_lock_shared_sql =
    "SELECT pg_try_advisory_xact_lock_shared($1::integer, hashtext(current_schema()))";

[[nodiscard]] inline Parameters lock_parameters(AdvisoryLock lock) { return Parameters::of(lock); }

}  // namespace postrider::postgres
