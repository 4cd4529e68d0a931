// Which store a command works on: a data directory, or the PostgreSQL database of servers.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/secret.h"

#include "cli/commands/syntax.h"
#include "cli/ports.h"

namespace postrider::cli {

/// Adds `--store`.
void add_database(Syntax syntax, std::optional<std::string>& address);

/// The address of the database, from `--store` or POSTRIDER_STORE; empty: the store is in the data
/// directory. As for `serve`, a database replaces the data directory, even one that was named.
/// Fails with invalid if the address is not one of PostgreSQL.
[[nodiscard]] Result<Secret<std::string>> choose_database(const std::optional<std::string>& flag,
                                                          const Environment& environment);

}  // namespace postrider::cli
