// The checks of `postrider doctor` on the store: the database, or with --deep the whole store in
// the data directory.
#include <fmt/format.h>

#include "cli/commands/doctor_checks.h"
#include "cli/text/progress.h"
#include "config/source_address.h"

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

Finding judge_database(const std::string& name, const Result<SchemaVersions>& versions) {
  if (!versions) {
    const bool is_away = versions.error().code == Errc::unavailable;
    return {Grade::fail, "database", fmt::format("{}: {}", name, versions.error().message),
            is_away ? "Check the address, the password and the database server."
                    : "See docs/guide/postgresql.md."};
  }
  if (versions->found < versions->newest) {
    return {Grade::warn, "database",
            fmt::format("{} has the schema version {}, this program {}.", name, versions->found,
                        versions->newest),
            "The next start of a server migrates it, and so does `postrider migrate`."};
  }
  return {Grade::ok,
          "database",
          fmt::format("{} answers and has the schema version {}.", name, versions->found),
          {}};
}

std::vector<Finding> check_database(const Ports& ports, const Secret<std::string>& address,
                                    bool deep) {
  std::vector<Finding> findings{judge_database(config::shown_address(address.reveal()),
                                               ports.read_database_versions(address))};
  if (deep) {
    findings.push_back({Grade::warn, "store",
                        "The pages, rows and indexes of a database are not checked here.",
                        "Check them with pg_amcheck, and the audit log with "
                        "GET /v1/audit-log/verify."});
  }
  return findings;
}

}  // namespace postrider::cli
