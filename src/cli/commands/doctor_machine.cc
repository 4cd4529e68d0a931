// What `postrider doctor` looks at on this machine.
#include <filesystem>

#include <fmt/format.h>

#include "adapters/system/machine.h"
#include "cli/commands/doctor_checks.h"

namespace postrider::cli {
namespace {

constexpr std::uint64_t open_files_min = 4'096;  // A socket for each delivery under way, and more.
constexpr std::uint64_t free_bytes_warn = 1ull << 30;
constexpr std::uint64_t free_bytes_fail = 100ull << 20;

Finding judge_rights(const std::string& directory, const DirectoryFacts& facts) {
  if (!facts.writable) {
    return {Grade::fail, std::string{data_directory_check},
            fmt::format("{} cannot be written by this user.", directory),
            "Run as the server's user, or change the owner."};
  }
  if (facts.open_to_others) {
    return {Grade::warn, std::string{data_directory_check},
            fmt::format("Others may read {}.", directory),
            fmt::format("It holds every secret: chmod 700 {}", directory)};
  }
  return {Grade::ok,
          std::string{data_directory_check},
          fmt::format("{} is its owner's alone.", directory),
          {}};
}

Finding judge_space(const DirectoryFacts& facts) {
  const std::string message = fmt::format("{} MB are free.", facts.free_bytes >> 20);
  if (facts.free_bytes >= free_bytes_warn) {
    return {Grade::ok, "disk", message, {}};
  }
  return {facts.free_bytes < free_bytes_fail ? Grade::fail : Grade::warn, "disk", message,
          "Make room: a full disk stops publishing."};
}

void check_directory(const std::optional<std::string>& asked, std::vector<Finding>& findings) {
  const std::string directory = asked.value_or("./postrider-data");
  const std::optional<DirectoryFacts> facts = directory_facts(directory);
  if (facts) {
    findings.push_back(judge_rights(directory, *facts));
    findings.push_back(judge_space(*facts));
  } else if (asked) {
    findings.push_back({Grade::fail, std::string{data_directory_check},
                        fmt::format("{} is no directory that can be looked into.", directory),
                        "Check the name, and run as the server's user."});
  }
}

Finding check_name(const std::string& name, Grade bad) {
  const Result<std::string> address = resolve_name(name);
  if (address) {
    return {Grade::ok, "dns", fmt::format("{} is {}.", name, *address), {}};
  }
  return {bad, "dns", fmt::format("{} cannot be resolved: {}.", name, address.error().message),
          "Check the name and /etc/resolv.conf: deliveries to such a host fail as `dns`."};
}

}  // namespace

Finding judge_open_files(std::uint64_t hard_limit) {
  if (hard_limit >= open_files_min) {
    return {Grade::ok, "open files", fmt::format("Up to {} are allowed.", hard_limit), {}};
  }
  return {Grade::warn, "open files", fmt::format("Only {} are allowed.", hard_limit),
          "Raise it: LimitNOFILE= in the unit, or `ulimit -Hn` where the server is started."};
}

std::vector<Finding> check_machine(const MachineQuestions& questions) {
  std::vector<Finding> findings;
  check_directory(questions.data_directory, findings);
  findings.push_back(judge_open_files(open_files_limit()));
  for (const std::string& name : questions.names) {
    findings.push_back(check_name(name, Grade::fail));
  }
  for (const std::string& name : questions.targets) {
    findings.push_back(check_name(name, Grade::warn));
  }
  if (questions.names.empty() && questions.targets.empty()) {
    findings.push_back(check_name("localhost", Grade::fail));
  }
  return findings;
}

}  // namespace postrider::cli
