// The ports that commands use. Main supplies the adapters.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ports/archive_reader.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/machine.h"
#include "ports/running_hash.h"
#include "ports/terminal.h"

namespace postrider::cli {

/// Returns the value of an environment variable, or nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// All references must outlive the command.
struct Ports {
  Environment environment;
  const Clock& clock;
  const Terminal& terminal;
  const Machine& machine;
  const Crypto& crypto;
  std::function<std::unique_ptr<RunningHash>()> make_sha256;
  std::function<std::unique_ptr<ArchiveReader>()> make_archive_reader;
};

}  // namespace postrider::cli
