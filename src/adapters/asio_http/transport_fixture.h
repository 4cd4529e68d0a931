// The fixture of the transport tests: a transport on the thread of the test, and a function that
// sends a request and waits for its outcome.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/asio_http/transport.h"
#include "adapters/system/system_clock.h"

#include "tests/support/scripted_receiver.h"

namespace postrider::test {

using namespace std::chrono_literals;

/// The system clock plus an offset that a test can increase.
class OffsetClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override {
    const Moment real = real_->now();
    return {real.wall + std::chrono::duration_cast<Millis>(offset), real.mono + offset};
  }
  Micros offset{0};

 private:
  std::unique_ptr<Clock> real_ = make_system_clock();
};

inline AddressPolicy loopback_policy() {
  AddressPolicy policy;
  policy.allowed = {*Cidr::parse("127.0.0.1/32"), *Cidr::parse("::1/128")};
  return policy;
}

inline std::string ok_response(std::string_view body = "ok") {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

class TransportFixture : public testing::Test {
 protected:
  static constexpr Millis wait_max{10'000};  // Never reached by a passing test.

  TransportFixture() { options_.addresses = loopback_policy(); }

  AsioTransport& transport() {
    if (!transport_) {
      auto made = make_asio_transport(io_, options_, clock_);
      if (!made) {
        ADD_FAILURE() << made.error().message;
        std::abort();
      }
      transport_ = *std::move(made);
    }
    return *transport_;
  }

  static OutboundRequest request_to(std::string_view host, std::uint16_t port, bool tls = false) {
    OutboundRequest request;
    request.url.tls = tls;
    request.url.host = host;
    request.url.address = IpAddress::parse(host);
    request.url.port = port;
    request.bytes =
        fmt::format("POST /hook HTTP/1.1\r\nHost: {}\r\nContent-Length: 5\r\n\r\nhello", host);
    request.timeout = 5s;
    return request;
  }

  /// Sends a request, runs the event loop until it ends, and checks that it ended once and in time.
  Outcome send(OutboundRequest request) {
    std::optional<Outcome> outcome;
    int calls = 0;
    const Millis timeout = request.timeout;
    transport().send(std::move(request), [&](Outcome result) {
      outcome = std::move(result);
      ++calls;
    });
    EXPECT_FALSE(outcome) << "done was called inside send";
    run_until([&] { return outcome.has_value(); });
    EXPECT_EQ(calls, 1);
    if (!outcome) {
      return {};
    }
    EXPECT_LE(outcome->duration, timeout + 2s);  // Two seconds for a busy machine.
    EXPECT_TRUE(outcome->failure || outcome->http_status);
    EXPECT_EQ(outcome->failure.has_value(), !outcome->error_message.empty());
    return *std::move(outcome);
  }

  Outcome post(const ScriptedReceiver& receiver, Millis timeout = 5s) {
    OutboundRequest request = request_to("127.0.0.1", receiver.port());
    request.timeout = timeout;
    return send(std::move(request));
  }

  template <class Condition>
  bool run_until(Condition condition) {
    const MonoTime give_up = clock_.now().mono + wait_max;
    while (!condition()) {
      if (clock_.now().mono > give_up) {
        ADD_FAILURE() << "timed out waiting";
        if (transport_) {
          transport_->stop();  // Callbacks refer to variables of the test.
        }
        return false;
      }
      io_.restart();
      io_.run_one_for(10ms);
    }
    return true;
  }

  OffsetClock clock_;
  boost::asio::io_context io_{1};
  TransportOptions options_;
  std::unique_ptr<AsioTransport> transport_;
};

}  // namespace postrider::test
