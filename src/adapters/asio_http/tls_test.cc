// TLS: valid and invalid certificates, and receivers that violate the protocol.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>

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

  /// The outcome of a request to a server with this certificate.
  Outcome outcome_of(const TestCertificate& certificate, const TlsServerSpec& server = {}) {
    const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                    {.tls = tls_server(certificate, server)}};
    return send(request_to("127.0.0.1", receiver.port(), true));
  }

  static void expect_refused(const Outcome& outcome, std::string_view reason) {
    EXPECT_EQ(outcome.failure, FailureCategory::ssl);
    EXPECT_EQ(outcome.error_message,
              fmt::format("The receiver's TLS certificate was rejected: {}.", reason));
    EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  }

  const TestAuthority authority_;
};

TEST_F(Tls, AcceptsAValidCertificate) {
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

TEST_F(Tls, SystemAuthoritiesAreUsedOnlyIfEnabled) {
  const std::string path = testing::TempDir() + "postrider_system_authorities.pem";
  std::ofstream{path} << authority_.pem();
  ASSERT_EQ(setenv("SSL_CERT_FILE", path.c_str(), 1), 0);  // Replaces the system authorities.
  options_.tls.authorities_pem.clear();
  expect_refused(outcome_of(authority_.issue({})), "unable to get local issuer certificate");
  transport_.reset();
  options_.tls.default_authorities = true;
  EXPECT_EQ(outcome_of(authority_.issue({})).http_status, 200);
  unsetenv("SSL_CERT_FILE");
  std::remove(path.c_str());
}

TEST_F(Tls, RejectsUnreadableAuthorities) {
  options_.tls.authorities_pem = "not PEM";
  EXPECT_EQ(make_asio_transport(io_, options_, clock_).error().code, Errc::invalid);
  options_.tls.authorities_pem.clear();
  options_.tls.authorities_file = "/nonexistent/authorities.pem";
  EXPECT_EQ(make_asio_transport(io_, options_, clock_).error().code, Errc::invalid);
}

TEST_F(Tls, RejectsExpiredAndFutureCertificates) {
  expect_refused(outcome_of(authority_.issue({.valid_from = -48h, .valid_until = -24h})),
                 "certificate has expired");
  expect_refused(outcome_of(authority_.issue({.valid_from = 24h, .valid_until = 48h})),
                 "certificate is not yet valid");
}

TEST_F(Tls, RejectsCertificatesOfUnknownAuthorities) {
  expect_refused(outcome_of(self_signed({})), "self-signed certificate");
  expect_refused(outcome_of(TestAuthority{"Unknown Authority"}.issue({})),
                 "unable to get local issuer certificate");
}

TEST_F(Tls, RejectsWeakKeys) {
  expect_refused(outcome_of(authority_.issue({.rsa_bits = 1'024}), {.allow_weak_keys = true}),
                 "EE certificate key too weak");
  EXPECT_EQ(outcome_of(authority_.issue({.rsa_bits = 2'048})).http_status, 200);
}

TEST_F(Tls, RejectsACertificateForAnotherAddress) {
  expect_refused(outcome_of(authority_.issue({.alternative_names = "IP:127.0.0.2"})),
                 "IP address mismatch");
  // An address must be listed as an address; the common name does not count.
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
      {{.alternative_names = "DNS:*.localhost"}, "a.localhost", false},  // A top-level domain.
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
                "The receiver's TLS certificate was rejected: hostname mismatch.")
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

TEST_F(Tls, RejectsOldVersions) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    const Outcome outcome = outcome_of(authority_.issue({}), {.version_max = version});
    EXPECT_EQ(outcome.failure, FailureCategory::ssl) << outcome.error_message;
    EXPECT_EQ(outcome.error_message.find("The TLS handshake with the receiver failed: "), 0u);
  }
  EXPECT_EQ(outcome_of(authority_.issue({}), {.version_max = TLS1_2_VERSION}).http_status, 200);
}

TEST_F(Tls, OffersHttp11WithAlpn) {
  const std::shared_ptr<SSL_CTX> server = tls_server(authority_.issue({}));
  std::string offered;
  const auto select = [](SSL*, const unsigned char** out, unsigned char* out_bytes,
                         const unsigned char* in, unsigned in_bytes, void* seen) {
    static_cast<std::string*>(seen)->assign(reinterpret_cast<const char*>(in), in_bytes);
    *out = in + 1;
    *out_bytes = in[0];
    return SSL_TLSEXT_ERR_OK;
  };
  SSL_CTX_set_alpn_select_cb(server.get(), select, &offered);
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()), {.tls = server}};
  EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
  EXPECT_EQ(offered, "\x08http/1.1");
}

TEST_F(Tls, DoesNotRenegotiate) {
  std::atomic<int> hellos{0};
  const std::shared_ptr<SSL_CTX> server =
      tls_server(authority_.issue({}), {.version_max = TLS1_2_VERSION});
  SSL_CTX_set_client_hello_cb(
      server.get(),
      [](SSL*, int*, void* count) {
        ++*static_cast<std::atomic<int>*>(count);
        return SSL_CLIENT_HELLO_SUCCESS;
      },
      &hellos);
  const ScriptedReceiver receiver{[](Peer& peer) {
                                    peer.read_request();
                                    SSL_renegotiate(peer.ssl());
                                    SSL_do_handshake(peer.ssl());  // Sends a HelloRequest.
                                    peer.read_request();
                                  },
                                  {.tls = server}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port(), true);
  request.timeout = 1s;
  EXPECT_EQ(send(std::move(request)).failure, FailureCategory::ssl);
  EXPECT_TRUE(receiver.wait_for_ended(1));
  EXPECT_EQ(hellos, 1);
}

TEST_F(Tls, AStalledHandshakeTimesOut) {
  const ScriptedReceiver silent{[](Peer& peer) { peer.hold(); }};
  OutboundRequest request = request_to("127.0.0.1", silent.port(), true);
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(outcome.error_message, "Timed out after 300 ms while negotiating TLS.");

  const ScriptedReceiver half_way{[](Peer& peer) {  // Only the first bytes of a ServerHello.
    peer.write(std::string_view{"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03", 11});
    peer.hold();
  }};
  request = request_to("127.0.0.1", half_way.port(), true);
  request.timeout = 300ms;
  EXPECT_EQ(send(std::move(request)).failure, FailureCategory::timeout);
}

TEST_F(Tls, APlainServerIsASslFailure) {
  const ScriptedReceiver plain{[](Peer& peer) {
    peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    peer.drain();
  }};
  const Outcome outcome = send(request_to("127.0.0.1", plain.port(), true));
  EXPECT_EQ(outcome.failure, FailureCategory::ssl);
  EXPECT_EQ(outcome.error_message,
            "The TLS handshake with the receiver failed: wrong version number.");
}

TEST_F(Tls, ClosingDuringTheHandshakeIsANetworkFailure) {
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

TEST_F(Tls, RejectsAnOversizedChain) {
  const Outcome outcome = outcome_of(authority_.issue({}), {.certificate_copies = 400});
  EXPECT_EQ(outcome.failure, FailureCategory::ssl);
  EXPECT_EQ(outcome.error_message,
            "The TLS handshake with the receiver failed: excessive message size.");
}

TEST_F(Tls, AReceiverThatRequiresAClientCertificateIsASslFailure) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Outcome outcome = outcome_of(
        authority_.issue({}), {.version_max = version, .require_client_certificate = true});
    EXPECT_EQ(outcome.failure, FailureCategory::ssl) << outcome.error_message;
  }
}

TEST_F(Tls, ABodyThatEndsWithCloseNotifyIsComplete) {
  const ScriptedReceiver receiver{[](Peer& peer) {
                                    peer.read_request();
                                    peer.write("HTTP/1.1 200 OK\r\n\r\nbye");
                                    SSL_shutdown(peer.ssl());
                                  },
                                  {.tls = tls_server(authority_.issue({}))}};
  const Outcome outcome = send(request_to("127.0.0.1", receiver.port(), true));
  EXPECT_EQ(outcome.failure, std::nullopt) << outcome.error_message;
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(outcome.response_sample, "bye");
}

TEST_F(Tls, ABodyThatEndsWithoutCloseNotifyMayBeCut) {
  const ScriptedReceiver receiver{[](Peer& peer) {
                                    peer.read_request();
                                    peer.write("HTTP/1.1 200 OK\r\n\r\nbye");
                                  },  // Closes the socket without close_notify.
                                  {.tls = tls_server(authority_.issue({}))}};
  const Outcome outcome = send(request_to("127.0.0.1", receiver.port(), true));
  EXPECT_EQ(outcome.failure, FailureCategory::network);
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(outcome.response_sample, "bye");
  EXPECT_EQ(outcome.error_message,
            "The receiver closed the connection in the middle of the response (status 200): the "
            "connection was not closed properly, so its body may be incomplete.");

  options_.lax_responses = true;
  transport_.reset();
  const Outcome lax = send(request_to("127.0.0.1", receiver.port(), true));
  EXPECT_EQ(lax.failure, std::nullopt) << lax.error_message;
  EXPECT_EQ(lax.http_status, 200);
}

TEST_F(Tls, ABodyOfKnownLengthNeedsNoCloseNotify) {
  const ScriptedReceiver receiver{[](Peer& peer) {
                                    peer.read_request();
                                    peer.write(ok_response("bye"));
                                  },
                                  {.tls = tls_server(authority_.issue({}))}};
  EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).failure, std::nullopt);
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

TEST_F(Tls, UnreadBytesPreventReuse) {
  std::atomic<bool> answered{false};
  std::atomic<bool> spoken{false};
  const ScriptedReceiver receiver{
      [&](Peer& peer) {
        peer.read_request();
        if (peer.number() == 1) {
          peer.write(ok_response());
          while (!answered) {
            std::this_thread::yield();
          }
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
    answered = true;
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

TEST_F(Tls, ASessionTicketDoesNotCloseAnIdleConnection) {
  std::atomic<bool> send_ticket{false};
  std::atomic<bool> ticket_arrived{false};
  const ScriptedReceiver receiver{
      [&](Peer& peer) {
        peer.read_request();
        peer.write(ok_response());
        while (!send_ticket) {
          std::this_thread::yield();
        }
        SSL_new_session_ticket(peer.ssl());
        SSL_do_handshake(peer.ssl());
        peer.wait_for_arrival();
        ticket_arrived = true;
        peer.read_request();
        peer.write(ok_response());
        peer.hold();
      },
      {.tls = tls_server(authority_.issue({}), {.version_max = TLS1_3_VERSION})}};
  EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
  send_ticket = true;
  run_until([&] { return ticket_arrived.load(); });
  io_.restart();
  io_.poll();
  EXPECT_EQ(transport().idle_connections(), 1u);
  EXPECT_EQ(send(request_to("127.0.0.1", receiver.port(), true)).http_status, 200);
  EXPECT_EQ(receiver.connections(), 1u);
}

/// The response and another record arrive in one segment, so that TLS has taken both from the
/// socket when the response is complete.
TEST_F(Tls, AConnectionWithUnreadInputIsNotKept) {
  const ScriptedReceiver receiver{[&](Peer& peer) {
                                    peer.read_request();
                                    BIO* socket = SSL_get_wbio(peer.ssl());
                                    BIO_up_ref(socket);
                                    SSL_set0_wbio(peer.ssl(),
                                                  BIO_push(BIO_new(BIO_f_buffer()), socket));
                                    peer.write(ok_response());
                                    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake");
                                    (void)BIO_flush(SSL_get_wbio(peer.ssl()));
                                    peer.hold();
                                  },
                                  {.tls = tls_server(authority_.issue({}))}};
  std::optional<std::size_t> idle;
  transport().send(request_to("127.0.0.1", receiver.port(), true), [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
    idle = transport().idle_connections();
  });
  run_until([&] { return idle.has_value(); });
  EXPECT_EQ(idle, 0u);
}

TEST_F(Tls, ALargeRequestArrivesCompletely) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                  {.tls = tls_server(authority_.issue({}))}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port(), true);
  const std::string body(1'000'000, 'x');
  request.bytes = fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const std::string sent = request.bytes;
  EXPECT_EQ(send(std::move(request)).http_status, 200);
  EXPECT_TRUE(receiver.last_request() == sent);
}

TEST_F(Tls, AReceiverThatNeverReadsTimesOutAndIsDisconnected) {
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
