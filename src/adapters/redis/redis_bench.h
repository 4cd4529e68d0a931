// Tests of the Redis source run on a real server, which is shared by all tests of a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/secret.h"
#include "ports/event_source.h"

#include "adapters/redis/connection.h"
#include "adapters/redis/redis_source.h"

#include "tests/contract/source_contract.h"
#include "tests/support/server_process.h"

namespace postrider::redis {

/// A redis-server in a directory of its own. Restarted if a test stopped it.
test::ServerProcess& redis_server();

/// A stream of its own.
class RedisBench final : public test::SourceBench {
 public:
  RedisBench();

  void add(const std::vector<std::string>& keys) override;
  std::unique_ptr<EventSource> make_source() override { return make_source("node-a"); }
  std::string key_of(const SourceRecord& record) override;
  std::vector<test::KeptMessage> rejected() override;
  void stop_server() override { redis_server().command("stop"); }
  void start_server() override { redis_server().command("start"); }

  [[nodiscard]] std::unique_ptr<EventSource> make_source(std::string consumer) const;
  /// Runs a command on a connection of its own.
  static Reply run(const Command& command);

  RedisOptions options;
};

}  // namespace postrider::redis
