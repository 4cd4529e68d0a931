#include "adapters/asio_http/response_reader.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider::asio_http {
namespace {

using Progress = ResponseReader::Progress;

/// The complete result of reading a response, for comparisons.
struct Reading {
  Progress progress = Progress::more;
  std::uint16_t status = 0;
  bool reusable = false;
  bool complete_at_end = false;
  std::string error;
  std::string sample;
  Headers headers;
  std::string retry_after;

  bool operator==(const Reading&) const = default;
};

Reading read_pieces(const std::vector<std::string_view>& pieces) {
  ResponseReader reader;
  Reading reading;
  bool surplus = false;
  for (const std::string_view piece : pieces) {
    if (reading.progress != Progress::more) {
      surplus = surplus || !piece.empty();  // The idle connection would notice these bytes.
      continue;
    }
    reading.progress = reader.feed(piece);
  }
  reading.status = reader.status();
  reading.reusable = reader.connection_reusable() && !surplus;
  reading.complete_at_end = reader.complete_at_end();
  reading.error = reader.error();
  reading.retry_after = reader.retry_after().value_or("");
  reading.headers = reader.take_headers();
  reading.sample = reader.take_sample();
  return reading;
}

/// Reads the bytes in one piece, split in two at every position, and one by one. The results must
/// be equal.
Reading read(std::string_view bytes) {
  const Reading whole = read_pieces({bytes});
  const std::size_t step = bytes.size() > 4'000 ? 997 : 1;
  for (std::size_t cut = 1; cut < bytes.size(); cut += step) {
    EXPECT_EQ(read_pieces({bytes.substr(0, cut), bytes.substr(cut)}), whole) << "cut at " << cut;
  }
  std::vector<std::string_view> single;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    single.push_back(bytes.substr(at, 1));
  }
  EXPECT_EQ(read_pieces(single), whole) << "byte by byte";
  return whole;
}

void expect_failure(std::string_view bytes, std::string_view sentence) {
  const Reading reading = read(bytes);
  EXPECT_EQ(reading.progress, Progress::failed) << bytes.substr(0, 200);
  EXPECT_EQ(reading.error, sentence) << bytes.substr(0, 200);
  EXPECT_FALSE(reading.reusable);
}

std::string with_headers(std::string_view headers) {
  return fmt::format("HTTP/1.1 200 OK\r\n{}\r\n", headers);
}

TEST(ResponseReader, ReadsAResponseOfKnownLength) {
  const Reading reading = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.sample, "hello");
  EXPECT_EQ(reading.headers, (Headers{{"Content-Length", "5"}, {"X-A", "b"}}));
  EXPECT_TRUE(reading.reusable);
}

TEST(ResponseReader, ReadsChunksExtensionsAndTrailers) {
  const Reading reading = read(
      "HTTP/1.1 503 Busy\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5\r\nhello\r\n6 ;name=value\r\n world\r\n000\r\nX-Trailer: 1\r\n\r\n");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.status, 503);
  EXPECT_EQ(reading.sample, "hello world");
  EXPECT_EQ(reading.headers.size(), 1u);
  EXPECT_TRUE(reading.reusable);
}

TEST(ResponseReader, ReadsUntilTheEndWithoutALength) {
  const Reading reading = read("HTTP/1.1 200 OK\r\n\r\nsome text");
  EXPECT_EQ(reading.progress, Progress::more);
  EXPECT_TRUE(reading.complete_at_end);
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.sample, "some text");
  EXPECT_FALSE(reading.reusable);
}

TEST(ResponseReader, AnIncompleteResponseIsNotCompleteAtTheEnd) {
  const std::string_view incomplete[] = {
      "",
      "HTTP/1.1 2",
      "HTTP/1.1 200 OK\r\nContent-Le",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n",
  };
  for (const std::string_view bytes : incomplete) {
    const Reading reading = read(bytes);
    EXPECT_EQ(reading.progress, Progress::more) << bytes;
    EXPECT_FALSE(reading.complete_at_end) << bytes;
  }
}

TEST(ResponseReader, Status204And304HaveNoBody) {
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n").progress, Progress::complete);
  EXPECT_TRUE(read("HTTP/1.1 204 No Content\r\n\r\n").reusable);
  EXPECT_TRUE(read("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n").reusable);
  EXPECT_EQ(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n").progress,
            Progress::complete);
  // A 204 has no body; with a length it is unclear where the next message begins.
  EXPECT_FALSE(read("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n").reusable);
  EXPECT_FALSE(read("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n").reusable);
}

