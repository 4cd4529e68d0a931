// The cache of TLS sessions: what may be resumed, for how long, and how many are kept.
#include <atomic>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "adapters/asio_http/tls_context.h"
#include "adapters/asio_http/transport_fixture.h"

#include "tests/support/test_certificates.h"

namespace postrider::test {
namespace {

class TlsSession : public TransportFixture {
 protected:
  TlsSession() {
    options_.tls.default_authorities = false;
    options_.tls.authorities_pem = authority_.pem();
  }

  /// Answers one request per connection and counts the resumed sessions.
  ScriptedReceiver::Script counting_script() {
    return [this](Peer& peer) {
      resumed_ += peer.tls_resumed() ? 1 : 0;
      peer.read_request();
      peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      peer.drain();
    };
  }

  const TestAuthority authority_;
  std::atomic<int> resumed_{0};
};

TEST_F(TlsSession, IsResumedUntilTheCertificateMustBeCheckedAgain) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    resumed_ = 0;
    const ScriptedReceiver receiver{
        counting_script(), {.tls = tls_server(authority_.issue({}), {.version_max = version})}};
    for (int number = 0; number < 3; ++number) {
      EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
    }
    EXPECT_TRUE(receiver.wait_for_ended(3));
    EXPECT_EQ(resumed_, 2);

    clock_.offset += 61min;
    EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
    EXPECT_TRUE(receiver.wait_for_ended(4));
    EXPECT_EQ(resumed_, 2);
  }
}

/// A resumed session presents no certificate, so resuming must not postpone the next check.
TEST_F(TlsSession, ResumingDoesNotPostponeTheNextCertificateCheck) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    resumed_ = 0;
    const ScriptedReceiver receiver{
        counting_script(), {.tls = tls_server(authority_.issue({}), {.version_max = version})}};
    for (int number = 0; number < 3; ++number) {  // After 0, 40 and 80 minutes.
      EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
      clock_.offset += 40min;
    }
    EXPECT_TRUE(receiver.wait_for_ended(3));
    EXPECT_EQ(resumed_, 1);
  }
}

/// Two host names with the same address and port: each needs a certificate check of its own.
TEST_F(TlsSession, IsNotResumedForAnotherHost) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const ScriptedReceiver receiver{
        counting_script(),
        {.tls = tls_server(authority_.issue({.alternative_names = "DNS:a.localhost"}),
                           {.version_max = version})}};
    EXPECT_EQ(send(request_to("a.localhost", receiver.port(), true)).http_status, 200);
    const Outcome other = send(request_to("b.localhost", receiver.port(), true));
    EXPECT_EQ(other.failure, FailureCategory::ssl);
    EXPECT_EQ(other.error_message,
              "The receiver's TLS certificate was rejected: hostname mismatch.");
    EXPECT_EQ(receiver.requests(), 1u);
  }
}

TEST_F(TlsSession, IsNotResumedOnAnotherPort) {
  const std::shared_ptr<SSL_CTX> shared = tls_server(authority_.issue({}));
  const ScriptedReceiver first{counting_script(), {.tls = shared}};
  const ScriptedReceiver second{counting_script(), {.tls = shared}};
  EXPECT_EQ(send(request_to("127.0.0.1", first.port(), true)).http_status, 200);
  EXPECT_EQ(send(request_to("127.0.0.1", second.port(), true)).http_status, 200);
  EXPECT_EQ(resumed_, 0);
}

/// Puts a session into the cache as a handshake does.
void add_session(asio_http::TlsContext& context, int number) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.native().native_handle()),
                                                      SSL_free};
  asio_http::TlsPeer peer{.host = "a.test", .session_key = fmt::format("{}", number)};
  ASSERT_TRUE(context.prepare(ssl.get(), peer, MonoTime{}));
  SSL_SESSION* session = SSL_SESSION_new();
  const std::string id = fmt::format("{:032}", number);
  SSL_SESSION_set1_id(session, reinterpret_cast<const unsigned char*>(id.data()),
                      static_cast<unsigned>(id.size()));
  const auto on_new_session = SSL_CTX_sess_get_new_cb(context.native().native_handle());
  ASSERT_EQ(on_new_session(ssl.get(), session), 1);
}

bool would_resume(asio_http::TlsContext& context, int number) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.native().native_handle()),
                                                      SSL_free};
  asio_http::TlsPeer peer{.host = "a.test", .session_key = fmt::format("{}", number)};
  EXPECT_TRUE(context.prepare(ssl.get(), peer, MonoTime{}));
  return SSL_get_session(ssl.get()) != nullptr;
}

TEST(TlsSessionCache, IsBoundedAndDropsTheOldestSession) {
  const auto context = *asio_http::TlsContext::make({.default_authorities = false});
  const int count = static_cast<int>(asio_http::tls_sessions_max);
  for (int number = 0; number < count; ++number) {
    add_session(*context, number);
  }
  add_session(*context, 0);  // A newer session of a known peer replaces the earlier one.
  EXPECT_EQ(context->session_count(), asio_http::tls_sessions_max);
  add_session(*context, count);
  EXPECT_EQ(context->session_count(), asio_http::tls_sessions_max);
  EXPECT_TRUE(would_resume(*context, count));
  EXPECT_TRUE(would_resume(*context, 0));
  EXPECT_FALSE(would_resume(*context, 1));
  EXPECT_TRUE(would_resume(*context, 2));
}

}  // namespace
}  // namespace postrider::test
