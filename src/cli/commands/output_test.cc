// Exact texts of responses, errors and progress.
#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "cli/client/problem_text.h"
#include "cli/client/session.h"
#include "cli/text/json_text.h"
#include "cli/text/progress.h"
#include "cli/text/table.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-01-31T12:00:00Z");

const std::vector<Column> columns = {{"ID", "id"}, {"STATE", "circuit.state"}, {"URL", "url"}};
const json::value page = json::parse(R"({"data": [
  {"id": "whk_1", "circuit": {"state": "open"}, "url": "https://example.com/a/long/path"},
  {"id": "whk_22", "circuit": null, "url": "https://ü.example"}], "next_cursor": "c2"})");

TEST(PageText, AlignsColumnsAndShowsTheNextCursor) {
  EXPECT_EQ(page_text(page, columns, {}),
            "ID      STATE  URL\n"
            "whk_1   open   https://example.com/a/long/path\n"
            "whk_22  -      https://ü.example\n"
            "More results: --cursor c2\n");
  EXPECT_EQ(page_text(json::parse(R"({"data": [], "next_cursor": null})"), columns, {}),
            "Nothing found.\n");
}

TEST(PageText, CutsColumnsToTheWidthButNotTheId) {
  EXPECT_EQ(page_text(page, columns, {.width = 30}),
            "ID      STATE  URL\n"
            "whk_1   open   https://exampl…\n"
            "whk_22  -      https://ü.exam…\n"
            "More results: --cursor c2\n");
  const std::string narrow = page_text(page, columns, {.width = 1});
  EXPECT_NE(narrow.find("whk_22  -      https…\n"), std::string::npos) << narrow;
}

TEST(FieldsText, FlattensObjectsAndOmitsEmptyFields) {
  EXPECT_EQ(fields_text(json::parse(R"({"id": "a", "none": null, "tags": ["x", "y"], "rate": 0.5,
                                        "circuit": {"state": "open"}, "list": [{"no": 1}]})")),
            "id             a\n"
            "tags           x, y\n"
            "rate           0.5\n"
            "circuit.state  open\n");
  EXPECT_EQ(fields_text(json::parse(R"(["no", "object"])")), "");
}

TEST(TextOf, EscapesControlCharacters) {
  EXPECT_EQ(text_of(json::value("a\x1b[2Jb\nc")), "a\\x1b[2Jb c");
}

TEST(CountAt, IsZeroIfTheMemberIsNotACount) {
  const json::value value =
      json::parse(R"({"a": 7, "b": -1, "c": "7", "d": 18446744073709551615})");
  EXPECT_EQ(count_at(value, "a"), 7u);
  EXPECT_EQ(count_at(value, "b"), 0u);
  EXPECT_EQ(count_at(value, "c"), 0u);
  EXPECT_EQ(count_at(value, "d"), 18446744073709551615u);
  EXPECT_EQ(count_at(value, "missing.deeper"), 0u);
}

TEST(PathPart, EncodesEverythingButUnreservedCharacters) {
  EXPECT_EQ(path_part("whk_01-a.b~"), "whk_01-a.b~");
  EXPECT_EQ(path_part("../x?y#z%"), "..%2Fx%3Fy%23z%25");
  EXPECT_EQ(path_part("ü"), "%C3%BC");
}

TEST(ToError, ContainsReasonAndAdvice) {
  const Error error = to_error(
      {422, R"({"detail":"Wrong.","errors":[{"field":"url","message":"Too long."}]})", {}});
  EXPECT_EQ(error.message, "The server answered 422: Wrong.\n  url: Too long.");
  EXPECT_EQ(error.code, Errc::conflict);
  EXPECT_EQ(to_error({401, R"({"detail":"No key."})", {}}).message,
            "The server answered 401: No key.\n"
            "Pass an API key of this server with --key or POSTRIDER_KEY.");
  EXPECT_EQ(to_error({404, "{}", {}}).code, Errc::not_found);
  EXPECT_EQ(to_error({503, "{}", {}}).code, Errc::unavailable);
  EXPECT_EQ(to_error({502, "<html>", {}}).message,
            "The server answered 502 without a reason.\nSee the log of the server.");
}

TEST(Duration, IsANumberAndAUnit) {
  EXPECT_EQ(parse_duration("90s"), std::chrono::seconds{90});
  EXPECT_EQ(parse_duration("2w"), std::chrono::hours{14 * 24});
  for (const char* text :
       {"", "s", "90", "-1s", "1.5h", "100001s", "2h ", "2026-01-01T00:00:00Z"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(TimeArgument, IsATimeOrADurationBeforeNow) {
  const auto parsed = [](std::string_view text) {
    const std::optional<WallTime> time = parse_time_argument(text, now);
    return time ? to_rfc3339(*time) : "nothing";
  };
  EXPECT_EQ(parsed("2026-01-01T00:00:00+01:00"), "2025-12-31T23:00:00.000Z");
  EXPECT_EQ(parsed("0s"), "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(parsed("90s"), "2026-01-31T11:58:30.000Z");
  EXPECT_EQ(parsed("15m"), "2026-01-31T11:45:00.000Z");
  EXPECT_EQ(parsed("2h"), "2026-01-31T10:00:00.000Z");
  EXPECT_EQ(parsed("7d"), "2026-01-24T12:00:00.000Z");
  EXPECT_EQ(parsed("1w"), "2026-01-24T12:00:00.000Z");
  for (const char* text : {"", "h", "2", "2y", "-1h", "+1h", "1.5h", "2 h", "100001d", "now"}) {
    EXPECT_EQ(parsed(text), "nothing") << text;
  }
}

TEST(TimeArgument, LeavesADateToTheServer) {
  EXPECT_EQ(time_argument("--to", "2026-01-31", now).value(), "2026-01-31");
  EXPECT_EQ(time_argument("--to", "2h", now).value(), "2026-01-31T10:00:00.000Z");
  const Result<std::string> refused = time_argument("--to", "2026-02-30", now);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("--to"), std::string::npos);
}

TEST(BarText, ShowsProgressAndNote) {
  EXPECT_EQ(bar_text("retry", {.done = 0, .total = 0, .note = {}}),
            "retry  [------------------------------]   0 %  0 done");
  EXPECT_EQ(bar_text("retry", {.done = 5, .total = 10, .note = "2 failed"}),
            "retry  [###############---------------]  50 %  5 of 10, 2 failed");
  EXPECT_EQ(bar_text("retry", {.done = 11, .total = 10, .note = {}}),
            "retry  [##############################] 100 %  11 of 10");
}

}  // namespace
}  // namespace postrider::cli
