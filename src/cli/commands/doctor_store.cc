// The check of `postrider doctor --deep`: the whole store.
#include "cli/commands/doctor_checks.h"
#include "cli/text/progress.h"

namespace postrider::cli {

std::vector<Finding> check_store_deeply(const Ports& ports, const std::string& directory,
                                        bool silent) {
  Progress progress{"check", {.silent = silent, .terminal = ports.terminal.stderr_is_terminal()}};
  const Result<std::vector<std::string>> wrong = ports.check_store(
      directory, [&](std::uint64_t done, std::uint64_t total, const std::string& next) {
        progress.show({.done = done, .total = total, .note = next});
      });
  if (!wrong) {
    return {{Grade::fail, "store", wrong.error().message,
             "Check the path, and run doctor as the user of the server."}};
  }
  if (wrong->empty()) {
    return {{Grade::ok, "store", "All pages, rows and index entries are sound.", {}}};
  }
  std::vector<Finding> findings;
  for (const std::string& sentence : *wrong) {
    findings.push_back({Grade::fail, "store", sentence, {}});
  }
  findings.back().advice =
      "Stop the server, keep a copy of the data directory, and restore the newest backup.";
  return findings;
}

}  // namespace postrider::cli
