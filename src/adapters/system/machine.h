// Facts about this machine that decide whether a server can work on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace postrider {

struct DirectoryFacts {
  bool writable = false;        // By this process.
  bool open_to_others = false;  // Group or others may look inside.
  std::uint64_t free_bytes = 0;
};

/// nullopt: there is no such directory, or it cannot be seen.
[[nodiscard]] std::optional<DirectoryFacts> directory_facts(const std::string& path);

/// How many files and sockets a process may raise its limit to.
[[nodiscard]] std::uint64_t open_files_limit();

/// An address of the host, through the system's resolver, which takes as long as it is configured
/// to. Fails with unavailable.
[[nodiscard]] Result<std::string> resolve_name(const std::string& host);

}  // namespace postrider
