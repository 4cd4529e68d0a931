// The checks of `postrider doctor` on this machine.
#include <filesystem>

#include <fmt/format.h>

#include "cli/commands/doctor_checks.h"
#include "config/config.h"
#include "config/descriptor_limits.h"

namespace postrider::cli {
namespace {

constexpr std::uint64_t free_bytes_warn = 1ull << 30;
constexpr std::uint64_t free_bytes_fail = 100ull << 20;

Finding judge_rights(const std::string& directory, const DirectoryFacts& facts) {
  if (!facts.writable) {
    return {Grade::fail, std::string{data_directory_check},
            fmt::format("This user cannot write to {}.", directory),
            "Run doctor as the user of the server, or change the owner of the directory."};
  }
  if (facts.open_to_others) {
    return {Grade::warn, std::string{data_directory_check},
            fmt::format("Other users can read {}.", directory),
            fmt::format("It contains secrets. Run: chmod 700 {}", directory)};
  }
  return {Grade::ok,
          std::string{data_directory_check},
          fmt::format("Only its owner can access {}.", directory),
          {}};
}

Finding judge_space(const DirectoryFacts& facts) {
  const std::string message = fmt::format("{} MB are free.", facts.free_bytes >> 20);
  if (facts.free_bytes >= free_bytes_warn) {
    return {Grade::ok, "disk", message, {}};
  }
  return {facts.free_bytes < free_bytes_fail ? Grade::fail : Grade::warn, "disk", message,
          "Free some space. With a full disk, no events can be published."};
}

void check_directory(const Machine& machine, const MachineCheckOptions& options,
                     std::vector<Finding>& findings) {
  const std::optional<std::string>& given = options.data_directory;
  const std::string directory = given.value_or(default_data_directory);
  const std::optional<DirectoryFacts> facts = machine.directory_facts(directory);
  if (facts) {
    findings.push_back(judge_rights(directory, *facts));
    if (options.holds_store) {
      findings.push_back(judge_space(*facts));
    }
  } else if (given) {
    findings.push_back({Grade::fail, std::string{data_directory_check},
                        fmt::format("{} is not an accessible directory.", directory),
                        "Check the path, and run doctor as the user of the server."});
  }
}

Finding check_name(const Machine& machine, const std::string& name, Grade bad) {
  const Result<std::string> address = machine.resolve_name(name);
  if (address) {
    return {Grade::ok, "dns", fmt::format("{} resolves to {}.", name, *address), {}};
  }
  return {bad, "dns", fmt::format("{} cannot be resolved: {}.", name, address.error().message),
          "Check the name and /etc/resolv.conf. Deliveries to this host fail with category `dns`."};
}

}  // namespace

Finding judge_open_files(std::uint64_t hard_limit) {
  constexpr std::size_t io_threads = 1;  // More need only a few more files.
  const config::Config defaults;
  const config::SocketLimits wanted{.in_flight = defaults.engine.in_flight_max,
                                    .idle = 1'024,
                                    .connections = defaults.api.connections_max};
  const std::uint64_t needed = config::descriptors_needed(wanted, io_threads);
  if (hard_limit >= needed) {
    return {Grade::ok, "open files", fmt::format("The limit is {}.", hard_limit), {}};
  }
  const config::SocketLimits fitted = config::fit_to_descriptors(wanted, io_threads, hard_limit);
  return {Grade::warn, "open files",
          fmt::format("The limit is only {}. A server started with it lowers its own limits to "
                      "about {} requests to webhooks at once and {} API connections.",
                      hard_limit, fitted.in_flight, fitted.connections),
          fmt::format("Raise it to at least {} with LimitNOFILE= in the systemd unit, or with "
                      "`ulimit -Hn` before the server starts.",
                      needed)};
}

std::vector<Finding> check_machine(const Machine& machine, const MachineCheckOptions& options) {
  std::vector<Finding> findings;
  check_directory(machine, options, findings);
  findings.push_back(judge_open_files(machine.open_files_limit()));
  for (const std::string& name : options.names) {
    findings.push_back(check_name(machine, name, Grade::fail));
  }
  for (const std::string& name : options.webhook_hosts) {
    findings.push_back(check_name(machine, name, Grade::warn));
  }
  if (options.names.empty() && options.webhook_hosts.empty()) {
    findings.push_back(check_name(machine, "localhost", Grade::fail));
  }
  return findings;
}

}  // namespace postrider::cli
