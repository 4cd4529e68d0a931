// Responses that end before they are complete (RFC 9112, section 8).
#include <gtest/gtest.h>

#include "adapters/asio_http/response_reader.h"
#include "adapters/asio_http/transport_fixture.h"

namespace postrider::test {
namespace {

using asio_http::body_bytes_max;

class CutResponse : public TransportFixture {
 protected:
  /// Sends `response` and closes the connection.
  Outcome outcome_of(const std::string& response) {
    const ScriptedReceiver receiver{[&](Peer& peer) {
      peer.read_request();
      peer.write(response);
    }};
    return post(receiver);
  }

  void expect_cut(const std::string& response, const std::string& missing) {
    const Outcome outcome = outcome_of(response);
    EXPECT_EQ(outcome.failure, FailureCategory::network) << response;
    EXPECT_EQ(outcome.http_status, 200) << response;
    EXPECT_EQ(outcome.error_message,
              "The receiver closed the connection in the middle of the response (status 200): " +
                  missing + ".");
  }
};

const std::string ok_line = "HTTP/1.1 200 OK\r\n";

TEST_F(CutResponse, BeforeItsLengthIsAFailure) {
  expect_cut(ok_line + "Content-Length: 10\r\n\r\nhalf", "4 of the 10 bytes of its body arrived");
  expect_cut(ok_line + "Content-Length: 10\r\n\r\n", "0 of the 10 bytes of its body arrived");
}

TEST_F(CutResponse, BeforeALengthThatIsNotReadToItsEndIsAFailure) {
  const std::string some(body_bytes_max - 1, 'b');
  expect_cut(ok_line + "Content-Length: 100000000\r\n\r\n" + some,
             "65535 of the 100000000 bytes of its body arrived");
}

TEST_F(CutResponse, WhichIsNotReadFurtherCounts) {
  const std::string much(2 * body_bytes_max, 'b');
  const Outcome outcome = outcome_of(ok_line + "Content-Length: 100000000\r\n\r\n" + much);
  EXPECT_EQ(outcome.failure, std::nullopt) << outcome.error_message;
  EXPECT_EQ(outcome.http_status, 200);
}

TEST_F(CutResponse, BeforeItsLastChunkIsAFailure) {
  const std::string missing = "the last chunk of its body did not arrive";
  const std::string head = ok_line + "Transfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n",
                           "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\nX: y\r\n"}) {
    expect_cut(head + body, missing);
  }
}

TEST_F(CutResponse, KeepsWhatArrived) {
  const Outcome outcome =
      outcome_of("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(outcome.failure, FailureCategory::network);
  EXPECT_EQ(outcome.http_status, 503);
  EXPECT_EQ(outcome.response_sample, "half");
  EXPECT_EQ(outcome.response_headers.size(), 2u);
  EXPECT_EQ(outcome.retry_after, Millis{7'000});
}

TEST_F(CutResponse, WithoutALengthIsCompleteWhenTheConnectionIsClosed) {
  const Outcome outcome = outcome_of(ok_line + "Connection: close\r\n\r\nbye");
  EXPECT_EQ(outcome.failure, std::nullopt) << outcome.error_message;
  EXPECT_EQ(outcome.response_sample, "bye");
}

TEST_F(CutResponse, WithoutALengthIsCutByAReset) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    peer.write(ok_line + "Connection: close\r\n\r\nbye");
    peer.wait_for_arrival();
    peer.reset();
  }};
  const Outcome outcome = post(receiver);
  EXPECT_EQ(outcome.failure, FailureCategory::network);
}

TEST_F(CutResponse, WithoutABodyIsComplete) {
  for (const char* head : {"HTTP/1.1 204 No Content\r\n\r\n",
                           "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_EQ(outcome_of(head).failure, std::nullopt) << head;
  }
}

TEST_F(CutResponse, CountsForLaxReceiversOnceItsHeadIsComplete) {
  options_.lax_responses = true;
  for (const char* rest : {"Content-Length: 10\r\n\r\nhalf", "Content-Length: 10\r\n\r\n",
                           "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    const Outcome outcome = outcome_of(ok_line + rest);
    EXPECT_EQ(outcome.failure, std::nullopt) << rest;
    EXPECT_EQ(outcome.http_status, 200) << rest;
  }
  EXPECT_EQ(outcome_of(ok_line + "Content-").failure, FailureCategory::network);
  EXPECT_EQ(outcome_of("").failure, FailureCategory::network);
}

}  // namespace
}  // namespace postrider::test
