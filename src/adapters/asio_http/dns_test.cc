// Name servers that answer well, badly, late or deceitfully. Nothing here ever leaves loopback:
// what stands for a private address is one that the policy denies.
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/asio_http/transport_fixture.h"

#include "tests/support/dns_stub.h"

namespace postrider::test {
namespace {

using Type = DnsRecord::Type;

class Dns : public TransportFixture {
 protected:
  /// Requests to any name go through `answer`, and from there to `receiver_`.
  void use(DnsStub::Answer answer) {
    stub_ = std::make_unique<DnsStub>(std::move(answer));
    options_.dns.servers = stub_->server();
  }

  Outcome post(std::string_view name, Millis timeout = 5s) {
    OutboundRequest request = request_to(name, receiver_.port());
    request.timeout = timeout;
    return send(std::move(request));
  }

  static void expect_unresolved(const Outcome& outcome, std::string_view name,
                                std::string_view reason) {
    EXPECT_EQ(outcome.failure, FailureCategory::dns);
    EXPECT_EQ(outcome.error_message,
              fmt::format("The host name '{}' could not be resolved: {}.", name, reason));
    EXPECT_EQ(outcome.remote_ip, "");
  }

  const ScriptedReceiver receiver_{ScriptedReceiver::answering(
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")};
  std::unique_ptr<DnsStub> stub_;
};

TEST_F(Dns, ANameIsResolvedOnceAndThenRemembered) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  const Outcome first = post("a.test");
  EXPECT_EQ(first.http_status, 200) << first.error_message;
  EXPECT_EQ(first.remote_ip, "127.0.0.1");
  EXPECT_GT(first.timings.dns, 0us);
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 1u);
  EXPECT_EQ(post("b.test").http_status, 200);
  EXPECT_EQ(stub_->queries("b.test"), 1u);
}

TEST_F(Dns, TheTimeToLiveIsHonouredUpToALimit) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 20}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  clock_.pushed += 19s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 1u);
  clock_.pushed += 2s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, AnAnswerIsNotKeptForDays) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 604'800}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  clock_.pushed += 5min + 1s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, ATimeToLiveOfZeroIsAskedForEveryTime) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 0}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, RequestsAtTheSameTimeShareOneQuery) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 0}}));
  int ended = 0;
  for (int number = 0; number < 20; ++number) {
    transport().send(request_to("a.test", receiver_.port()), [&](const Outcome& outcome) {
      EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
      ++ended;
    });
  }
  EXPECT_TRUE(run_until([&] { return ended == 20; }));
  EXPECT_EQ(stub_->queries("a.test"), 1u);
}

TEST_F(Dns, FailuresAreNamedAndRememberedForAMoment) {
  struct Case {
    DnsReply reply;
    std::string_view reason;
  };
  const Case cases[] = {
      {{.code = DnsReply::Code::nxdomain}, "the name does not exist"},
      {{.code = DnsReply::Code::servfail}, "no name server gave an answer"},
      {{.code = DnsReply::Code::refused}, "no name server gave an answer"},
      {{}, "the name has no address"},
      {{.silent = true}, "the name server did not answer in time"},
  };
  for (const Case& failing : cases) {
    transport_.reset();
    use([&](const std::string&) { return failing.reply; });
    options_.dns.try_timeout = failing.reply.silent ? 50ms : 2s;
    expect_unresolved(post("a.test"), "a.test", failing.reason);
    const std::size_t asked = stub_->queries("a.test");
    EXPECT_GE(asked, 1u);
    expect_unresolved(post("a.test"), "a.test", failing.reason);
    EXPECT_EQ(stub_->queries("a.test"), asked) << failing.reason;
    clock_.pushed += options_.dns.negative_cache;
    expect_unresolved(post("a.test"), "a.test", failing.reason);
    EXPECT_GT(stub_->queries("a.test"), asked) << failing.reason;
  }
}

TEST_F(Dns, TheDeadlineCoversTheLookup) {
  use([](const std::string&) { return DnsReply{.silent = true}; });
  const Outcome outcome = post("a.test", 100ms);
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(outcome.error_message, "Timed out after 100 ms while resolving the host name.");
}

