// Properties of the machine that the `doctor` command checks. Implemented by adapters/system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace postrider {

struct DirectoryFacts {
  bool writable = false;        // By this process.
  bool open_to_others = false;  // The group or others have any permission.
  std::uint64_t free_bytes = 0;
};

/// Any thread.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Returns nullopt if the directory does not exist or is not accessible.
  [[nodiscard]] virtual std::optional<DirectoryFacts> directory_facts(
      const std::string& path) const = 0;

  /// The hard limit of open files and sockets of this process. Zero if it is not known.
  [[nodiscard]] virtual std::uint64_t open_files_limit() const = 0;

  /// An address of the host, from the system's resolver. Blocks for as long as the resolver is
  /// configured to. Fails with unavailable.
  [[nodiscard]] virtual Result<std::string> resolve_name(const std::string& host) const = 0;

 protected:
  Machine() = default;
  Machine(const Machine&) = default;
  Machine& operator=(const Machine&) = default;
};

}  // namespace postrider
