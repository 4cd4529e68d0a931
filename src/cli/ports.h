// The ports that commands use. Main supplies the adapters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "ports/archive_reader.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/machine.h"
#include "ports/running_hash.h"
#include "ports/schema_versions.h"
#include "ports/terminal.h"

namespace postrider::cli {

/// Returns the value of an environment variable, or nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Checks the store in a data directory completely and returns what is wrong, one sentence each.
/// `progress` gets the parts that are done, of all, and the name of the next one. Fails with
/// not_found if there is no store.
using CheckStore = std::function<Result<std::vector<std::string>>(
    const std::string& directory, const std::function<void(std::uint64_t done, std::uint64_t total,
                                                           const std::string& next)>& progress)>;

/// Reads the version of the store in a PostgreSQL database. Fails with invalid if the database
/// holds something else or was written by a newer version, with unavailable if it cannot be
/// reached.
using ReadDatabaseVersions =
    std::function<Result<SchemaVersions>(const Secret<std::string>& address)>;

/// All references must outlive the command.
struct Ports {
  Environment environment;
  const Clock& clock;
  const Terminal& terminal;
  const Machine& machine;
  const Crypto& crypto;
  std::function<std::unique_ptr<RunningHash>()> make_sha256;
  std::function<std::unique_ptr<ArchiveReader>()> make_archive_reader;
  CheckStore check_store;
  ReadDatabaseVersions read_database_versions;
};

}  // namespace postrider::cli
