// The client against a scripted server on loopback.
#include <atomic>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <postrider/client.h>

#include "tests/support/scripted_receiver.h"
#include "tests/support/test_certificates.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::Peer;
using test::ScriptedReceiver;

constexpr auto patience = 60s;  // A passing test does not wait for it.

std::string http(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " x\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::vector<std::string> keys_in(std::string_view request) {
  constexpr std::string_view before = R"("idempotency_key":")";
  std::vector<std::string> keys;
  for (std::size_t at = request.find(before); at != std::string_view::npos;
       at = request.find(before, at)) {
    at += before.size();
    keys.emplace_back(request.substr(at, request.find('"', at) - at));
  }
  return keys;
}

/// Stores every event; its id is its key.
std::string stored(std::string_view request) {
  std::string results;
  for (const std::string& key : keys_in(request)) {
    results += std::string{results.empty() ? "" : ","} + R"({"status":202,"id":")" + key +
               R"(","duplicate":false})";
  }
  return http(202, R"({"results":[)" + results + "]}");
}

/// Answers each request with the answer of the function, which gets its number from 1.
using Answers = std::function<std::string(std::size_t number, const std::string& request)>;
ScriptedReceiver::Script script(Answers answers) {
  auto number = std::make_shared<std::atomic<std::size_t>>(0);
  return [answers = std::move(answers), number](Peer& peer) {
    while (const std::optional<std::string> request = peer.read_request()) {
      const std::string answer = answers(++*number, *request);
      if (answer.empty() || !peer.write(answer)) {  // Empty: closes without an answer.
        return;
      }
    }
  };
}

ClientOptions options_for(const ScriptedReceiver& server) {
  ClientOptions options;
  options.url = "http://127.0.0.1:" + std::to_string(server.port());
  options.api_key = "pk_1";
  options.retry_delay_min = 1ms;
  options.retry_delay_max = 5ms;
  return options;
}

std::unique_ptr<Client> open(const ClientOptions& options) {
  OpenedClient opened = Client::open(options);
  EXPECT_TRUE(opened.client) << opened.problem;
  return std::move(opened.client);
}

NewEvent event(std::string key = "", std::string data = "1") {
  NewEvent event;
  event.type = "order.paid";
  event.data = std::move(data);
  event.idempotency_key = std::move(key);
  return event;
}

PublishResult get(std::future<PublishResult> future) {
  if (future.wait_for(patience) != std::future_status::ready) {
    ADD_FAILURE() << "no result";
    return {};
  }
  return future.get();
}

TEST(Client, StoresEventsAndKeepsItsConnection) {
  ScriptedReceiver server{script([](auto, const std::string& request) { return stored(request); })};
  const auto client = open(options_for(server));
  const PublishResult first = get(client->publish(event("k1")));
  EXPECT_EQ(first.status, PublishStatus::stored);
  EXPECT_EQ(first.event_id, "k1");
  EXPECT_EQ(first.idempotency_key, "k1");
  EXPECT_EQ(first.http_status, 202);
  EXPECT_EQ(get(client->publish(event())).status, PublishStatus::stored);
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_EQ(client->state().stored, 2u);
  EXPECT_EQ(client->state().queued, 0u);
}

TEST(Client, GivesEventsWithoutAKeyDifferentKeys) {
  ScriptedReceiver server{script([](auto, const std::string& request) { return stored(request); })};
  std::set<std::string> keys;
  for (int round = 0; round < 2; ++round) {
    const auto client = open(options_for(server));
    for (int number = 0; number < 10; ++number) {
      keys.insert(get(client->publish(event())).idempotency_key);
    }
  }
  EXPECT_EQ(keys.size(), 20u);
}

TEST(Client, SendsWhatWasPublishedTogetherInOneRequest) {
  ScriptedReceiver server{script([](auto, const std::string& request) { return stored(request); })};
  ClientOptions options = options_for(server);
  options.batch_delay = 1h;
  const auto client = open(options);
  std::vector<std::future<PublishResult>> results;
  for (const char* key : {"a", "b", "c"}) {
    results.push_back(client->publish(event(key)));
  }
  EXPECT_TRUE(client->flush(patience));
  EXPECT_EQ(server.requests(), 1u);
  EXPECT_EQ(keys_in(server.last_request()), (std::vector<std::string>{"a", "b", "c"}));
  for (auto& result : results) {
    EXPECT_EQ(result.wait_for(0s), std::future_status::ready);
  }
}

