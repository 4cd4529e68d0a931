// DNS: correct, malformed, late and malicious answers. All traffic stays on loopback; an address
// that the policy denies stands for a private one.
#include <array>
#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/asio_http/resolver.h"
#include "adapters/asio_http/transport_fixture.h"

#include "tests/support/dns_stub.h"

namespace postrider::test {
namespace {

using Type = DnsRecord::Type;

class Dns : public TransportFixture {
 protected:
  /// All names are resolved by `answer`.
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

TEST_F(Dns, WithoutADescriptorForTheQueryNothingIsLearntAboutTheName) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  transport();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 3;  // Fewer than are open: no new one can be opened.
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::optional<Outcome> outcome;
  transport().send(request_to("a.test", receiver_.port()),
                   [&](Outcome result) { outcome = std::move(result); });
  run_until([&] { return outcome.has_value(); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->shortage, Shortage::server);
  EXPECT_EQ(outcome->failure, std::nullopt);
  EXPECT_EQ(outcome->error_message,
            "The host name 'a.test' was not looked up: this server has no free file descriptor or "
            "memory for a DNS query.");
  EXPECT_EQ(post("a.test").http_status, 200) << "the shortage is not kept as an answer";
}

TEST_F(Dns, ANameIsResolvedOnceAndCached) {
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

TEST_F(Dns, TheTimeToLiveIsRespected) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 20}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  clock_.offset += 19s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 1u);
  clock_.offset += 2s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, TheCacheTimeIsLimited) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 604'800}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  clock_.offset += 5min + 1s;
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, AnAnswerWithTimeToLiveZeroIsNotCached) {
  use(DnsStub::always({{.value = "127.0.0.1", .time_to_live = 0}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(post("a.test").http_status, 200);
  EXPECT_EQ(stub_->queries("a.test"), 2u);
}

TEST_F(Dns, ConcurrentRequestsShareOneQuery) {
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

TEST_F(Dns, FailuresAreExplainedAndCachedBriefly) {
  struct Case {
    DnsReply reply;
    std::string_view reason;
  };
  const Case cases[] = {
      {{.code = DnsReply::Code::nxdomain}, "the name does not exist"},
      {{.code = DnsReply::Code::servfail}, "no DNS server gave an answer"},
      {{.code = DnsReply::Code::refused}, "no DNS server gave an answer"},
      {{}, "the name has no IP address"},
      {{.silent = true}, "the DNS server did not answer in time"},
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
    clock_.offset += options_.dns.negative_cache;
    expect_unresolved(post("a.test"), "a.test", failing.reason);
    EXPECT_GT(stub_->queries("a.test"), asked) << failing.reason;
  }
}

TEST_F(Dns, TheNumberOfTriesIsConfigurable) {
  use([](const std::string&) { return DnsReply{.silent = true}; });
  options_.dns.try_timeout = 20ms;
  options_.dns.tries = 3;
  expect_unresolved(post("a.test"), "a.test", "the DNS server did not answer in time");
  EXPECT_EQ(stub_->queries("a.test"), 3u);
}

TEST_F(Dns, ConcurrentLookupsAreBounded) {  // P6
  use([](const std::string&) { return DnsReply{.silent = true}; });
  constexpr int lookups_max = 4'096;
  std::vector<std::string> errors;
  for (int number = 0; number <= lookups_max; ++number) {
    transport().send(request_to(fmt::format("a{}.test", number), receiver_.port()),
                     [&](const Outcome& outcome) { errors.push_back(outcome.error_message); });
  }
  io_.poll();
  const std::vector<std::string> rejected = errors;
  transport().stop();
  EXPECT_EQ(rejected, std::vector<std::string>{"The host name 'a4096.test' was not looked up: "
                                               "too many DNS lookups are in progress."});
  EXPECT_EQ(errors.size(), lookups_max + 1u);
}

TEST_F(Dns, TheDeadlineIncludesTheLookup) {
  use([](const std::string&) { return DnsReply{.silent = true}; });
  const Outcome outcome = post("a.test", 100ms);
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(outcome.error_message, "Timed out after 100 ms while resolving the host name.");
}

TEST_F(Dns, AnUnreachableNameServerIsADnsFailure) {
  use(DnsStub::always({}));
  stub_.reset();
  EXPECT_EQ(post("a.test").failure, FailureCategory::dns);
}

TEST_F(Dns, RejectsAMalformedServerList) {
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

TEST_F(Dns, AnAnswerWithThousandsOfRecordsWorks) {
  DnsReply many{.only_over_tcp = true};
  for (int number = 0; number < 4'000; ++number) {
    many.records.push_back({.value = "127.0.0.2"});
  }
  many.records.insert(many.records.begin() + 10, {.value = "127.0.0.1"});
  use([many](const std::string&) { return many; });
  EXPECT_EQ(post("a.test").http_status, 200);
}

class LastAnswer final : public asio_http::ResolveWaiter {
 public:
  void on_resolved(const asio_http::DnsAnswerPtr& answer) override { answer_ = answer; }
  asio_http::DnsAnswerPtr answer_;
};

TEST_F(Dns, TheAddressesOfAnAnswerAreBounded) {  // P6
  use([](const std::string&) {
    return DnsReply{.records = std::vector<DnsRecord>(4'000, {.value = "127.0.0.2"}),
                    .only_over_tcp = true};
  });
  const auto resolver = *asio_http::Resolver::make(io_, options_.dns, clock_);
  LastAnswer waiter;
  ASSERT_EQ(resolver->resolve("a.test", waiter), nullptr);
  ASSERT_TRUE(run_until([&] { return waiter.answer_ != nullptr; }));
  EXPECT_EQ(waiter.answer_->addresses.size(), 64u);
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
  clock_.offset += 6s;  // The alias has a shorter time to live than its target.
  EXPECT_EQ(post("alias.test").http_status, 200);
  EXPECT_EQ(stub_->queries("alias.test"), 2u);

  EXPECT_EQ(post("one.test").failure, FailureCategory::dns);
}

TEST_F(Dns, InvalidNamesAreDnsFailures) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  EXPECT_EQ(post(std::string(300, 'a')).failure, FailureCategory::dns);
  EXPECT_EQ(post(std::string(64, 'a') + ".test").failure, FailureCategory::dns);
  EXPECT_EQ(post("a..test").failure, FailureCategory::dns);
}

// --- Malicious answers ---

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

TEST_F(Dns, ACachedAnswerIsCheckedAgainstTheCurrentPolicy) {  // P11
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  EXPECT_EQ(post("a.test").http_status, 200);
  transport().change_addresses({});
  EXPECT_EQ(post("a.test").failure, FailureCategory::blocked_address);
  EXPECT_EQ(stub_->queries("a.test"), 1u);
}

TEST_F(Dns, LocalhostIsNotResolvedByDns) {
  use(DnsStub::always({{.value = "127.0.0.2"}}));
  EXPECT_EQ(post("localhost").http_status, 200);
  EXPECT_EQ(stub_->queries("localhost"), 0u);
}

TEST_F(Dns, OnlyTheDomainLocalhostIsLocal) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  EXPECT_EQ(post("mylocalhost").http_status, 200);
  EXPECT_EQ(stub_->queries("mylocalhost"), 1u);
}

/// Names in the hosts file of this machine must be resolved by the DNS server as well.
TEST_F(Dns, TheHostsFileIsNotRead) {
  use(DnsStub::always({{.value = "127.0.0.1"}}));
  std::ifstream hosts{"/etc/hosts"};
  for (std::string line; std::getline(hosts, line);) {
    std::istringstream words{line.substr(0, line.find('#'))};
    std::string address;
    words >> address;
    for (std::string name; words >> name;) {
      if (name != "localhost" && !name.ends_with(".localhost")) {
        EXPECT_EQ(post(name).http_status, 200) << name;
        EXPECT_GE(stub_->queries(name), 1u) << name;
      }
    }
  }
}

// --- Several addresses ---

TEST_F(Dns, TheNextAddressIsTriedIfOneRefuses) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  use(DnsStub::always({{.value = "127.0.0.3"},  // Nothing listens there.
                       {.value = "127.0.0.4"},
                       {.type = Type::aaaa, .value = "::1"},
                       {.value = "127.0.0.1"}}));
  const Outcome outcome = post("a.test");
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
}

/// An address that does not answer connection attempts, because its accept queue stays full.
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

TEST_F(Dns, AnUnresponsiveAddressLeavesTimeForTheNext) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  const BlackHole hole{"127.0.0.2", receiver_.port()};
  use(DnsStub::always({{.value = "127.0.0.2"}, {.value = "127.0.0.1"}}));
  const Outcome outcome = post("a.test", 1s);
  EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  EXPECT_GE(outcome.duration, 400ms);
}

/// While connecting, each of several addresses has a shorter deadline of its own.
TEST_F(Dns, TheWholeDeadlineAppliesAgainOnceConnected) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  use(DnsStub::always({{.value = "127.0.0.1"}, {.value = "127.0.0.3"}}));
  std::atomic<bool> answer{false};
  const ScriptedReceiver slow{[&](Peer& peer) {
    peer.read_request();
    while (!answer) {
      std::this_thread::yield();
    }
    peer.write(ok_response());
    peer.hold();
  }};
  const ScriptedReceiver silent{[](Peer& peer) { peer.hold(); }};
  std::optional<Outcome> outcome;
  transport().send(request_to("a.test", slow.port()),
                   [&](Outcome result) { outcome = std::move(result); });
  run_until([&] { return slow.requests() == 1; });
  bool wheel_advanced = false;
  OutboundRequest shorter = request_to("127.0.0.1", silent.port());
  shorter.timeout = 3s;
  transport().send(std::move(shorter), [&](const Outcome&) { wheel_advanced = true; });
  clock_.offset += 3s;  // More than half of the deadline, which is five seconds.
  run_until([&] { return wheel_advanced; });
  EXPECT_FALSE(outcome) << outcome->error_message;
  answer = true;
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->http_status, 200) << outcome->error_message;
}

TEST_F(Dns, OneAddressHasAtMostThreeSecondsToConnect) {
  options_.addresses.allowed.push_back(*Cidr::parse("127.0.0.0/8"));
  const BlackHole hole{"127.0.0.2", receiver_.port()};
  use(DnsStub::always({{.value = "127.0.0.2"}, {.value = "127.0.0.1"}}));
  OutboundRequest request = request_to("a.test", receiver_.port());
  request.timeout = 60s;
  std::optional<Outcome> outcome;
  transport().send(std::move(request), [&](Outcome result) { outcome = std::move(result); });
  ASSERT_TRUE(run_until([&] {
    clock_.offset += 50ms;
    return outcome.has_value();
  }));
  EXPECT_EQ(outcome->http_status, 200) << outcome->error_message;
  EXPECT_GE(outcome->duration, 3s);
  EXPECT_LT(outcome->duration, 8s);
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

TEST_F(Dns, AnIPv6OnlyNameIsReached) {
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
