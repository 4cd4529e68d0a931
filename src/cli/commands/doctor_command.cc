// `postrider doctor`: what is wrong, and what to do about it.
#include <algorithm>
#include <memory>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "adapters/system/environment.h"
#include "cli/commands/doctor_checks.h"
#include "cli/commands/group.h"
#include "cli/text/print.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider doctor
  postrider doctor --url https://hooks.example.com --resolve customer.example.com
  postrider doctor --data /var/lib/postrider --json

Environment:
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

struct DoctorFlags {
  std::optional<std::string> data_directory;
  std::vector<std::string> names;
};

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text +=
        fmt::format("{:<5} {:<14} {}\n", to_string(finding.grade), finding.check, finding.message);
    if (!finding.advice.empty()) {
      text += fmt::format("{:<20} {}\n", "", finding.advice);
    }
  }
  return text;
}

std::string to_json(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& finding : findings) {
    list.push_back(json::object{{"check", finding.check},
                                {"status", to_string(finding.grade)},
                                {"message", finding.message},
                                {"advice", finding.advice}});
  }
  return json::serialize(list) + "\n";
}

/// What `serve` would refuse to start with, and with the same exit code.
bool is_unusable_directory(const Finding& finding) {
  return finding.check == data_directory_check && finding.grade == Grade::fail;
}

Result<void> examine(const Session& session, const DoctorFlags& flags) {
  ServerReport report = check_server(session);
  std::vector<Finding>& findings = report.findings;
  const std::vector<Finding> machine = check_machine(
      {.data_directory =
           flags.data_directory ? flags.data_directory : environment_variable("POSTRIDER_DATA"),
       .names = flags.names,
       .targets = flags.names.empty() ? report.names : std::vector<std::string>{}});
  findings.insert(findings.end(), machine.begin(), machine.end());
  print(session.json() ? to_json(findings) : to_text(findings));
  const auto failed = std::ranges::count(findings, Grade::fail, &Finding::grade);
  if (failed > 0) {
    const bool unusable = std::ranges::any_of(findings, is_unusable_directory);
    return fail(unusable ? Errc::invalid : Errc::conflict,
                fmt::format("{} {} failed.", failed, failed == 1 ? "check has" : "checks have"));
  }
  return {};
}

}  // namespace

std::unique_ptr<Subcommand> add_doctor(Syntax root) {
  const auto flags = std::make_shared<DoctorFlags>();
  Syntax syntax = root.command("doctor", "Look for what is wrong, here and at the server");
  syntax.footer(examples);
  syntax.option(
      "--data DIR", flags->data_directory,
      "Look at this data directory; else POSTRIDER_DATA, or ./postrider-data if there is one");
  syntax.option("--resolve HOST", flags->names,
                "Resolve this host instead of some of the webhooks'; may be given several times");
  return std::make_unique<ApiLeaf>(
      syntax, [flags](const Session& session) { return examine(session, *flags); });
}

}  // namespace postrider::cli