TEST(Client, RepeatsARequestByteForByteUntilItIsAnswered) {
  std::mutex mutex;
  std::vector<std::string> requests;
  ScriptedReceiver server{script([&](std::size_t number, const std::string& request) {
    const std::lock_guard lock{mutex};
    requests.push_back(request);
    switch (number) {
      case 1:
        return std::string{};
      case 2:
        return http(503, R"({"detail":"Draining."})");
      case 3:
        return http(502, "<html>");
      case 4:
        return std::string{"HTTP/1.1 202 x\r\nContent-Length: 100\r\n\r\n{"};
      default:
        return stored(request);
    }
  })};
  // The fourth answer is cut: the script waits for the next request, and the client's time ends.
  ClientOptions options = options_for(server);
  options.request_timeout = 500ms;
  const auto client = open(options);
  EXPECT_EQ(get(client->publish(event())).status, PublishStatus::stored);
  const std::lock_guard lock{mutex};
  EXPECT_EQ(requests, std::vector<std::string>(5, requests.front()));
  const ClientState state = client->state();
  EXPECT_EQ(state.failures, 4u);
  EXPECT_EQ(state.trouble, "");
}

TEST(Client, WaitsForRetryAfter) {
  std::atomic<std::chrono::steady_clock::rep> times[2] = {};
  ScriptedReceiver server{script([&](std::size_t number, const std::string& request) {
    times[number > 1] = std::chrono::steady_clock::now().time_since_epoch().count();
    return number == 1 ? http(429, R"({"detail":"Slow down."})", "Retry-After: 1\r\n")
                       : stored(request);
  })};
  const auto client = open(options_for(server));
  EXPECT_EQ(get(client->publish(event())).status, PublishStatus::stored);
  EXPECT_GE(std::chrono::steady_clock::duration{times[1] - times[0]}, 1s);
}

TEST(Client, OpensANewConnectionIfTheServerHasClosedTheOldOne) {
  ScriptedReceiver server{[](Peer& peer) {  // One request per connection, without saying so.
    if (const std::optional<std::string> request = peer.read_request()) {
      peer.write(stored(*request));
    }
  }};
  const auto client = open(options_for(server));
  for (std::size_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(get(client->publish(event())).status, PublishStatus::stored);
    EXPECT_TRUE(server.wait_for_ended(round));
  }
  EXPECT_EQ(server.connections(), 3u);
  EXPECT_EQ(client->state().failures, 0u);
}

TEST(Client, ReportsTheResultOfEachEvent) {
  ScriptedReceiver server{script([](auto, const std::string& request) {
    const std::size_t refused = request.find("\"bad\"");
    return refused == std::string::npos
               ? stored(request)
               : http(202, R"({"results":[{"status":202,"id":"evt_1","duplicate":true},)"
                           R"({"status":422,"id":null,"code":"validation_failed",)"
                           R"("detail":"Wrong."}]})");
  })};
  ClientOptions options = options_for(server);
  options.batch_delay = 1h;
  const auto client = open(options);
  auto good = client->publish(event("good"));
  auto bad = client->publish(event("bad"));
  EXPECT_TRUE(client->flush(patience));
  EXPECT_TRUE(good.get().duplicate);
  const PublishResult result = bad.get();
  EXPECT_EQ(result.status, PublishStatus::rejected);
  EXPECT_EQ(result.http_status, 422);
  EXPECT_EQ(result.code, "validation_failed");
  EXPECT_EQ(result.message, "Wrong.");
  EXPECT_EQ(result.idempotency_key, "bad");
  EXPECT_EQ(client->state().rejected, 1u);
}

TEST(Client, SendsOtherEventsWhileOneIsPostponed) {
  std::atomic<std::size_t> refusals{0};
  ScriptedReceiver server{script([&](auto, const std::string& request) {
    if (request.find("\"limited\"") == std::string::npos || refusals == 3) {
      return stored(request);
    }
    ++refusals;
    return http(202, R"({"results":[{"status":429,"id":null,"code":"event_quota_exceeded"}]})");
  })};
  const auto client = open(options_for(server));
  auto limited = client->publish(event("limited"));
  EXPECT_EQ(get(std::move(limited)).status, PublishStatus::stored);
  EXPECT_EQ(refusals, 3u);
  EXPECT_EQ(client->state().failures, 3u);
}

