// Requests to one server, over a connection that is kept open. Owned by one thread.
#pragma once

#include <memory>
#include <string_view>

#include "client/batch_answer.h"
#include "client/stream.h"

namespace postrider::client {

class Connection {
 public:
  /// `interrupter` must outlive this object.
  Connection(TargetUrl server, TlsContext tls, const Interrupter& interrupter)
      : server_(std::move(server)), tls_(std::move(tls)), interrupter_(interrupter) {}

  /// Sends a request, which must be safe to repeat, and waits for the answer. Uses a new connection
  /// if the server has closed the one that was kept. Fails with unavailable.
  [[nodiscard]] Result<HttpAnswer> exchange(std::string_view request, Millis timeout);

 private:
  struct Attempt {
    Result<HttpAnswer> answer;
    bool answer_started = false;
  };
  Attempt attempt(std::string_view request, MonoTime deadline);

  TargetUrl server_;
  TlsContext tls_;
  const Interrupter& interrupter_;
  std::unique_ptr<Stream> stream_;  // Null: not connected.
};

}  // namespace postrider::client