TEST_F(Dns, NoNameServerAtAllIsADnsFailure) {
  use(DnsStub::always({}));
  stub_.reset();
  EXPECT_EQ(post("a.test").failure, FailureCategory::dns);
}

TEST_F(Dns, AnUnreadableServerListIsRefusedAtTheStart) {
  options_.dns.servers = "not an address";
  EXPECT_EQ(make_asio_transport(io_, options_, clock_).error().code, Errc::invalid);
}

TEST_F(Dns, TruncatedAnswersComeOverTcp) {
  use([](const std::string&) {
    return DnsReply{.records = {{.value = "127.0.0.1"}}, .only_over_tcp = true};
  });
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_GE(stub_->queries_over_tcp(), 1u);
}

TEST_F(Dns, ThousandsOfAnswersAreBounded) {
  DnsReply many{.only_over_tcp = true};
  for (int number = 0; number < 4'000; ++number) {
    many.records.push_back({.value = "127.0.0.2"});
  }
  many.records.insert(many.records.begin() + 10, {.value = "127.0.0.1"});
  use([many](const std::string&) { return many; });
  EXPECT_EQ(post("a.test").http_status, 200);
}

TEST_F(Dns, AliasesAreFollowedAndLoopsEnd) {
  use([](const std::string& name) {
    DnsReply reply;
    if (name == "alias.test") {
      reply.records = {{.type = Type::cname, .value = "real.test", .time_to_live = 5},
                       {.name = "real.test", .value = "127.0.0.1", .time_to_live = 600}};
    } else {
      reply.records = {{.name = "one.test", .type = Type::cname, .value = "two.test"},
                       {.name = "two.test", .type = Type::cname, .value = "one.test"}};
    }
    return reply;
  });
  EXPECT_EQ(post("alias.test").http_status, 200);
  clock_.pushed += 6s;  // The alias lives shorter than what it points to.
  EXPECT_EQ(post("alias.test").http_status, 200);
  EXPECT_EQ(stub_->queries("alias.test"), 2u);

  EXPECT_EQ(post("one.test").failure, FailureCategory::dns);
}

TEST_F(Dns, NamesThatAreNoneAreDnsFailures) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  EXPECT_EQ(post(std::string(300, 'a')).failure, FailureCategory::dns);
  EXPECT_EQ(post(std::string(64, 'a') + ".test").failure, FailureCategory::dns);
  EXPECT_EQ(post("a..test").failure, FailureCategory::dns);
}

// --- Deceit ---

TEST_F(Dns, OnlyAllowedAddressesOfAMixedAnswerAreUsed) {  // P11
  use(DnsStub::always({{.value = "127.0.0.2"},
                       {.value = "10.0.0.1"},
                       {.value = "127.0.0.1"},
                       {.type = Type::aaaa, .value = "::ffff:127.0.0.2"},
                       {.type = Type::aaaa, .value = "64:ff9b::7f00:1"}}));
  const Outcome outcome = post("a.test");
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
}

TEST_F(Dns, AnAnswerOfForbiddenAddressesIsBlockedWithTheRule) {  // P11
  const std::string_view values[] = {"127.0.0.2", "10.0.0.1", "169.254.169.254", "0.0.0.0"};
  for (const std::string_view value : values) {
    transport_.reset();
    use(DnsStub::always({{.value = std::string{value}}}));
    const Outcome outcome = post("a.test");
    EXPECT_EQ(outcome.failure, FailureCategory::blocked_address);
    const std::string rule = *forbidden_address(*IpAddress::parse(value), loopback_policy());
    EXPECT_EQ(outcome.error_message,
              fmt::format("Requests to this address are not allowed: {}: {}.", value, rule));
  }
}

TEST_F(Dns, ANameThatIsReboundToAForbiddenAddressIsBlocked) {  // P11
  std::atomic<bool> rebound{false};
  use([&](const std::string&) {
    return DnsReply{.records = {{.value = rebound ? "127.0.0.2" : "127.0.0.1", .time_to_live = 0}}};
  });
  EXPECT_EQ(post("a.test").http_status, 200);
  rebound = true;
  EXPECT_EQ(post("a.test").failure, FailureCategory::blocked_address);
  EXPECT_EQ(receiver_.connections(), 1u);
}