TEST(Client, FindsTheEventThatMakesTheServerRefuseABatch) {
  ScriptedReceiver server{script([](auto, const std::string& request) {
    return request.find("\"large\"") == std::string::npos
               ? stored(request)
               : http(413, R"({"code":"body_too_large","detail":"Too large."})");
  })};
  ClientOptions options = options_for(server);
  options.batch_delay = 1h;
  const auto client = open(options);
  std::vector<std::future<PublishResult>> good;
  for (const char* key : {"a", "b", "c", "d"}) {
    good.push_back(client->publish(event(key)));
  }
  auto large = client->publish(event("large"));
  EXPECT_TRUE(client->flush(patience));
  for (auto& result : good) {
    EXPECT_EQ(result.get().status, PublishStatus::stored);
  }
  EXPECT_EQ(large.get().code, "body_too_large");
}

TEST(Client, RejectsAtOnceWhatIsNotJson) {
  ScriptedReceiver server{script([](auto, const std::string& request) { return stored(request); })};
  ClientOptions options = options_for(server);
  options.queue_bytes_max = 100;
  const auto client = open(options);
  PublishResult result = client->publish(event("k", "{")).get();
  EXPECT_EQ(result.status, PublishStatus::rejected);
  EXPECT_EQ(result.code, "invalid_json");
  result = client->publish(event("k", '"' + std::string(100, 'x') + '"')).get();
  EXPECT_EQ(result.code, "event_too_large");
  EXPECT_EQ(server.requests(), 0u);
}

TEST(Client, RejectsEventsIfTheKeyIsWrong) {
  ScriptedReceiver server{script([](auto, const auto&) {
    return http(401, R"({"code":"unauthorized","detail":"This API key is invalid."})");
  })};
  const auto client = open(options_for(server));
  const PublishResult result = get(client->publish(event()));
  EXPECT_EQ(result.status, PublishStatus::rejected);
  EXPECT_EQ(result.http_status, 401);
  EXPECT_EQ(result.message, "This API key is invalid.");
}

TEST(Client, DoesNotTakeAnotherServersAnswerForAResult) {
  ScriptedReceiver server{script([](auto, const auto&) { return http(200, "<html>"); })};
  const auto client = open(options_for(server));
  const PublishResult result = get(client->publish(event()));
  EXPECT_EQ(result.status, PublishStatus::unconfirmed);
  EXPECT_NE(result.message.find("Is the server Postrider?"), std::string::npos);
}

TEST(Client, AcceptsNothingMoreWhileItsQueueIsFull) {
  std::latch released{1};
  ScriptedReceiver server{script([&](auto, const std::string& request) {
    released.wait();
    return stored(request);
  })};
  ClientOptions options = options_for(server);
  options.queue_events_max = 2;
  const auto client = open(options);
  auto first = client->publish(event("a"));
  auto second = client->publish(event("b"));
  const PublishResult full = client->publish(event("c")).get();
  EXPECT_EQ(full.status, PublishStatus::queue_full);
  EXPECT_EQ(full.idempotency_key, "c");
  EXPECT_EQ(client->publish(event("c"), 5ms).get().status, PublishStatus::queue_full);
  EXPECT_FALSE(client->flush(1ms));
  auto third =
      std::async(std::launch::async, [&] { return get(client->publish(event("c"), patience)); });
  released.count_down();
  EXPECT_EQ(get(std::move(first)).status, PublishStatus::stored);
  EXPECT_EQ(get(std::move(second)).status, PublishStatus::stored);
  EXPECT_EQ(third.get().status, PublishStatus::stored);
}

TEST(Client, SaysWhichEventsAreUnconfirmedWhenItIsClosedInTheMiddle) {
  ScriptedReceiver server{[](Peer& peer) { peer.hold(); }};
  const auto client = open(options_for(server));
  auto first = client->publish(event("a"));
  auto second = client->publish(event("b"));
  EXPECT_FALSE(client->close(10ms));
  EXPECT_EQ(first.get().status, PublishStatus::unconfirmed);
  EXPECT_EQ(second.get().idempotency_key, "b");
  EXPECT_EQ(client->publish(event("c")).get().status, PublishStatus::closed);
  EXPECT_EQ(client->state().unconfirmed, 2u);
  EXPECT_FALSE(client->close(10ms));
}

