// The checks of `postrider doctor`, with a fake machine.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/commands/doctor_checks.h"

namespace postrider::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-01-31T12:00:00Z");

class FakeMachine final : public Machine {
 public:
  std::map<std::string, DirectoryFacts> directories;
  std::map<std::string, std::string> addresses;
  std::uint64_t limit = 65'536;

  [[nodiscard]] std::optional<DirectoryFacts> directory_facts(
      const std::string& path) const override {
    const auto found = directories.find(path);
    return found == directories.end() ? std::nullopt : std::optional{found->second};
  }

  [[nodiscard]] std::uint64_t open_files_limit() const override { return limit; }

  [[nodiscard]] Result<std::string> resolve_name(const std::string& host) const override {
    const auto found = addresses.find(host);
    if (found == addresses.end()) {
      return fail(Errc::unavailable, "Name or service not known");
    }
    return found->second;
  }
};

FakeMachine healthy_machine() {
  FakeMachine machine;
  machine.directories["/data"] = {.writable = true, .free_bytes = 1ull << 30};
  machine.addresses["localhost"] = "127.0.0.1";
  return machine;
}

MachineCheckOptions with_directory(const std::string& path) {
  return {.data_directory = path, .holds_store = true, .names = {}, .webhook_hosts = {}};
}

/// `ok data directory`, one line per finding.
std::vector<std::string> grades(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(std::string{to_string(finding.grade)} + " " + finding.check);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CheckMachine, AcceptsAHealthyMachine) {
  EXPECT_EQ(grades(check_machine(healthy_machine(), with_directory("/data"))),
            (Lines{"ok data directory", "ok disk", "ok open files", "ok dns"}));
}

TEST(CheckMachine, ChecksTheDefaultDirectoryOnlyIfItExists) {
  FakeMachine machine = healthy_machine();
  EXPECT_EQ(grades(check_machine(machine, {})), (Lines{"ok open files", "ok dns"}));
  machine.directories["./postrider-data"] = machine.directories["/data"];
  EXPECT_EQ(grades(check_machine(machine, {})).front(), "ok data directory");
  EXPECT_EQ(grades(check_machine(machine, with_directory("/other"))).front(),
            "fail data directory");
}

TEST(CheckMachine, GradesPermissionsAndSpace) {
  FakeMachine machine = healthy_machine();
  const auto checked = [&](const DirectoryFacts& facts) {
    machine.directories["/data"] = facts;
    Lines lines = grades(check_machine(machine, with_directory("/data")));
    lines.resize(2);
    return lines;
  };
  EXPECT_EQ(checked({.writable = false, .free_bytes = (1ull << 30) - 1}),
            (Lines{"fail data directory", "warn disk"}));
  EXPECT_EQ(checked({.writable = true, .open_to_others = true, .free_bytes = (100ull << 20) - 1}),
            (Lines{"warn data directory", "fail disk"}));
}

TEST(CheckMachine, AnUnknownNameFailsButAnUnknownWebhookHostOnlyWarns) {
  const FakeMachine machine = healthy_machine();
  EXPECT_EQ(grades(check_machine(machine, {.data_directory = {},
                                           .holds_store = true,
                                           .names = {"a.example"},
                                           .webhook_hosts = {}}))
                .back(),
            "fail dns");
  const std::vector<Finding> findings = check_machine(
      machine,
      {.data_directory = {}, .holds_store = true, .names = {}, .webhook_hosts = {"a.example"}});
  EXPECT_EQ(grades(findings).back(), "warn dns");
  EXPECT_EQ(findings.back().message, "a.example cannot be resolved: Name or service not known.");
}

TEST(CheckMachine, ADirectoryWithoutAStoreNeedsNoSpace) {
  FakeMachine machine = healthy_machine();
  machine.directories["/data"].free_bytes = 1;
  EXPECT_EQ(
      grades(check_machine(
          machine,
          {.data_directory = "/data", .holds_store = false, .names = {}, .webhook_hosts = {}})),
      (Lines{"ok data directory", "ok open files", "ok dns"}));
}

TEST(JudgeDatabase, ComparesTheSchemaAndShowsWhyItCannot) {
  const auto judged = [](const Result<SchemaVersions>& versions) {
    return judge_database("postgres://db/p", versions);
  };
  EXPECT_EQ(judged(SchemaVersions{.found = 4, .newest = 4}).grade, Grade::ok);
  EXPECT_EQ(judged(SchemaVersions{.found = 4, .newest = 4}).message,
            "postgres://db/p answers and has the schema version 4.");
  EXPECT_EQ(judged(SchemaVersions{.found = 3, .newest = 4}).grade, Grade::warn);
  EXPECT_EQ(judged(fail(Errc::unavailable, "No.")).grade, Grade::fail);
  EXPECT_EQ(judged(fail(Errc::unavailable, "No.")).message, "postgres://db/p: No.");
  EXPECT_NE(judged(fail(Errc::unavailable, "No.")).advice,
            judged(fail(Errc::invalid, "No.")).advice);
}

TEST(JudgeClock, ToleratesTwoSeconds) {
  const auto judged = [](std::string_view date) { return judge_clock(date, now); };
  EXPECT_EQ(judged("Sat, 31 Jan 2026 12:00:02 GMT").grade, Grade::ok);
  EXPECT_EQ(judged("Sat, 31 Jan 2026 11:59:58 GMT").grade, Grade::ok);
  EXPECT_EQ(judged("Sat, 31 Jan 2026 12:00:03 GMT").grade, Grade::warn);
  EXPECT_EQ(judged("Sat, 31 Jan 2026 12:00:03 GMT").message,
            "The server's clock is 3 s ahead of this one.");
  EXPECT_EQ(judged("Sat, 31 Jan 2026 11:58:59 GMT").grade, Grade::fail);
  EXPECT_EQ(judged("Sat, 31 Jan 2026 11:58:59 GMT").message,
            "The server's clock is 61 s behind this one.");
  EXPECT_EQ(judged("").grade, Grade::warn);
}

TEST(JudgeVersion, WarnsIfVersionsDiffer) {
  EXPECT_EQ(judge_version("0.1.0", "0.1.0").grade, Grade::ok);
  EXPECT_EQ(judge_version("0.1.0", "0.2.0").message,
            "The server has version 0.2.0, this program 0.1.0.");
  EXPECT_EQ(judge_version("0.1.0", "").grade, Grade::warn);
}

TEST(JudgeOpenFiles, WarnsIfTheDefaultLimitsDoNotFit) {
  EXPECT_EQ(judge_open_files(15'407).grade, Grade::warn);
  EXPECT_EQ(judge_open_files(15'408).grade, Grade::ok);
  EXPECT_EQ(judge_open_files(64).message,
            "The limit is only 64. A server started with it lowers its own limits to about 12 "
            "requests to webhooks at once and 15 API connections.");
}

}  // namespace
}  // namespace postrider::cli
