// Certificates, good and bad, and receivers that speak TLS badly.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/asio_http/transport_fixture.h"

#include "tests/support/test_certificates.h"

namespace postrider::test {
namespace {

class Tls : public TransportFixture {
 protected:
  Tls() {
    options_.tls.default_authorities = false;
    options_.tls.authorities_pem = authority_.pem();
  }

  /// What comes of a request to a server that shows a certificate of this kind.
  Outcome outcome_of(const TestCertificate& certificate, const TlsServerSpec& server = {}) {
    const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                    {.tls = tls_server(certificate, server)}};
    return send(request_to("127.0.0.1", receiver.port(), true));
  }

  static void expect_refused(const Outcome& outcome, std::string_view reason) {
    EXPECT_EQ(outcome.failure, FailureCategory::ssl);
    EXPECT_EQ(outcome.error_message,
              fmt::format("The receiver's TLS certificate was refused: {}.", reason));
    EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  }

  const TestAuthority authority_;
};

TEST_F(Tls, AGoodCertificateIsAccepted) {
  const Outcome outcome = outcome_of(authority_.issue({}));
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_GT(outcome.timings.tls, 0us);
  EXPECT_GT(outcome.timings.first_byte, 0us);
  EXPECT_EQ(outcome.response_sample, "ok");
}

TEST_F(Tls, AuthoritiesMayComeFromAFile) {
  const std::string path = testing::TempDir() + "postrider_authorities.pem";
  std::ofstream{path} << authority_.pem();
  options_.tls.authorities_pem.clear();
  options_.tls.authorities_file = path;
  EXPECT_EQ(outcome_of(authority_.issue({})).http_status, 200);
  std::remove(path.c_str());
}

TEST_F(Tls, UnreadableAuthoritiesAreRefusedAtTheStart) {
  options_.tls.authorities_pem = "not PEM";
  EXPECT_EQ(make_asio_transport(io_, options_, clock_).error().code, Errc::invalid);
  options_.tls.authorities_pem.clear();
  options_.tls.authorities_file = "/nonexistent/authorities.pem";
  EXPECT_EQ(make_asio_transport(io_, options_, clock_).error().code, Errc::invalid);
}

TEST_F(Tls, CertificatesOutsideTheirTimeAreRefused) {
  expect_refused(outcome_of(authority_.issue({.valid_from = -48h, .valid_until = -24h})),
                 "certificate has expired");
  expect_refused(outcome_of(authority_.issue({.valid_from = 24h, .valid_until = 48h})),
                 "certificate is not yet valid");
}

TEST_F(Tls, CertificatesNobodyVouchesForAreRefused) {
  expect_refused(outcome_of(self_signed({})), "self-signed certificate");
  expect_refused(outcome_of(TestAuthority{"Unknown Authority"}.issue({})),
                 "unable to get local issuer certificate");
}

TEST_F(Tls, WeakKeysAreRefused) {
  expect_refused(outcome_of(authority_.issue({.rsa_bits = 1'024}), {.allow_weak_keys = true}),
                 "EE certificate key too weak");
  EXPECT_EQ(outcome_of(authority_.issue({.rsa_bits = 2'048})).http_status, 200);
}

TEST_F(Tls, TheHostMustBeOneTheCertificateNames) {
  expect_refused(outcome_of(authority_.issue({.alternative_names = "IP:127.0.0.2"})),
                 "IP address mismatch");
  // An address is not a name, and a common name is not a name either.
  expect_refused(outcome_of(authority_.issue({.alternative_names = "DNS:127.0.0.1"})),
                 "IP address mismatch");
  expect_refused(
      outcome_of(authority_.issue({.common_name = "127.0.0.1", .alternative_names = ""})),
      "IP address mismatch");
}

TEST_F(Tls, NamesAreVerifiedAndSent) {
  struct Case {
    CertificateSpec spec;
    std::string_view host;
    bool accepted;
  };
  const Case cases[] = {
      {{.alternative_names = "DNS:a.localhost"}, "a.localhost", true},
      {{.alternative_names = "DNS:*.localhost"}, "a.localhost", false},  // Too near the root.
      {{.alternative_names = "DNS:*.b.localhost"}, "a.b.localhost", true},
      {{.alternative_names = "DNS:*.b.localhost"}, "c.a.b.localhost", false},
      {{.alternative_names = "DNS:*.*.localhost"}, "a.b.localhost", false},
      {{.alternative_names = "DNS:a*.b.localhost"}, "ax.b.localhost", false},
      {{.alternative_names = "DNS:b.localhost"}, "a.b.localhost", false},
      {{.common_name = "a.localhost", .alternative_names = ""}, "a.localhost", false},
      {{.common_name = "a.localhost", .alternative_names = "DNS:other.localhost"},
       "a.localhost",
       false},
  };
  for (const Case& expected : cases) {
    std::string server_name;
    const ScriptedReceiver receiver{[&](Peer& peer) {
                                      server_name = peer.server_name();
                                      peer.read_request();
                                      peer.write(ok_response());
                                      peer.hold();
                                    },
                                    {.tls = tls_server(authority_.issue(expected.spec))}};
    const Outcome outcome = send(request_to(expected.host, receiver.port(), true));
    if (expected.accepted) {
      EXPECT_EQ(outcome.http_status, 200) << expected.host << ": " << outcome.error_message;
      EXPECT_EQ(server_name, expected.host);
    } else {
      EXPECT_EQ(outcome.failure, FailureCategory::ssl) << expected.host;
      EXPECT_EQ(outcome.error_message,
                "The receiver's TLS certificate was refused: hostname mismatch.")
          << expected.spec.alternative_names;
    }
  }
}

TEST_F(Tls, AnAddressIsNotSentAsServerName) {
  std::string server_name = "unset";
  const ScriptedReceiver receiver{[&](Peer& peer) {
                                    server_name = peer.server_name();
                                    peer.read_request();
                                    peer.write(ok_response());
                                    peer.hold();
                                  },
                                  {.tls = tls_server(authority_.issue({}))}};
  EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
  EXPECT_EQ(server_name, "");
}

TEST_F(Tls, OldVersionsAreRefused) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    const Outcome outcome = outcome_of(authority_.issue({}), {.version_max = version});
    EXPECT_EQ(outcome.failure, FailureCategory::ssl) << outcome.error_message;
    EXPECT_EQ(outcome.error_message.find("The TLS handshake with the receiver failed: "), 0u);
  }
  EXPECT_EQ(outcome_of(authority_.issue({}), {.version_max = TLS1_2_VERSION}).http_status, 200);
}

TEST_F(Tls, AStalledHandshakeTimesOut) {
  const ScriptedReceiver silent{[](Peer& peer) { peer.hold(); }};
  OutboundRequest request = request_to("127.0.0.1", silent.port(), true);
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(outcome.error_message, "Timed out after 300 ms while negotiating TLS.");

  const ScriptedReceiver half_way{[](Peer& peer) {  // A ServerHello's first bytes, and no more.
    peer.write(std::string_view{"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03", 11});
    peer.hold();
  }};
  request = request_to("127.0.0.1", half_way.port(), true);
  request.timeout = 300ms;
  EXPECT_EQ(send(std::move(request)).failure, FailureCategory::timeout);
}

TEST_F(Tls, SomethingElseThanTlsIsASslFailure) {
  const ScriptedReceiver plain{[](Peer& peer) {
    peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    peer.drain();
  }};
  const Outcome outcome = send(request_to("127.0.0.1", plain.port(), true));
  EXPECT_EQ(outcome.failure, FailureCategory::ssl);
  EXPECT_EQ(outcome.error_message,
            "The TLS handshake with the receiver failed: wrong version number.");
}

TEST_F(Tls, HangingUpDuringTheHandshakeIsANetworkFailure) {
  for (const bool by_reset : {false, true}) {
    const ScriptedReceiver receiver{[by_reset](Peer& peer) {
      if (by_reset) {
        peer.reset();
      }
    }};
    const Outcome outcome = send(request_to("127.0.0.1", receiver.port(), true));
    EXPECT_EQ(outcome.failure, FailureCategory::network) << outcome.error_message;
  }
}

TEST_F(Tls, AFloodOfKeyUpdatesEndsWithTheDeadline) {
  const ScriptedReceiver receiver{
      [](Peer& peer) {
        peer.read_request();
        do {
          SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED);
        } while (SSL_do_handshake(peer.ssl()) == 1 && peer.client_present());
      },
      {.tls = tls_server(authority_.issue({}))}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port(), true);
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.failure, FailureCategory::timeout) << outcome.error_message;
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Tls, ABloatedChainIsRefused) {
  const Outcome outcome = outcome_of(authority_.issue({}), {.certificate_copies = 400});
  EXPECT_EQ(outcome.failure, FailureCategory::ssl);
  EXPECT_EQ(outcome.error_message,
            "The TLS handshake with the receiver failed: excessive message size.");
}

TEST_F(Tls, AReceiverThatWantsOurCertificateGetsNone) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Outcome outcome = outcome_of(
        authority_.issue({}), {.version_max = version, .require_client_certificate = true});
    EXPECT_EQ(outcome.failure, FailureCategory::ssl) << outcome.error_message;
  }
}

TEST_F(Tls, AResponseWithoutAProperGoodbyeStillCounts) {
  const ScriptedReceiver receiver{[](Peer& peer) {
                                    peer.read_request();
                                    peer.write("HTTP/1.1 200 OK\r\n\r\nbye");
                                  },  // Closes the socket without close_notify.
                                  {.tls = tls_server(authority_.issue({}))}};
  const Outcome outcome = send(request_to("127.0.0.1", receiver.port(), true));
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.response_sample, "bye");
}

TEST_F(Tls, ConnectionsAreReused) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                  {.tls = tls_server(authority_.issue({}))}};
  for (int number = 0; number < 10; ++number) {
    EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
  }
  EXPECT_EQ(receiver.connections(), 1u);
  EXPECT_EQ(transport().idle_connections(), 1u);
}

