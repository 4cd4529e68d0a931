#include "api/http/request_parser.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using Step = RequestParser::Step;

struct Outcome {
  Step step = Step::need_more;
  int status = 0;  // Of the refusal; 0 if there is none.
  std::string detail;
  HttpRequest request;
  std::size_t unused_bytes = 0;
  bool keep_alive = false;
};

/// Feeds `pieces` one by one, as if they arrived from a socket.
Outcome feed(const std::vector<std::string>& pieces, RequestLimits limits = {}) {
  RequestParser parser{limits};
  std::string input;
  Outcome outcome;
  for (const std::string& piece : pieces) {
    input += piece;
    do {
      const RequestParser::Progress progress = parser.advance(input);
      input.erase(0, progress.consumed);
      outcome.step = progress.step;
    } while (outcome.step == Step::header_done);
    if (outcome.step != Step::need_more) {
      break;
    }
  }
  outcome.unused_bytes = input.size();
  outcome.keep_alive = parser.traits().keep_alive;
  if (outcome.step == Step::done) {
    outcome.request = parser.take_request();
  }
  if (outcome.step == Step::refused) {
    outcome.status = parser.problem().status;
    outcome.detail = parser.problem().detail;
    EXPECT_FALSE(parser.problem().detail.empty());
  }
  return outcome;
}

Outcome feed_whole(const std::string& bytes, RequestLimits limits = {}) {
  return feed({bytes}, limits);
}

const std::string chunked_script =
    "POST /v1/events?a=1&b=x%20y HTTP/1.1\r\n"
    "Host: example.com\r\n"
    "Transfer-Encoding: chunked\r\n"
    "X-Thing:  padded value \t\r\n"
    "\r\n"
    "5;name=value\r\nhello\r\n"
    "6\r\n world\r\n"
    "0\r\nTrailer: ignored\r\n\r\n";

void expect_chunked_script(const Outcome& outcome) {
  ASSERT_EQ(outcome.step, Step::done);
  EXPECT_EQ(outcome.request.method, "POST");
  EXPECT_EQ(outcome.request.path, "/v1/events");
  EXPECT_EQ(outcome.request.query_value("b"), "x y");
  EXPECT_EQ(outcome.request.header("x-thing"), "padded value");
  EXPECT_EQ(outcome.request.header("trailer"), std::nullopt);
  EXPECT_EQ(outcome.request.body, "hello world");
  EXPECT_EQ(outcome.unused_bytes, 0u);
  EXPECT_TRUE(outcome.keep_alive);
}

TEST(RequestParser, ReadsARequestTheSameWhereverItsBytesAreSplit) {
  for (std::size_t cut = 0; cut <= chunked_script.size(); ++cut) {
    SCOPED_TRACE(cut);
    expect_chunked_script(feed({chunked_script.substr(0, cut), chunked_script.substr(cut)}));
  }
}

TEST(RequestParser, ReadsARequestByteByByte) {
  std::vector<std::string> pieces;
  for (const char c : chunked_script) {
    pieces.emplace_back(1, c);
  }
  expect_chunked_script(feed(pieces));
}

TEST(RequestParser, LeavesTheNextRequestInTheInput) {
  const std::string next = "GET / HTTP/1.1\r\n";
  const Outcome outcome =
      feed_whole("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + next);
  ASSERT_EQ(outcome.step, Step::done);
  EXPECT_EQ(outcome.request.body, "abc");
  EXPECT_EQ(outcome.unused_bytes, next.size());
}

TEST(RequestParser, DecidesWhetherToKeepTheConnectionAlive) {
  struct Case {
    const char* head;
    bool keep_alive;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Keep-Alive, CLOSE\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
       true},
  };
  for (const Case& c : cases) {
    const Outcome outcome = feed_whole(c.head);
    EXPECT_EQ(outcome.step, Step::done) << c.head;
    EXPECT_EQ(outcome.keep_alive, c.keep_alive) << c.head;
  }
}

struct Refusal {
  const char* why;
  std::string bytes;
  int status;
};