TEST(Client, NamesTheLastProblemOfTheServerIfClosingInterruptsARequest) {
  ScriptedReceiver server{[](Peer& peer) {
    if (peer.read_request()) {
      (void)peer.write(http(503, "{}"));
    }
    peer.hold();
  }};
  const auto client = open(options_for(server));
  auto result = client->publish(event());
  while (client->state().requests < 2 && !client->flush(1ms)) {
  }
  client->close(0ms);
  const std::string message = get(std::move(result)).message;
  EXPECT_NE(message.find("Last problem: The server answered 503"), std::string::npos) << message;
}

TEST(Client, SendsWhatIsLeftWhenItIsDestroyed) {
  ScriptedReceiver server{script([](auto, const std::string& request) { return stored(request); })};
  ClientOptions options = options_for(server);
  options.batch_delay = 1h;
  options.close_timeout = patience;
  std::future<PublishResult> result = open(options)->publish(event());
  EXPECT_EQ(result.get().status, PublishStatus::stored);
}

TEST(Client, GivesEveryEventOfManyThreadsOneResult) {
  std::mutex mutex;
  std::set<std::string> received;
  ScriptedReceiver server{script([&](std::size_t number, const std::string& request) {
    if (number % 3 == 0) {
      return number % 2 == 0 ? std::string{} : http(503, "");
    }
    const std::lock_guard lock{mutex};
    for (std::string& key : keys_in(request)) {
      EXPECT_TRUE(received.insert(std::move(key)).second) << "sent again after it was stored";
    }
    return stored(request);
  })};
  ClientOptions options = options_for(server);
  options.queue_events_max = 50;
  options.batch_events_max = 20;
  const auto client = open(options);
  std::atomic<std::size_t> results{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int number = 0; number < 200; ++number) {
        results += get(client->publish(event(), patience)).status == PublishStatus::stored;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(results, 800u);
  EXPECT_EQ(received.size(), 800u);
  EXPECT_EQ(client->state().stored, 800u);
}

class ClientTls : public testing::Test {
 protected:
  static std::string ca_file_of(const test::TestAuthority& authority) {
    const std::string path = testing::TempDir() + "postrider_client_ca.pem";
    std::ofstream{path} << authority.pem();
    return path;
  }

  /// Publishes one event to a server with this certificate.
  static PublishResult publish(const test::TestAuthority& trusted,
                               const test::TestCertificate& certificate) {
    ScriptedReceiver server{script([](auto, const std::string& r) { return stored(r); }),
                            {.tls = test::tls_server(certificate)}};
    ClientOptions options = options_for(server);
    options.url = "https://127.0.0.1:" + std::to_string(server.port());
    options.ca_file = ca_file_of(trusted);
    const auto client = open(options);
    auto result = client->publish(event());
    while (client->state().failures == 0 && !client->flush(1ms)) {
    }
    client->close(0ms);
    return get(std::move(result));
  }

  test::TestAuthority authority_;
};

TEST_F(ClientTls, PublishesToAServerThatItTrusts) {
  EXPECT_EQ(publish(authority_, authority_.issue({})).status, PublishStatus::stored);
}

TEST_F(ClientTls, SendsNothingToAServerThatItDoesNotTrust) {
  const test::TestAuthority stranger{"Other Authority"};
  const PublishResult result = publish(authority_, stranger.issue({}));
  EXPECT_EQ(result.status, PublishStatus::unconfirmed);
  EXPECT_NE(result.message.find("The certificate of 127.0.0.1 is not trusted: "), std::string::npos)
      << result.message;
}

TEST_F(ClientTls, SendsNothingToAnotherHostOrWithAnExpiredCertificate) {
  EXPECT_EQ(publish(authority_, authority_.issue({.alternative_names = "DNS:other.test"})).status,
            PublishStatus::unconfirmed);
  EXPECT_EQ(publish(authority_, authority_.issue({.valid_from = -48h, .valid_until = -24h})).status,
            PublishStatus::unconfirmed);
}

TEST_F(ClientTls, CannotBeOpenedWithoutItsAuthorities) {
  ClientOptions options;
  options.url = "https://127.0.0.1";
  options.api_key = "pk_1";
  options.ca_file = "/nonexistent.pem";
  const OpenedClient opened = Client::open(options);
  EXPECT_FALSE(opened.client);
  EXPECT_NE(opened.problem.find("/nonexistent.pem"), std::string::npos) << opened.problem;
}

TEST(Client, CannotBeOpenedWithInvalidOptions) {
  const OpenedClient opened = Client::open({});
  EXPECT_FALSE(opened.client);
  EXPECT_NE(opened.problem, "");
}

}  // namespace
}  // namespace postrider