TEST_F(Tls, BytesAfterTheResponseAreSeenBeforeReuse) {
  std::atomic<bool> spoken{false};
  const ScriptedReceiver receiver{
      [&](Peer& peer) {
        peer.read_request();
        if (peer.number() == 1) {
          peer.write(ok_response());
          peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake");
          peer.wait_for_arrival();
          spoken = true;
        } else {
          peer.write(ok_response("true"));
        }
        peer.hold();
      },
      {.tls = tls_server(authority_.issue({}))}};
  std::optional<Outcome> second;
  transport().send(request_to("127.0.0.1", receiver.port(), true), [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.http_status, 200);
    while (!spoken) {
      std::this_thread::yield();
    }
    transport().send(request_to("127.0.0.1", receiver.port(), true),
                     [&](Outcome result) { second = std::move(result); });
  });
  run_until([&] { return second.has_value(); });
  EXPECT_EQ(second->http_status, 200);
  EXPECT_EQ(second->response_sample, "true");
  EXPECT_EQ(receiver.connections(), 2u);
}

TEST_F(Tls, SessionsAreResumedForAWhile) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    std::atomic<int> resumed{0};
    const ScriptedReceiver receiver{
        [&](Peer& peer) {
          resumed += peer.tls_resumed() ? 1 : 0;
          peer.read_request();
          peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
          peer.drain();
        },
        {.tls = tls_server(authority_.issue({}), {.version_max = version})}};
    for (int number = 0; number < 3; ++number) {
      EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
    }
    EXPECT_TRUE(receiver.wait_for_ended(3));
    EXPECT_EQ(resumed, 2);

    clock_.pushed += 61min;  // Then the certificate must be shown again.
    EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
    EXPECT_TRUE(receiver.wait_for_ended(4));
    EXPECT_EQ(resumed, 2);
  }
}

TEST_F(Tls, ALargeRequestArrivesWhole) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                  {.tls = tls_server(authority_.issue({}))}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port(), true);
  const std::string body(1'000'000, 'x');
  request.bytes = fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const std::string sent = request.bytes;
  EXPECT_EQ(send(std::move(request)).http_status, 200);
  EXPECT_TRUE(receiver.last_request() == sent);
}

TEST_F(Tls, AReceiverThatNeverReadsTimesOutAndLeavesNothingBehind) {
  const ScriptedReceiver receiver{
      [](Peer& peer) { peer.hold(); },
      {.tls = tls_server(authority_.issue({})), .receive_buffer_bytes = 4'096}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port(), true);
  request.bytes.append(16'000'000, 'x');
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.error_message, "Timed out after 300 ms while sending the request.");
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

}  // namespace
}  // namespace postrider::test
