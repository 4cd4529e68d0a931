// The state and the thread of a client. Decides nothing about batches, repeats and pauses: that is
// in send_queue.h, batch_answer.h and backoff.h.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <postrider/client.h>

#include "core/base/random.h"

#include "client/connection.h"
#include "client/send_queue.h"
#include "client/settings.h"

namespace postrider {

class Client::Worker {
 public:
  struct Parts {
    client::ClientSettings settings;
    client::TlsContext tls;  // Null without TLS.
    std::string key_prefix;  // Of generated keys; unique to this client.
    SplitMix64 random{0};    // Spreads the retries.
  };

  explicit Worker(Parts parts);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Call once, before all others. Fails with unavailable if the system has no thread or descriptor
  /// left.
  [[nodiscard]] Result<void> start();

  std::future<PublishResult> publish(const NewEvent& event, Millis wait_max);
  bool flush(Millis timeout);
  bool close(Millis timeout);
  [[nodiscard]] ClientState state() const;

 private:
  /// An event without a result.
  struct Waiting {
    std::promise<PublishResult> promise;
    std::string key;
  };
  using Lock = std::unique_lock<std::mutex>;

  /// Returns `stored` if the event may be added, otherwise the reason why not.
  PublishStatus wait_for_room(Lock& lock, std::size_t bytes, Millis wait_max);
  bool wait_for_results(Lock& lock, std::uint64_t last_ticket, Millis timeout);
  void run();
  void send(Lock& lock, client::Batch batch);
  void apply(client::Batch batch, client::BatchVerdict verdict);
  void apply_each(client::Batch batch, std::vector<client::EventVerdict> verdicts);
  void resolve(std::uint64_t ticket, PublishResult result);
  void abandon_rest();

  Parts parts_;
  client::Interrupter interrupter_;
  client::Connection connection_;  // The thread's own.
  std::atomic<std::uint64_t> keys_generated_{0};

  mutable std::mutex mutex_;         // Guards everything below.
  std::condition_variable work_;     // For the thread: something to send, or to stop.
  std::condition_variable settled_;  // For callers: events have results, or the client is closed.
  client::SendQueue queue_;
  std::map<std::uint64_t, Waiting> waiting_;  // By ticket, which grow.
  std::uint64_t last_ticket_ = 0;
  std::uint32_t failures_in_a_row_ = 0;
  std::uint32_t flushing_ = 0;  // Calls.
  bool closing_ = false;        // Nothing more is accepted.
  bool stopping_ = false;       // Nothing more is sent.
  bool abandoned_ = false;      // Events had no result when the client was closed.
  ClientState state_;

  std::mutex close_mutex_;  // Guards the thread. Locked before the other one.
  std::thread thread_;
};

}  // namespace postrider