std::vector<Refusal> refusals() {
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  return {
      {"both framings", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"both framings, other order",
       post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
      {"unknown coding beside a length",
       post + "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nabcde", 400},
      {"equal lengths", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", 400},
      {"unequal lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 400},
      {"length list", post + "Content-Length: 5, 5\r\n\r\nabcde", 400},
      {"signed length", post + "Content-Length: +5\r\n\r\nabcde", 400},
      {"negative length", post + "Content-Length: -1\r\n\r\n", 400},
      {"hexadecimal length", post + "Content-Length: 0x5\r\n\r\nabcde", 400},
      {"empty length", post + "Content-Length:\r\n\r\n", 400},
      {"length beyond 64 bits", post + "Content-Length: 18446744073709551616\r\n\r\n", 400},
      {"unknown coding", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400},
      {"identity coding", post + "Transfer-Encoding: identity\r\n\r\n", 400},
      {"chunked not last", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400},
      {"chunked after gzip", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunked twice", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunked in two headers",
       post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"hidden chunked",
       post + "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"quoted chunked", post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 400},
      {"empty coding", post + "Transfer-Encoding:\r\n\r\n", 400},
      {"vertical tab in the coding",
       post + "Transfer-Encoding: \x0b"
              "chunked\r\n\r\n0\r\n\r\n",
       400},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"folded header", post + "X-A: b\r\n c\r\n\r\n", 400},
      {"folded with a tab", post + "X-A: b\r\n\tc\r\n\r\n", 400},
      {"folded first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {"folded to nothing", post + "X-A:\r\n \r\n\r\n", 400},
      {"bare line feeds", "GET / HTTP/1.1\nHost: h\n\n", 400},
      {"one bare line feed", post + "X-A: b\nX-B: c\r\n\r\n", 400},
      {"bare carriage return", post + "X-A: b\rX-B: c\r\n\r\n", 400},
      {"space before the colon", post + "Content-Length : 5\r\n\r\nabcde", 400},
      {"tab before the colon", post + "X-A\t: 5\r\n\r\n", 400},
      {"no colon", post + "X-A\r\n\r\n", 400},
      {"no name", post + ": value\r\n\r\n", 400},
      {"control character in a name", post + "X\x01Y: v\r\n\r\n", 400},
      {"high byte in a name", post + "X\xc3\xa9: v\r\n\r\n", 400},
      {"NUL in a value", post + std::string("X-A: b\0c\r\n\r\n", 12), 400},
      {"control character in a value",
       post + "X-A: b\x01"
              "c\r\n\r\n",
       400},
      {"DEL in a value", post + "X-A: b\x7f\r\n\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
      {"absolute target", "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"asterisk target", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"target without a slash", "GET index HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"fragment", "GET /#x HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"encoded NUL", "GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"encoded slash", "GET /a%2fb HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"half an escape", "GET /%2 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"CONNECT", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {"TRACE", "TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"HTTP/0.9", "GET /\r\n\r\n", 400},
      {"lower-case protocol", "GET / http/1.1\r\nHost: h\r\n\r\n", 400},
      {"leading blank line", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"TLS handshake", "\x16\x03\x01\x02", 400},
      {"gzip body", post + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 415},
      {"unknown expectation", post + "Expect: tea\r\nContent-Length: 1\r\n\r\nx", 417},
      {"chunk size that is not a number", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"chunk size with a prefix", post + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n\r\n",
       400},
      {"negative chunk size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n", 400},
      {"chunk size beyond 64 bits",
       post + "Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n", 400},
      {"chunk longer than its size",
       post + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", 400},
      {"bare line feed after a chunk size", post + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n",
       400},
      {"bare carriage return after a chunk size",
       post + "Transfer-Encoding: chunked\r\n\r\n1\ra\r\n", 400},
      {"line feed in a chunk extension",
       post + "Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n", 400},
      {"framing in the trailer",
       post + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", 400},
  };
}

TEST(RequestParser, RefusesAmbiguousRequests) {
  for (const Refusal& refusal : refusals()) {
    const Outcome outcome = feed_whole(refusal.bytes);
    EXPECT_EQ(outcome.step, Step::refused) << refusal.why;
    EXPECT_EQ(outcome.status, refusal.status) << refusal.why;
    EXPECT_FALSE(outcome.keep_alive) << refusal.why;
  }
}

TEST(RequestParser, TheDetailNamesTheViolatedContentLengthRule) {
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  for (const char* length : {"-1", "+21", "5, 5", "0x5", ""}) {
    EXPECT_EQ(feed_whole(post + "Content-Length: " + length + "\r\n\r\nabcde").detail,
              "Content-Length must be a decimal number.")
        << length;
  }
  for (const char* second : {"Content-Length: 5", "Transfer-Encoding: chunked"}) {
    EXPECT_EQ(feed_whole(post + "Content-Length: 5\r\n" + second + "\r\n\r\nabcde").detail,
              "A request must have only one Content-Length or Transfer-Encoding header, and not "
              "both.")
        << second;
  }
}

TEST(RequestParser, RefusesARequestTheSameWhereverItsBytesAreSplit) {
  for (const Refusal& refusal : refusals()) {
    for (std::size_t cut = 1; cut < refusal.bytes.size(); ++cut) {
      const Outcome outcome = feed({refusal.bytes.substr(0, cut), refusal.bytes.substr(cut)});
      ASSERT_EQ(outcome.step, Step::refused) << refusal.why << " cut at " << cut;
      ASSERT_EQ(outcome.status, refusal.status) << refusal.why << " cut at " << cut;
    }
  }
}

TEST(RequestParser, AcceptsUnusualButValidRequests) {
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::string accepted[] = {
      post + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
      post + "Content-Length: 0\r\n\r\n",
      post + "Content-Length: 005\r\n\r\nabcde",
      post + "\r\n",
      post + "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\nx",
      "GET / HTTP/1.1\r\nHost:\r\n\r\n",
      "GET / HTTP/1.1\r\nhOsT: [::1]:8080\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /?a=b?c=/d HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX-Empty:\r\n\r\n",
  };
  for (const std::string& bytes : accepted) {
    EXPECT_EQ(feed_whole(bytes).step, Step::done) << bytes;
  }
}

TEST(RequestParser, LimitsTheHeaderToTheByte) {
  const std::string start = "GET / HTTP/1.1\r\nHost: h\r\nX-A: ";
  const std::string end = "\r\n\r\n";
  const RequestLimits limits{.header_bytes_max = 100};
  const std::string fits = start + std::string(100 - start.size() - end.size(), 'x') + end;
  const std::string exceeds = start + std::string(101 - start.size() - end.size(), 'x') + end;

  EXPECT_EQ(feed_whole(fits, limits).step, Step::done);
  EXPECT_EQ(feed_whole(exceeds, limits).status, 431);
  EXPECT_EQ(feed_whole("GET /" + std::string(200, 'x'), limits).status, 431);
}

TEST(RequestParser, LimitsAHeaderThatArrivesInPieces) {
  std::vector<std::string> pieces = {"GET / HTTP/1.1\r\nHost: h\r\n"};
  for (int i = 0; i < 50; ++i) {
    pieces.emplace_back("A: b\r\n");
  }
  EXPECT_EQ(feed(pieces, {.header_bytes_max = 200}).status, 431);
}

TEST(RequestParser, LimitsTheNumberOfHeaders) {
  std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 9; ++i) {
    bytes += "A: b\r\n";
  }
  EXPECT_EQ(feed_whole(bytes + "\r\n", {.headers_max = 10}).step, Step::done);
  EXPECT_EQ(feed_whole(bytes + "A: b\r\n\r\n", {.headers_max = 10}).status, 431);
}

TEST(RequestParser, RefusesALargeBodyBeforeItIsSent) {
  const RequestLimits limits{.body_bytes_max = 10};
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(feed_whole(post + "Content-Length: 10\r\n\r\n0123456789", limits).step, Step::done);
  EXPECT_EQ(feed_whole(post + "Content-Length: 11\r\n\r\n", limits).status, 413);
  EXPECT_EQ(feed_whole(post + "Content-Length: 18446744073709551615\r\n\r\n", limits).status, 413);

  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(feed_whole(chunked + "a\r\n0123456789\r\n0\r\n\r\n", limits).step, Step::done);
  EXPECT_EQ(feed_whole(chunked + "b\r\n", limits).status, 413);
  EXPECT_EQ(feed_whole(chunked + "ffffffffffffffff\r\n", limits).status, 413);
  EXPECT_EQ(feed_whole(chunked + "6\r\n012345\r\n5\r\n", limits).status, 413);
}

TEST(RequestParser, LimitsChunkExtensionsTrailersAndChunkOverhead) {
  const RequestLimits limits{.header_bytes_max = 200, .body_bytes_max = 1000};
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(feed_whole(chunked + "1;" + std::string(300, 'x'), limits).status, 431);
  EXPECT_EQ(feed_whole(chunked + "0\r\nX: " + std::string(300, 'x'), limits).status, 431);

  std::string tiny_chunks = chunked;
  for (int i = 0; i < 900; ++i) {
    tiny_chunks += "1\r\nx\r\n";
  }
  EXPECT_EQ(feed_whole(tiny_chunks + "0\r\n\r\n", limits).status, 413);
}

TEST(RequestParser, AcceptsOnlyAShortPrintableRequestId) {
  struct Case {
    std::string header;
    std::string want;
  };
  const Case cases[] = {
      {"abc-1", "abc-1"},
      {"", ""},
      {"a b", ""},
      {std::string(128, 'x'), std::string(128, 'x')},
      {std::string(129, 'x'), ""},
      {"caf\xc3\xa9", ""},
  };
  for (const Case& c : cases) {
    RequestParser parser{{}};
    const auto progress =
        parser.advance("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + c.header + "\r\n\r\n");
    ASSERT_EQ(progress.step, Step::done);
    EXPECT_EQ(parser.client_request_id(), c.want);
  }
}

TEST(RequestParser, ExpectsContinueOnlyInHttp11WithABody) {
  RequestParser with_body{{}};
  EXPECT_EQ(with_body
                .advance("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n"
                         "Content-Length: 1\r\n\r\n")
                .step,
            Step::header_done);
  EXPECT_TRUE(with_body.expects_continue());

  RequestParser without_body{{}};
  EXPECT_EQ(without_body.advance("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n").step,
            Step::done);
  EXPECT_FALSE(without_body.expects_continue());
  RequestParser old{{}};
  EXPECT_EQ(
      old.advance("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n").step,
      Step::header_done);
  EXPECT_FALSE(old.expects_continue());
}

TEST(RequestParser, ReadsOneRequestAfterAnother) {
  RequestParser parser{{}};
  const std::string first = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na";
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(parser.advance(first).step, Step::header_done);
    ASSERT_EQ(parser.advance("a").step, Step::done);
    const HttpRequest request = parser.take_request();
    EXPECT_EQ(request.headers.size(), 2u);
    EXPECT_EQ(request.body, "a");
  }
}

// A header may be refused before it is parsed. Its response must not be framed for the previous
// request.
TEST(RequestParser, ResetsTheTraitsWithEachRequest) {
  RequestParser parser{{.header_bytes_max = 100}};
  const std::string too_long(200, 'v');
  ASSERT_EQ(parser.advance("HEAD / HTTP/1.0\r\n\r\n").step, Step::done);
  (void)parser.take_request();
  EXPECT_TRUE(parser.traits().is_head);
  ASSERT_EQ(parser.advance("GET / HTTP/1.1\r\nX-Long: " + too_long).step, Step::refused);
  EXPECT_FALSE(parser.traits().is_head);
  EXPECT_FALSE(parser.traits().http_1_0);
}

TEST(RequestParser, RecognizesAHeadRequestWhoseHeaderIsRefused) {
  RequestParser parser{{.header_bytes_max = 100}};
  const std::string too_long(200, 'v');
  ASSERT_EQ(parser.advance("HEAD / HTTP/1.1\r\nX-Long: " + too_long).step, Step::refused);
  EXPECT_TRUE(parser.traits().is_head);
}

}  // namespace
}  // namespace postrider::api
