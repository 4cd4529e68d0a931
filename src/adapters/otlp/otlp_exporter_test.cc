#include "adapters/otlp/otlp_exporter.h"

#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_receiver.h"

namespace postrider::otlp {
namespace {

using namespace std::chrono_literals;
using test::Peer;
using test::ScriptedReceiver;

using Answer = tl::expected<ExportReceipt, ExportFailure>;

std::unique_ptr<SpanExporter> exporter_to(std::uint16_t port) {
  return make_otlp_exporter({.endpoint = {.tls = false,
                                          .host = "127.0.0.1",
                                          .address = IpAddress::parse("127.0.0.1"),
                                          .port = port,
                                          .path_and_query = "/v1/traces"},
                             .headers = {{"x-api-key", Secret<std::string>{"canary"}}},
                             .service = {.name = "hooks", .version = "1.2.3"}});
}

Answer send_to(std::uint16_t port, Millis timeout = 20s) {
  const std::vector<Span> spans(2);
  return exporter_to(port)->send(spans, timeout);
}

Answer answered(const std::string& response) {
  const ScriptedReceiver collector{ScriptedReceiver::answering(response)};
  return send_to(collector.port());
}

std::string response(int status, const std::string& body = "{}", const std::string& headers = "") {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                     headers, body);
}

TEST(OtlpExporter, PostsJsonToThePath) {
  const ScriptedReceiver collector{ScriptedReceiver::answering(response(200))};
  const Answer answer = send_to(collector.port());
  ASSERT_TRUE(answer) << answer.error().reason;
  EXPECT_EQ(answer->rejected, 0u);
  const std::string request = collector.last_request();
  EXPECT_TRUE(request.starts_with("POST /v1/traces HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(request.find("x-api-key: canary\r\n"), std::string::npos);
  EXPECT_NE(request.find(R"({"resourceSpans":[)"), std::string::npos);
}

TEST(OtlpExporter, TellsHowManySpansWereRejected) {
  const Answer answer = answered(response(200, R"({"partialSuccess":{"rejectedSpans":"1"}})"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rejected, 1u);
}

TEST(OtlpExporter, RetriesWhatTheSpecificationCallsRetryable) {
  for (const int status : {429, 502, 503, 504}) {
    const Answer answer = answered(response(status, "", "Retry-After: 7\r\n"));
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().retry) << status;
    EXPECT_EQ(answer.error().retry_after, 7s);
  }
}

TEST(OtlpExporter, DoesNotRetryOtherStatuses) {
  for (const int status : {302, 400, 401, 404, 413, 500, 501}) {
    const Answer answer = answered(response(status, "", "Location: http://127.0.0.1:1/\r\n"));
    ASSERT_FALSE(answer);
    EXPECT_FALSE(answer.error().retry) << status;
    EXPECT_NE(answer.error().reason.find(fmt::format("answered {}.", status)), std::string::npos);
    EXPECT_EQ(answer.error().reason.find("canary"), std::string::npos);
  }
}

TEST(OtlpExporter, ACollectorThatIsAwayIsTriedAgain) {
  std::uint16_t port = 0;
  {
    const ScriptedReceiver gone{ScriptedReceiver::answering("")};
    port = gone.port();
  }
  const Answer answer = send_to(port);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().retry);
}

TEST(OtlpExporter, ACollectorThatBreaksOffIsTriedAgain) {
  for (const std::string& bytes :
       {std::string{}, std::string{"HTTP/1.1 200 OK\r\nContent-Le"},
        std::string{"nonsense\r\n\r\n"}, response(200, std::string(100'000, ' '))}) {
    const ScriptedReceiver collector{[&](Peer& peer) {
      peer.read_request();
      peer.write(bytes);
    }};
    const Answer answer = send_to(collector.port());
    ASSERT_FALSE(answer) << bytes.substr(0, 50);
    EXPECT_TRUE(answer.error().retry);
  }
}

TEST(OtlpExporter, ASlowCollectorIsGivenUp) {
  const ScriptedReceiver collector{[](Peer& peer) { peer.hold(); }};
  const Answer answer = send_to(collector.port(), 50ms);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().retry);
  EXPECT_NE(answer.error().reason.find("did not answer in time"), std::string::npos);
}

TEST(OtlpExporter, CanBeInterrupted) {
  std::atomic<SpanExporter*> current{nullptr};
  const ScriptedReceiver collector{[&](Peer& peer) {
    peer.read_request();
    current.load()->interrupt();
    peer.hold();
  }};
  const std::unique_ptr<SpanExporter> exporter = exporter_to(collector.port());
  current = exporter.get();
  const std::vector<Span> spans(1);
  EXPECT_FALSE(exporter->send(spans, 10min));
  EXPECT_FALSE(exporter->send(spans, 10min)) << "and stays so";
}

}  // namespace
}  // namespace postrider::otlp
