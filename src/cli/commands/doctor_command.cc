// `postrider doctor`: checks server and machine and gives advice.
#include <algorithm>
#include <memory>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/commands/database_option.h"
#include "cli/commands/doctor_checks.h"
#include "cli/commands/group.h"
#include "cli/text/print.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider doctor
  postrider doctor --server https://hooks.example.com --resolve customer.example.com
  postrider doctor --data /var/lib/postrider --json
  postrider doctor --data /var/lib/postrider --deep
      Also reads the whole store: pages, indexes, audit log. The server may run or be stopped.
  POSTRIDER_STORE=postgres://… postrider doctor
      Also checks whether the database can be reached, and its schema version.

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key
  POSTRIDER_STORE    the PostgreSQL database, instead of --store)";

struct DoctorFlags {
  bool deep = false;
  std::optional<std::string> data_directory;
  std::optional<std::string> database;
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

/// `serve` refuses to start with such a directory and exits with the same code.
bool is_unusable_directory(const Finding& finding) {
  return finding.check == data_directory_check && finding.grade == Grade::fail;
}

/// A server that cannot be reached is only a warning.
void soften(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.check == reachable_check && finding.grade == Grade::fail) {
      finding.grade = Grade::warn;
    }
  }
}

/// The store, in the directory or the database.
std::vector<Finding> check_stored(const Session& session, const std::string& directory,
                                  const Secret<std::string>& database, bool deep) {
  if (!database.reveal().empty()) {
    return check_database(session.ports(), database, deep);
  }
  return deep ? check_store_deeply(session.ports(), directory, session.json())
              : std::vector<Finding>{};
}

Result<void> examine(const Session& session, const DoctorFlags& flags) {
  POSTRIDER_TRY(const Secret<std::string> database,
                choose_database(flags.database, session.ports().environment));
  ServerReport report = check_server(session);
  std::vector<Finding>& findings = report.findings;
  if (flags.deep) {
    // The store of a stopped server can be checked too.
    soften(findings);
  }
  const std::optional<std::string> directory =
      flags.data_directory ? flags.data_directory : session.ports().environment("POSTRIDER_DATA");
  const std::vector<Finding> machine = check_machine(
      session.ports().machine,
      {.data_directory = directory,
       .holds_store = database.reveal().empty(),
       .names = flags.names,
       .webhook_hosts = flags.names.empty() ? report.webhook_hosts : std::vector<std::string>{}});
  findings.insert(findings.end(), machine.begin(), machine.end());
  const std::vector<Finding> store =
      check_stored(session, directory.value_or(default_data_directory), database, flags.deep);
  findings.insert(findings.end(), store.begin(), store.end());
  print(session.json() ? to_json(findings) : to_text(findings));
  const auto failed = std::ranges::count(findings, Grade::fail, &Finding::grade);
  if (failed > 0) {
    const bool unusable = std::ranges::any_of(findings, is_unusable_directory);
    return fail(unusable ? Errc::invalid : Errc::conflict,
                fmt::format("{} {} failed.", failed, failed == 1 ? "check" : "checks"));
  }
  return {};
}

}  // namespace

std::unique_ptr<Subcommand> add_doctor(Syntax root) {
  const auto flags = std::make_shared<DoctorFlags>();
  Syntax syntax = root.command("doctor", "Check the server and this machine for problems");
  syntax.footer(examples);
  syntax.option("--data DIR", flags->data_directory,
                "The data directory to check; overrides POSTRIDER_DATA. Default: ./postrider-data, "
                "if it exists");
  add_database(syntax, flags->database);
  syntax.option("--resolve HOST", flags->names,
                "Resolve this host instead of hosts of webhooks; may be repeated");
  syntax.flag("--deep", flags->deep,
              "Also check the whole store in the data directory; this can take minutes");
  return std::make_unique<ApiCommand>(
      syntax, [flags](const Session& session) { return examine(session, *flags); });
}

}  // namespace postrider::cli