TEST(ResponseReader, SkipsInterimResponsesUpToALimit) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nRetry-After: 9\r\n\r\n";
  std::string bytes;
  for (std::size_t count = 0; count < interim_responses_max; ++count) {
    bytes += interim;
  }
  const Reading reading = read(bytes + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.headers.size(), 1u);
  EXPECT_EQ(reading.retry_after, "");
  EXPECT_TRUE(reading.reusable);

  expect_failure(bytes + interim, "The receiver sent more than 16 interim (1xx) responses.");
  expect_failure("HTTP/1.1 101 Switching Protocols\r\n\r\n",
                 "The receiver switched to another protocol (101).");
}

TEST(ResponseReader, AnInterimResponseWithABodyLengthPreventsReuse) {
  const Reading reading = read(
      "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
      "0\r\n\r\n");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_FALSE(reading.reusable);
}

TEST(ResponseReader, RejectsOtherVersions) {
  const std::string_view sentence = "The receiver's response is not HTTP/1.0 or HTTP/1.1.";
  for (const std::string_view bytes :
       {"HTTP/3.7 200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "HTTP/2 200\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n", "<html>hello</html>\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1\t200 OK\r\n\r\n", "HTTP/1.1200 OK\r\n\r\n", " HTTP/1.1 200 OK\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n"}) {
    expect_failure(bytes, sentence);
  }
}

TEST(ResponseReader, RejectsAnInvalidStatus) {
  for (const std::string_view bytes :
       {"HTTP/1.1 2OO OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20\xc2\xb2 OK\r\n\r\n"}) {
    expect_failure(bytes, "The status line of the receiver's response is malformed.");
  }
  for (const std::string_view bytes :
       {"HTTP/1.1 000 Zero\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n", "HTTP/1.1 600 High\r\n\r\n",
        "HTTP/1.1 999 Higher\r\n\r\n"}) {
    expect_failure(bytes, "The receiver's status code is outside 100 to 599.");
  }
  const std::string_view nul{"HTTP/1.1 200 O\0K\r\n\r\n", 20};
  expect_failure(nul, "The status line of the receiver's response is malformed.");
  EXPECT_EQ(read("HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n").status, 299);
  EXPECT_EQ(read("HTTP/1.1 599 \r\nContent-Length: 0\r\n\r\n").status, 599);
}

TEST(ResponseReader, RejectsAmbiguousFraming) {
  expect_failure(with_headers("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
                 "The receiver's response has both Content-Length and Transfer-Encoding.");
  expect_failure(with_headers("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
                 "The receiver's response has both Content-Length and Transfer-Encoding.");
  expect_failure(with_headers("Content-Length: 5\r\nContent-Length: 6\r\n"),
                 "The receiver's response has two different Content-Length values.");
  expect_failure("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                 "The receiver's HTTP/1.0 response has a Transfer-Encoding.");
  for (const std::string_view value :
       {"gzip, chunked", "chunked, chunked", "xchunked", "identity", "", "chunked;q=1",
        "\x0b"
        "chunked"}) {
    const Reading reading = read(with_headers(fmt::format("Transfer-Encoding: {}\r\n", value)));
    EXPECT_EQ(reading.progress, Progress::failed) << value;
  }
  expect_failure(with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                 "The receiver's response has a Transfer-Encoding other than chunked.");
}

TEST(ResponseReader, RejectsAContentLengthThatIsNotANumber) {
  for (const std::string_view value :
       {"-1", "+5", "5 5", "0x5", "5,5", "", "1e3", "9999999999999999999", "5;", "\"5\""}) {
    expect_failure(with_headers(fmt::format("Content-Length: {}\r\n", value)),
                   "The Content-Length of the receiver's response is not a number.");
  }
}

TEST(ResponseReader, DuplicateEqualLengthsPreventReuse) {
  const Reading reading = read(with_headers("Content-Length: 2\r\nContent-Length: 2\r\n") + "ok");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_FALSE(reading.reusable);
}

TEST(ResponseReader, RejectsMalformedHeaders) {
  expect_failure(with_headers("X-A: b\r\n c\r\n"),
                 "A header of the receiver's response is folded over several lines.");
  expect_failure(with_headers("X-A: b\r\n\tc\r\n"),
                 "A header of the receiver's response is folded over several lines.");
  for (const std::string& header :
       {std::string{"X-A : b"}, std::string{"X-A"}, std::string{": b"}, std::string{"X\x01: b"},
        std::string{"X-A: b\rc"}, std::string{"X-A: b\0c", 8}, std::string{"X-A: \x7f"},
        std::string{"X\xc3\xa9: b"}, std::string{"X-A: b\r"}}) {
    expect_failure(with_headers(header + "\r\n"),
                   "A header of the receiver's response is malformed.");
  }
  expect_failure("HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                 "A line of the receiver's response does not end with CR LF.");
  expect_failure("HTTP/1.1 200 OK\r\nContent-Length: 0\n\r\n",
                 "A line of the receiver's response does not end with CR LF.");
}

TEST(ResponseReader, LimitsTheHead) {
  std::string hundred;
  for (std::size_t number = 0; number < head_fields_max; ++number) {
    hundred += fmt::format("X-{}: v\r\n", number);
  }
  const Reading reading = read(fmt::format("HTTP/1.1 204 OK\r\n{}\r\n", hundred));
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.headers.size(), response_headers_max);
  EXPECT_EQ(reading.headers.back().first, "X-31");
  expect_failure(with_headers(hundred + "X-more: v\r\n"),
                 "The receiver's response has more than 100 headers.");

  const std::string_view too_large =
      "The headers of the receiver's response are larger than 16 KiB.";
  expect_failure(with_headers("X-A: " + std::string(1'000'000, 'a') + "\r\n"), too_large);
  expect_failure("HTTP/1.1 200 " + std::string(20'000, 'a'), too_large);

  const std::string_view frame = "HTTP/1.1 204 OK\r\nX: \r\n\r\n";
  const std::string fitting(head_bytes_max - frame.size(), 'a');
  EXPECT_EQ(read(fmt::format("HTTP/1.1 204 OK\r\nX: {}\r\n\r\n", fitting)).progress,
            Progress::complete);
  expect_failure(fmt::format("HTTP/1.1 204 OK\r\nX: {}a\r\n\r\n", fitting), too_large);
}

TEST(ResponseReader, TruncatesLongHeaders) {
  const Reading reading = read(fmt::format("HTTP/1.1 204 OK\r\n{}: {}\r\n\r\n",
                                           std::string(100, 'n'), std::string(1'000, 'v')));
  ASSERT_EQ(reading.headers.size(), 1u);
  EXPECT_EQ(reading.headers[0].first, std::string(field_name_bytes_kept, 'n'));
  EXPECT_EQ(reading.headers[0].second, std::string(field_value_bytes_kept, 'v'));
}

TEST(ResponseReader, RejectsMalformedChunks) {
  const auto chunked = [](std::string_view body) {
    return fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}", body);
  };
  for (const std::string_view body : {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", " 1\r\n", "1 \r\n",
                                      "0x1\r\n", ";a\r\n", "1;\x01\r\n", "1 x\r\n"}) {
    expect_failure(chunked(body), "A chunk size of the receiver's response is malformed.");
  }
  expect_failure(chunked("FFFFFFFFFFFFFFFFF\r\n"),
                 "A chunk size of the receiver's response is too large.");
  expect_failure(chunked("1\r\nab\r\n"),
                 "A chunk of the receiver's response is longer than its declared size.");
  expect_failure(chunked("1\nab"), "A line of the receiver's response does not end with CR LF.");
  expect_failure(chunked("1;" + std::string(1'000'000, 'e') + "\r\n"),
                 "A chunk header of the receiver's response is too long.");
  expect_failure(chunked("0\r\nX: " + std::string(1'000'000, 't') + "\r\n\r\n"),
                 "The headers of the receiver's response are larger than 16 KiB.");
  expect_failure(chunked("0\r\nbad trailer\r\n\r\n"),
                 "A header of the receiver's response is malformed.");
}

TEST(ResponseReader, ATrailerWithFramingPreventsReuse) {
  const Reading reading =
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_FALSE(reading.reusable);
}

TEST(ResponseReader, KeepsASampleOfTheBody) {
  std::string body;
  for (int number = 0; body.size() < 3'000; ++number) {
    body += std::to_string(number);
  }
  const Reading reading =
      read(with_headers(fmt::format("Content-Length: {}\r\n", body.size())) + body);
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.sample, body.substr(0, response_sample_bytes_max));
}

TEST(ResponseReader, DoesNotReadLargeBodiesToTheirEnd) {
  const std::string sample(response_sample_bytes_max, 'b');
  const std::string much(body_bytes_max, 'b');

  const Reading declared = read(with_headers("Content-Length: 100000000000000000\r\n") + much);
  EXPECT_EQ(declared.progress, Progress::enough);
  EXPECT_EQ(declared.status, 200);
  EXPECT_EQ(declared.sample, sample);

  const Reading endless = read(with_headers("") + much);
  EXPECT_EQ(endless.progress, Progress::enough);
  EXPECT_EQ(endless.sample, sample);

  std::string chunks;
  while (chunks.size() < body_bytes_max) {
    chunks += "1\r\nb\r\n";
  }
  const Reading chunked = read(with_headers("Transfer-Encoding: chunked\r\n") + chunks);
  EXPECT_EQ(chunked.progress, Progress::enough);
  EXPECT_EQ(chunked.sample, sample);
}

TEST(ResponseReader, ABodyOfExactlyTheLimitIsReadToItsEnd) {
  const Reading reading = read(with_headers(fmt::format("Content-Length: {}\r\n", body_bytes_max)) +
                               std::string(body_bytes_max, 'b'));
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_TRUE(reading.reusable);
}

TEST(ResponseReader, RespectsConnectionClose) {
  for (const std::string_view value : {"close", "Close", "keep-alive, close", "foo ,\tCLOSE"}) {
    const Reading reading =
        read(with_headers(fmt::format("Connection: {}\r\nContent-Length: 0\r\n", value)));
    EXPECT_EQ(reading.progress, Progress::complete);
    EXPECT_FALSE(reading.reusable) << value;
  }
  EXPECT_TRUE(read(with_headers("Connection: keep-alive\r\nContent-Length: 0\r\n")).reusable);
  EXPECT_TRUE(
      read(with_headers("Connection: closed, not-close\r\nContent-Length: 0\r\n")).reusable);
  EXPECT_FALSE(
      read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").reusable);
}

TEST(ResponseReader, BytesAfterTheResponsePreventReuse) {
  const Reading reading = read(with_headers("Content-Length: 2\r\n") +
                               "okHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reading.progress, Progress::complete);
  EXPECT_EQ(reading.sample, "ok");
  EXPECT_FALSE(reading.reusable);
}

TEST(ResponseReader, UsesTheFirstRetryAfter) {
  const Reading reading =
      read(with_headers("retry-AFTER: 120\r\nRetry-After: 5\r\nContent-Length: 0\r\n"));
  EXPECT_EQ(reading.retry_after, "120");
}

RC_GTEST_PROP(ResponseReader, NeverStoresMoreThanItsLimits,
              (const std::vector<std::string>& noise)) {
  ResponseReader reader;
  Progress progress = reader.feed("HTTP/1.1 200 OK\r\n");
  for (const std::string& piece : noise) {
    if (progress != Progress::more) {
      break;
    }
    progress = reader.feed(piece);
  }
  RC_ASSERT(reader.take_sample().size() <= response_sample_bytes_max);
  RC_ASSERT(reader.take_headers().size() <= response_headers_max);
}

/// The result is the same for every way in which the network splits the bytes.
RC_GTEST_PROP(ResponseReader, TheResultDoesNotDependOnHowTheBytesAreSplit,
              (const std::vector<std::uint8_t>& cuts)) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow down\r\nRetry-After: 7\r\n"
      "Transfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123456789\r\n1\r\nz\r\n0\r\nT: v\r\n\r\n";
  std::vector<std::string_view> pieces;
  std::string_view rest = bytes;
  for (const std::uint8_t cut : cuts) {
    const std::size_t length = std::min<std::size_t>(cut % 16, rest.size());
    pieces.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  pieces.push_back(rest);
  RC_ASSERT(read_pieces(pieces) == read_pieces({bytes}));
}

}  // namespace
}  // namespace postrider::asio_http
