// Tests the declaration of commands through commands that use it.
#include "cli/commands/syntax.h"

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "cli/commands/arguments.h"

namespace postrider::cli {
namespace {

Command parse(const std::vector<std::string>& arguments) {
  return parse_arguments(arguments, [](const std::string&) { return std::nullopt; });
}

std::string help_of(const std::string& command) {
  return std::get<HelpText>(parse({command, "--help"})).text;
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  const Command command = parse(arguments);
  const UsageError* const error = std::get_if<UsageError>(&command);
  return error != nullptr ? error->message : "";
}

TEST(Syntax, HelpShowsTheTextAfterTheNameAsValue) {
  const std::string help = help_of("verify");
  EXPECT_NE(help.find("  --header 'NAME: VALUE' "), std::string::npos) << help;
  EXPECT_NE(help.find("  --at TIME "), std::string::npos) << help;
}

TEST(Syntax, AListTakesOneValuePerOccurrence) {
  const Command command = parse({"listen", "--path", "/a", "--path", "/b"});
  EXPECT_EQ(std::get<ListenOptions>(command).paths, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(refusal_of({"listen", "--path", "/a", "/b"}), "`/b` is not expected here.");
}

TEST(Syntax, AListLimitedToOnceRefusesASecondValue) {
  EXPECT_EQ(refusal_of({"events", "list", "--tenant", "a"}), "");
  EXPECT_NE(refusal_of({"events", "list", "--tenant", "a", "--tenant", "b"}), "");
}

TEST(Syntax, AnArgumentIsRequired) {
  EXPECT_EQ(refusal_of({"completion"}), "SHELL is required.");
  EXPECT_EQ(refusal_of({"completion", "bash", "zsh"}), "`zsh` is not expected here.");
}

TEST(Syntax, LimitsAreInclusive) {
  for (const char* const fits : {"200", "599"}) {
    EXPECT_EQ(refusal_of({"listen", "--status", fits}), "") << fits;
  }
  for (const char* const wrong : {"199", "600", "-1", "2e2"}) {
    EXPECT_NE(refusal_of({"listen", "--status", wrong}), "") << wrong;
  }
  for (const char* const fits : {"0", "600000"}) {
    EXPECT_EQ(refusal_of({"listen", "--delay", fits}), "") << fits;
  }
  for (const char* const wrong : {"-1", "600001", "0.5"}) {
    EXPECT_NE(refusal_of({"listen", "--delay", wrong}), "") << wrong;
  }
}

TEST(Syntax, HiddenOptionsAreAcceptedButNotInTheHelp) {
  const Command command = parse({"serve", "--retention-events-ms", "5"});
  EXPECT_EQ(std::get<ServeOptions>(command).retention_events, std::chrono::milliseconds{5});
  EXPECT_EQ(help_of("serve").find("--retention-events-ms"), std::string::npos);
}

TEST(Syntax, HelpShowsDefaults) {
  EXPECT_NE(help_of("listen").find("Address to listen on (default 127.0.0.1:8081)"),
            std::string::npos);
  EXPECT_NE(help_of("backup").find("POSTRIDER_DATA (default ./postrider-data)"), std::string::npos);
}

}  // namespace
}  // namespace postrider::cli
