#include "adapters/redis/connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "core/base/assert.h"

#include "adapters/redis/failure_text.h"

namespace postrider::redis {
namespace {

void append_command(std::string& bytes, const Command& command) {
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  words.reserve(command.size());
  sizes.reserve(command.size());
  for (const std::string_view word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* formatted = nullptr;
  const int size = redisFormatCommandArgv(&formatted, static_cast<int>(command.size()),
                                          words.data(), sizes.data());
  POSTRIDER_ASSERT(size > 0);
  bytes.append(formatted, static_cast<std::size_t>(size));
  redisFreeCommand(formatted);
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const RedisAddress& address,
                                                     const std::string& ca_file) {
  Timer deadline;
  deadline.start(answer_wait_max);
  POSTRIDER_TRY(ByteStream stream, ByteStream::connect(address.host, address.port, deadline));
  std::unique_ptr<Connection> made{new Connection{std::move(stream)}};
  if (address.tls) {
    POSTRIDER_TRY(made->tls_, TlsSession::start(made->stream_, address.host, ca_file, deadline));
  }
  POSTRIDER_CHECK(made->log_in(address));
  return made;
}

Result<void> Connection::log_in(const RedisAddress& address) {
  const std::string& password = address.password.reveal();
  const std::string database = fmt::format("{}", address.database);
  std::vector<Command> commands;
  if (!password.empty()) {
    commands.push_back(address.user.empty() ? Command{"AUTH", password}
                                            : Command{"AUTH", address.user, password});
  }
  if (address.database != 0) {
    commands.push_back({"SELECT", database});
  }
  POSTRIDER_TRY(std::vector<Reply> replies, run_all(commands));
  for (Reply& reply : replies) {
    POSTRIDER_CHECK(expect_success(std::move(reply), ""));
  }
  return {};
}

Result<void> Connection::send(const std::vector<Command>& commands) {
  std::string bytes;
  for (const Command& command : commands) {
    append_command(bytes, command);
  }
  return tls_ ? tls_->write(bytes, deadline_) : stream_.write(bytes, deadline_);
}

Result<std::optional<Reply>> Connection::read_reply(const Signal* interrupt) {
  while (true) {
    POSTRIDER_TRY(std::optional<Reply> reply, replies_.next());
    if (reply) {
      return reply;
    }
    if (replies_.is_overflowing()) {
      return fail(Errc::unavailable, "A value in Redis is too large to be read.");
    }
    const WaitLimits limits{deadline_, interrupt};
    POSTRIDER_TRY(const std::size_t count,
                  tls_ ? tls_->read(chunk_.data(), chunk_.size(), limits)
                       : stream_.read(chunk_.data(), chunk_.size(), limits));
    if (count == 0) {
      return std::nullopt;
    }
    deadline_.start(answer_wait_max);
    POSTRIDER_CHECK(replies_.feed({chunk_.data(), count}));
  }
}

Result<std::vector<Reply>> Connection::exchange(const std::vector<Command>& commands) {
  POSTRIDER_CHECK(send(commands));
  std::vector<Reply> replies;
  for (std::size_t index = 0; index < commands.size(); ++index) {
    POSTRIDER_TRY(std::optional<Reply> reply, read_reply(nullptr));
    replies.push_back(*std::move(reply));
  }
  return replies;
}

Result<std::vector<Reply>> Connection::run_all(const std::vector<Command>& commands) {
  deadline_.start(answer_wait_max);
  Result<std::vector<Reply>> replies = exchange(commands);
  is_usable_ = replies.has_value();
  return replies;
}

Result<Reply> Connection::run(const Command& command) {
  POSTRIDER_TRY(std::vector<Reply> replies, run_all({command}));
  return std::move(replies.front());
}

Result<std::optional<Reply>> Connection::run_blocking(const Command& command, Millis wait,
                                                      const Signal& interrupt) {
  deadline_.start(wait + answer_wait_max);
  is_usable_ = false;
  POSTRIDER_CHECK(send({command}));
  Result<std::optional<Reply>> reply = read_reply(&interrupt);
  is_usable_ = reply && reply->has_value();
  return reply;
}

}  // namespace postrider::redis
