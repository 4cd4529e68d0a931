// Publishes events to a Postrider server over HTTP or HTTPS. For C++17 and later.
//
//     postrider::ClientOptions options;
//     options.url = "https://postrider.example.com";
//     options.api_key = "pk_...";
//     auto [client, problem] = postrider::Client::open(options);
//     if (!client) { log problem; exit; }
//
//     postrider::NewEvent event;
//     event.type = "order.paid";
//     event.data = R"({"order": 7})";
//     std::future<postrider::PublishResult> result = client->publish(event);
//     ...
//     if (result.get().status != postrider::PublishStatus::stored) { log result.message; }
//
// Events wait in a bounded queue in memory; one thread of the client sends them in batches, in the
// order of `publish`. A request that fails because of the network or because the server is busy is
// repeated until it succeeds or the client is closed. Every event has an idempotency key, so a
// repeated request stores it once. Every event gets exactly one result.
//
// What is in the queue is lost if the process dies. An event that must be published exactly if a
// database transaction commits belongs into an outbox table (outbox.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include <postrider/new_event.h>

namespace postrider {

struct ClientOptions {
  std::string url;      // Of the server: `https://host`, optionally with a port and a path.
  std::string api_key;  // With the scope `publish`.
  /// PEM file of certificate authorities. Empty: those of the system.
  std::string ca_file;
  /// Allows `http://` to another machine. The API key can then be read on the network.
  bool allow_insecure = false;

  /// The queue, including the events that are being sent.
  std::size_t queue_events_max = 10'000;
  std::size_t queue_bytes_max = std::size_t{64} * 1024 * 1024;
  /// A batch is sent when it has this many events or bytes, or when its first event has waited for
  /// `batch_delay`. A server accepts up to 1,000 events and, by default, 1 MiB in a request.
  std::size_t batch_events_max = 500;
  std::size_t batch_bytes_max = std::size_t{512} * 1024;
  std::chrono::milliseconds batch_delay{5};

  std::chrono::milliseconds request_timeout{30'000};  // From connecting to the whole answer.
  /// The pause before a repeated request doubles from the first to the second value and is then
  /// shortened at random by up to a half. A `Retry-After` of the server is always waited for.
  std::chrono::milliseconds retry_delay_min{200};
  std::chrono::milliseconds retry_delay_max{30'000};
  std::chrono::milliseconds close_timeout{5'000};  // Used by the destructor.
};

enum class PublishStatus : std::uint8_t {
  stored,       ///< The event is on the server's disk.
  rejected,     ///< The event can never be stored as it is. See `code` and `message`.
  queue_full,   ///< Not accepted: the queue has no room. Publish it again later.
  closed,       ///< Not accepted: the client is closed.
  unconfirmed,  ///< The event may be stored or not. Publish it again with the same key.
};

struct PublishResult {
  PublishStatus status = PublishStatus::unconfirmed;
  std::string event_id;           // `evt_…`, if stored.
  bool duplicate = false;         // Stored before, with the same key.
  std::string idempotency_key;    // The one of the event, or the generated one.
  std::uint16_t http_status = 0;  // Of the server's answer for this event. 0: none.
  std::string code;               // Of the server's problem: `validation_failed`.
  std::string message;            // A sentence, unless stored.
};

/// For monitoring.
struct ClientState {
  std::size_t queued = 0;  // Events without a result, including those that are being sent.
  std::uint64_t stored = 0;
  std::uint64_t rejected = 0;
  std::uint64_t unconfirmed = 0;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;  // Requests that had to be repeated.
  std::string trouble;         // Why the last request failed. Empty: it was answered.
};

struct OpenedClient;

/// Any thread may call any function. Do not use it in a child process after fork().
class Client {
 private:
  class Worker;

 public:
  /// Checks the options and starts the client's thread. Does not connect yet.
  [[nodiscard]] static OpenedClient open(const ClientOptions& options);

  /// For `open`.
  explicit Client(std::unique_ptr<Worker> worker);
  /// Closes the client with `close_timeout`.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Puts the event into the queue. If there is no room, waits for room for up to `wait_max`.
  /// The future never has an exception, and its destruction does not wait.
  [[nodiscard]] std::future<PublishResult> publish(
      const NewEvent& event, std::chrono::milliseconds wait_max = std::chrono::milliseconds{0});

  /// Sends everything that was published before without waiting for full batches. Returns true
  /// once all of it has its results, false if the time is over.
  [[nodiscard]] bool flush(std::chrono::milliseconds timeout);

  /// Accepts nothing more, then flushes. Events that have no result in time become `unconfirmed`.
  /// Returns true if there are none. The name resolution of the system may take longer.
  bool close(std::chrono::milliseconds timeout);

  [[nodiscard]] ClientState state() const;

 private:
  std::unique_ptr<Worker> worker_;
};

struct OpenedClient {
  std::unique_ptr<Client> client;  // Null if the options are not valid.
  std::string problem;             // A sentence, if the client is null.
};

}  // namespace postrider
