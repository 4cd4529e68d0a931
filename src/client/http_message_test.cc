#include "client/http_message.h"

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

using Progress = ResponseParser::Progress;

TEST(BatchRequest, HasTheEventsAndTheirLength) {
  const RequestHead head{.path_prefix = "/hooks", .authority = "example.com", .api_key = "pk_1"};
  const Batch batch{.events = {{1, R"({"a":1})"}, {2, R"({"b":2})"}}};
  EXPECT_EQ(batch_request(head, batch),
            "POST /hooks/v1/events/batch?atomic=false HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "Authorization: Bearer pk_1\r\n"
            "User-Agent: postrider-client/" POSTRIDER_VERSION
            "\r\n"
            "Content-Type: application/json\r\n"
            "Content-Length: 28\r\n\r\n"
            R"({"events":[{"a":1},{"b":2}]})");
}

struct Parsed {
  Progress progress = Progress::more;
  HttpAnswer answer;
  bool reusable = false;
};

/// Feeds `step` bytes at a time until the response is complete or wrong.
Parsed parse(std::string_view text, std::size_t step, bool ends = false) {
  ResponseParser parser;
  Parsed parsed;
  while (!text.empty() && parsed.progress == Progress::more) {
    parsed.progress = parser.feed(text.substr(0, step));
    text.remove_prefix(std::min(step, text.size()));
  }
  if (ends && parsed.progress == Progress::more) {
    parsed.progress = parser.end();
  }
  parsed.reusable = parser.reusable();
  parsed.answer = parser.take_answer();
  return parsed;
}

constexpr std::size_t all = 1'000'000;

TEST(ResponseParser, ReadsABodyWithALengthInAnyPieces) {
  constexpr std::string_view text =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\nRETRY-AFTER:  7 \r\n\r\nhello";
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, all}) {
    const Parsed parsed = parse(text, step);
    EXPECT_EQ(parsed.progress, Progress::complete);
    EXPECT_EQ(parsed.answer.status, 503);
    EXPECT_EQ(parsed.answer.retry_after, "7");
    EXPECT_EQ(parsed.answer.body, "hello");
    EXPECT_TRUE(parsed.reusable);
  }
}

TEST(ResponseParser, ReadsAChunkedBodyInAnyPieces) {
  constexpr std::string_view text =
      "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: z\r\n\r\n";
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, all}) {
    const Parsed parsed = parse(text, step);
    EXPECT_EQ(parsed.progress, Progress::complete);
    EXPECT_EQ(parsed.answer.body, "hello world");
    EXPECT_TRUE(parsed.reusable);
  }
}

TEST(ResponseParser, ReadsABodyUntilTheEndOfTheConnection) {
  constexpr std::string_view text = "HTTP/1.0 200 OK\r\n\r\nhello";
  EXPECT_EQ(parse(text, 4).progress, Progress::more);
  const Parsed parsed = parse(text, 4, /*ends=*/true);
  EXPECT_EQ(parsed.progress, Progress::complete);
  EXPECT_EQ(parsed.answer.body, "hello");
  EXPECT_FALSE(parsed.reusable);
}

TEST(ResponseParser, SkipsInterimResponsesAndReadsEmptyOnes) {
  const Parsed parsed = parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", all);
  EXPECT_EQ(parsed.progress, Progress::complete);
  EXPECT_EQ(parsed.answer.status, 204);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 1).progress, Progress::complete);
}

TEST(ResponseParser, DoesNotReuseAConnectionThatTheServerClosesOrThatHasMoreBytes) {
  EXPECT_FALSE(
      parse("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na", all).reusable);
  EXPECT_FALSE(parse("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", all).reusable);
  EXPECT_FALSE(parse("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", all).reusable);
}

TEST(ResponseParser, RefusesWhatIsNotAResponse) {
  for (const std::string_view text :
       {"\r\n\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"}) {
    EXPECT_EQ(parse(text, all).progress, Progress::failed) << text;
  }
}

TEST(ResponseParser, RefusesAnAnswerThatEndsEarly) {
  EXPECT_EQ(parse("", all, /*ends=*/true).progress, Progress::failed);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", all, true).progress,
            Progress::failed);
  EXPECT_EQ(
      parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", all, true).progress,
      Progress::failed);
}

TEST(ResponseParser, LimitsTheHeadAndTheBody) {
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nx: " + std::string(70'000, 'a'), 1'000).progress,
            Progress::failed);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\n\r\n" + std::string(17 * 1024 * 1024, 'a'), all).progress,
            Progress::failed);
}

}  // namespace
}  // namespace postrider::client
