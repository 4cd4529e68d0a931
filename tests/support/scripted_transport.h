// A Transport without sockets: receivers answer as the test has scripted.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "ports/transport.h"

namespace postrider::test {

/// All receivers of a test, by host name. Any thread.
class ScriptedReceivers {
 public:
  /// What `host` answers from now on. 200 if never set.
  void answer(const std::string& host, std::uint16_t status) {
    const std::lock_guard lock{mutex_};
    hosts_[host].status = status;
  }
  /// Requests to `host` get no answer until `release`.
  void hold(const std::string& host) {
    const std::lock_guard lock{mutex_};
    hosts_[host].held = true;
  }
  void release(const std::string& host) {
    std::vector<std::function<void()>> waiting;
    {
      const std::lock_guard lock{mutex_};
      hosts_[host].held = false;
      waiting = std::exchange(hosts_[host].waiting, {});
    }
    for (const std::function<void()>& run : waiting) {
      run();
    }
  }
  /// The requests that arrived at `host`, head and body.
  [[nodiscard]] std::vector<std::string> requests(const std::string& host) const {
    const std::lock_guard lock{mutex_};
    const auto found = hosts_.find(host);
    return found == hosts_.end() ? std::vector<std::string>{} : found->second.requests;
  }
  [[nodiscard]] std::size_t count(const std::string& host) const { return requests(host).size(); }

  // For ScriptedTransport.

  void arrive(const std::string& host, std::string bytes) {
    const std::lock_guard lock{mutex_};
    hosts_[host].requests.push_back(std::move(bytes));
  }
  /// Runs `run` at once, or when the host is released.
  void when_released(const std::string& host, std::function<void()> run) {
    {
      const std::lock_guard lock{mutex_};
      if (hosts_[host].held) {
        hosts_[host].waiting.push_back(std::move(run));
        return;
      }
    }
    run();
  }
  [[nodiscard]] Outcome outcome(const std::string& host) const {
    const std::lock_guard lock{mutex_};
    Outcome outcome;
    outcome.http_status = hosts_.at(host).status;
    return outcome;
  }

 private:
  struct Host {
    std::uint16_t status = 200;
    bool held = false;
    std::vector<std::string> requests;
    std::vector<std::function<void()>> waiting;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Host> hosts_;  // Guarded by mutex_.
};

/// One io thread.
class ScriptedTransport final : public Transport {
 public:
  ScriptedTransport(boost::asio::io_context& io, ScriptedReceivers& receivers)
      : io_(io), receivers_(receivers) {}

  void send(OutboundRequest request, std::function<void(Outcome)> done) override {
    const std::string host = request.url.authority();
    const std::uint64_t number = ++opened_;
    in_flight_->emplace(number, Request{request.group, std::move(done)});
    receivers_.arrive(host, std::move(request.bytes));
    if (stopped_) {
      boost::asio::post(io_, [this, number] { finish(number, lost()); });
      return;
    }
    // The receivers may outlive this object, so nothing here refers to it before it is looked up.
    receivers_.when_released(host, [this, alive = std::weak_ptr{in_flight_}, host, number] {
      if (!alive.expired()) {
        boost::asio::post(io_, [this, host, number] { finish(number, receivers_.outcome(host)); });
      }
    });
  }
  void change_addresses(AddressPolicy) override {}
  void end(std::uint16_t group) override {
    std::vector<std::uint64_t> ending;
    for (const auto& [number, request] : *in_flight_) {
      if (request.group == group) {
        ending.push_back(number);
      }
    }
    for (const std::uint64_t number : ending) {
      finish(number, lost());
    }
  }
  void stop() override {
    stopped_ = true;
    while (!in_flight_->empty()) {
      finish(in_flight_->begin()->first, lost());
    }
  }
  [[nodiscard]] TransportCounters counters() const override { return {.idle = 7}; }

 private:
  static Outcome lost() {
    Outcome outcome;
    outcome.failure = FailureCategory::network;
    return outcome;
  }
  void finish(std::uint64_t number, Outcome outcome) {
    const auto found = in_flight_->find(number);
    if (found != in_flight_->end()) {
      const std::function<void(Outcome)> done = std::move(found->second.done);
      in_flight_->erase(found);
      done(std::move(outcome));
    }
  }

  struct Request {
    std::uint16_t group = 0;
    std::function<void(Outcome)> done;
  };
  using InFlight = std::map<std::uint64_t, Request>;

  boost::asio::io_context& io_;
  ScriptedReceivers& receivers_;
  std::shared_ptr<InFlight> in_flight_ = std::make_shared<InFlight>();
  std::uint64_t opened_ = 0;
  bool stopped_ = false;
};

/// Waits until `condition` holds. False if that takes more than 20 seconds.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

}  // namespace postrider::test
