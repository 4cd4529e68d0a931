// One connection to a Redis server, logged in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

#include "adapters/redis/byte_stream.h"
#include "adapters/redis/redis_address.h"
#include "adapters/redis/reply.h"
#include "adapters/redis/tls_session.h"
#include "adapters/redis/wake_up.h"

namespace postrider::redis {

/// The name and arguments of a command. They must outlive the call.
using Command = std::vector<std::string_view>;

/// How long Redis may take to accept a connection, and to send the next bytes of an answer.
constexpr Millis answer_wait_max{5'000};

/// One thread. Errors: unavailable.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const RedisAddress& address,
                                                  const std::string& ca_file);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Sends the commands at once and returns a reply for each. Errors of Redis are replies.
  Result<std::vector<Reply>> run_all(const std::vector<Command>& commands);
  Result<Reply> run(const Command& command);

  /// For a command that blocks for `wait`. Returns nullopt if `interrupt` is set before the answer
  /// arrives. The connection cannot be used then, because the answer may still arrive.
  Result<std::optional<Reply>> run_blocking(const Command& command, Millis wait,
                                            const Signal& interrupt);

  /// false after a failure or an interruption. Then only `take_partial` may be called.
  [[nodiscard]] bool is_usable() const { return is_usable_; }
  /// A single value was too large, and the connection failed because of it.
  [[nodiscard]] bool has_overflowed() const { return replies_.is_overflowing(); }
  /// What had been read of the reply.
  [[nodiscard]] Reply take_partial() { return replies_.take_partial(); }

 private:
  explicit Connection(ByteStream stream) : stream_(std::move(stream)) {}

  Result<void> log_in(const RedisAddress& address);
  Result<void> send(const std::vector<Command>& commands);
  Result<std::vector<Reply>> exchange(const std::vector<Command>& commands);
  /// The wait for the first byte ends with the timer, which then starts again for each chunk.
  Result<std::optional<Reply>> read_reply(const Signal* interrupt);

  Timer deadline_;
  ByteStream stream_;
  std::unique_ptr<TlsSession> tls_;  // nullptr: plain.
  ReplyReader replies_;
  bool is_usable_ = true;
  std::vector<char> chunk_ = std::vector<char>(65'536);
};

}  // namespace postrider::redis
