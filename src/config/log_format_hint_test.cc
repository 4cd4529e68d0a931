#include "config/log_format_hint.h"

#include <gtest/gtest.h>

namespace postrider::config {
namespace {

Sources with_file(const std::string& text) {
  Sources sources;
  sources.file = "p.toml";
  sources.read_file = [text](const std::string&) -> Result<std::string> { return text; };
  return sources;
}

LogFormat in_file(const std::string& text) { return hinted_log_format(with_file(text)); }

TEST(LogFormatHint, IsTextIfNothingNamesAFormat) {
  EXPECT_EQ(hinted_log_format({}), LogFormat::text);
  EXPECT_EQ(in_file(""), LogFormat::text);
  EXPECT_EQ(in_file("[log]\nformat = \"xml\""), LogFormat::text);
  EXPECT_EQ(in_file("[log]\nformat ="), LogFormat::text);
  EXPECT_EQ(in_file("[log]\nformat = \"json"), LogFormat::json) << "the quote is missing";
  EXPECT_EQ(in_file("[other]\nformat = \"json\""), LogFormat::text);
  EXPECT_EQ(in_file("format = \"json\""), LogFormat::text);
  EXPECT_EQ(in_file("# [log]\n#format = \"json\""), LogFormat::text);
}

TEST(LogFormatHint, IsFoundInAFileThatIsNotValid) {
  EXPECT_EQ(in_file("io_threads = = 3\n[log]\nformat = \"json\""), LogFormat::json);
  EXPECT_EQ(in_file("[log]\r\n  format='json'  # for the collector\r\n]]"), LogFormat::json);
  EXPECT_EQ(in_file("log.format = \"json\"\nnonsense"), LogFormat::json);
  EXPECT_EQ(in_file("log = { level = \"info\", format = \"json\" }\nnonsense"), LogFormat::json);
  EXPECT_EQ(in_file("[log\nformat = \"json\""), LogFormat::json);
}

TEST(LogFormatHint, LaterSourcesWin) {
  Sources sources = with_file("[log]\nformat = \"json\"");
  sources.variables = {{"POSTRIDER_LOG_FORMAT", "text"}};
  EXPECT_EQ(hinted_log_format(sources), LogFormat::text);
  sources.overrides = {{.key = "log.format", .value = "json", .flag = "--set"},
                       {.key = "io_threads", .value = "many", .flag = "--set"}};
  EXPECT_EQ(hinted_log_format(sources), LogFormat::json);
  sources.overrides.push_back({.key = "log.format", .value = "loud", .flag = "--set"});
  EXPECT_EQ(hinted_log_format(sources), LogFormat::json);
}

TEST(LogFormatHint, NeedsNoReadableFile) {
  Sources sources;
  sources.read_file = [](const std::string&) -> Result<std::string> {
    return fail(Errc::invalid, "Cannot read it.");
  };
  sources.variables = {{"POSTRIDER_CONFIG", "p.toml"}};
  EXPECT_EQ(hinted_log_format(sources), LogFormat::text);
  sources.variables.emplace_back("POSTRIDER_LOG_FORMAT", "json");
  EXPECT_EQ(hinted_log_format(sources), LogFormat::json);
}

}  // namespace
}  // namespace postrider::config
