// The single checks of `postrider doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

#include "cli/client/session.h"

namespace postrider::cli {

enum class Grade : std::uint8_t { ok, warn, fail };
[[nodiscard]] std::string_view to_string(Grade grade);

constexpr std::string_view data_directory_check = "data directory";

struct Finding {
  Grade grade = Grade::ok;
  std::string check;    // One or two words.
  std::string message;  // What was seen.
  std::string advice;   // What to do; empty when all is well.
};

struct ServerReport {
  std::vector<Finding> findings;
  std::vector<std::string> names;  // Some hosts that its webhooks point at.
};

/// Reachable, version, ready, clock, key. One finding when it cannot be reached.
[[nodiscard]] ServerReport check_server(const Session& session);

struct MachineQuestions {
  std::optional<std::string> data_directory;  // Else ./postrider-data, if it is there.
  std::vector<std::string> names;             // Must resolve.
  std::vector<std::string> targets;           // Should, but that is their owners' affair.
};

/// The data directory, its disk, open files, names.
[[nodiscard]] std::vector<Finding> check_machine(const MachineQuestions& questions);

/// `date` is the server's Date header. Pure.
[[nodiscard]] Finding judge_clock(std::string_view date, WallTime now);

/// Pure.
[[nodiscard]] Finding judge_version(std::string_view ours, std::string_view theirs);
[[nodiscard]] Finding judge_open_files(std::uint64_t hard_limit);

}  // namespace postrider::cli
