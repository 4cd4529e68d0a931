// The checks of `postrider doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/machine.h"
#include "ports/schema_versions.h"

#include "cli/client/session.h"

namespace postrider::cli {

enum class Grade : std::uint8_t { ok, warn, fail };
[[nodiscard]] std::string_view to_string(Grade grade);

constexpr std::string_view data_directory_check = "data directory";
constexpr std::string_view reachable_check = "reachable";
constexpr const char* default_data_directory = "./postrider-data";

struct Finding {
  Grade grade = Grade::ok;
  std::string check;    // One or two words.
  std::string message;  // What was found.
  std::string advice;   // What to do; empty if the grade is ok.
};

struct ServerReport {
  std::vector<Finding> findings;
  std::vector<std::string> webhook_hosts;  // Host names of some of its webhooks.
};

/// Checks whether the server is reachable, and its version, readiness, clock and key. Returns one
/// finding if the server is not reachable.
[[nodiscard]] ServerReport check_server(const Session& session);

struct MachineCheckOptions {
  std::optional<std::string> data_directory;  // Unset: ./postrider-data, if it exists.
  bool holds_store = true;                    // False: only a few small files.
  std::vector<std::string> names;             // Fail if they do not resolve.
  std::vector<std::string> webhook_hosts;     // Warn if they do not resolve.
};

/// Checks the data directory, its disk, the limit of open files and host names.
[[nodiscard]] std::vector<Finding> check_machine(const Machine& machine,
                                                 const MachineCheckOptions& options);

/// Checks the store in the directory completely. Shows the progress on standard error.
[[nodiscard]] std::vector<Finding> check_store_deeply(const Ports& ports,
                                                      const std::string& directory, bool silent);

/// Checks whether the database can be reached, and its schema. Adds what a deep check leaves to
/// the tools of PostgreSQL if `deep`.
[[nodiscard]] std::vector<Finding> check_database(const Ports& ports,
                                                  const Secret<std::string>& address, bool deep);

/// `name`: the address without its password. Pure.
[[nodiscard]] Finding judge_database(const std::string& name,
                                     const Result<SchemaVersions>& versions);

/// Compares the server's Date header with `now`. Pure.
[[nodiscard]] Finding judge_clock(std::string_view date, WallTime now);

/// Pure.
[[nodiscard]] Finding judge_version(std::string_view ours, std::string_view theirs);
[[nodiscard]] Finding judge_open_files(std::uint64_t hard_limit);

}  // namespace postrider::cli