TEST_F(Dns, ACachedAnswerIsCheckedAgainstThePolicyOfToday) {  // P11
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  transport().change_addresses({});
  EXPECT_EQ(post("a.test").failure, FailureCategory::blocked_address);
  EXPECT_EQ(stub_->queries("a.test"), 1u);
}

TEST_F(Dns, ANameServerCannotSayWhatLocalhostIs) {
  use(DnsStub::always({{.value = "127.0.0.2"}}));
  EXPECT_EQ(post("localhost").http_status, 200);
  EXPECT_EQ(stub_->queries("localhost"), 0u);
}

// --- Several addresses ---

TEST_F(Dns, TheNextAddressIsTriedWhenOneRefuses) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  use(DnsStub::always({{.value = "127.0.0.3"},  // Nobody listens there.
                       {.value = "127.0.0.4"},
                       {.type = Type::aaaa, .value = "::1"},
                       {.value = "127.0.0.1"}}));
  const Outcome outcome = post("a.test");
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
}

/// An address that swallows connection attempts: its accept queue is full, and stays so.
class BlackHole {
 public:
  BlackHole(std::string_view address, std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    inet_pton(AF_INET, std::string{address}.c_str(), &where.sin_addr);
    const auto* generic = reinterpret_cast<const sockaddr*>(&where);
    EXPECT_EQ(::bind(listener_, generic, sizeof where), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    for (const int client : clients_) {
      ::connect(client, generic, sizeof where);  // Non-blocking; two fill the queue.
    }
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() {
    ::close(listener_);
    for (const int client : clients_) {
      ::close(client);
    }
  }

 private:
  static int open_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); }

  int listener_ = open_socket();
  std::array<int, 4> clients_{open_socket(), open_socket(), open_socket(), open_socket()};
};

TEST_F(Dns, AnAddressThatSwallowsConnectionsLeavesTimeForTheNext) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  const BlackHole hole{"127.0.0.2", receiver_.port()};
  use(DnsStub::always({{.value = "127.0.0.2"}, {.value = "127.0.0.1"}}));
  const Outcome outcome = post("a.test", 1s);
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  EXPECT_GE(outcome.duration, 400ms);
}

TEST_F(Dns, ConnectingEndsWithTheDeadline) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  const BlackHole hole{"127.0.0.2", receiver_.port()};
  OutboundRequest request = request_to("127.0.0.2", receiver_.port());
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(outcome.error_message, "Timed out after 300 ms while connecting.");
}

TEST_F(Dns, AnIPv6OnlyNameWorks) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()), {.address = "::1"}};
  use(DnsStub::always({{.type = Type::aaaa, .value = "::1"}}));
  const Outcome outcome = send(request_to("a.test", receiver.port()));
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "::1");
}

TEST_F(Dns, StoppingDuringALookupEndsTheRequest) {
  use([](const std::string&) { return DnsReply{.silent = true}; });
  int calls = 0;
  transport().send(request_to("a.test", receiver_.port()), [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.failure, FailureCategory::network);
    ++calls;
  });
  run_until([&] { return stub_->queries("a.test") == 1; });
  transport_.reset();
  EXPECT_EQ(calls, 1);
  io_.poll();
}

TEST_F(Dns, DoneOfAFailedLookupMayDestroyTheTransport) {
  use([](const std::string&) { return DnsReply{.code = DnsReply::Code::nxdomain}; });
  int calls = 0;
  for (int number = 0; number < 3; ++number) {
    transport().send(request_to("a.test", receiver_.port()), [&](const Outcome& outcome) {
      EXPECT_TRUE(outcome.failure.has_value());
      ++calls;
      transport_.reset();
    });
  }
  EXPECT_TRUE(run_until([&] { return calls == 3; }));
  io_.poll();
}

}  // namespace
}  // namespace postrider::test
