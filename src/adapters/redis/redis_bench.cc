#include "adapters/redis/redis_bench.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/redis/stream_entries.h"

namespace postrider::redis {
namespace {

std::string value_of(const StreamEntry& entry, std::string_view name) {
  const auto found =
      std::ranges::find(*entry.fields, name, &std::pair<std::string, std::string>::first);
  return found == entry.fields->end() ? std::string{} : found->second;
}

}  // namespace

test::ServerProcess& redis_server() {
  static test::ServerProcess server{"redis_server"};
  return server;
}

RedisBench::RedisBench() {
  static int benches = 0;
  options.address = Secret{redis_server().member("address")};
  options.stream = fmt::format("events-{}", ++benches);
  options.group = "group";
  options.parking_stream = options.stream + ".rejected";
}

Reply RedisBench::run(const Command& command) {
  const Result<RedisAddress> address = parse_redis_address(redis_server().member("address"));
  const Result<std::unique_ptr<Connection>> connection = Connection::open(*address, "");
  EXPECT_TRUE(connection) << connection.error().message;
  const Result<Reply> reply = (*connection)->run(command);
  EXPECT_TRUE(reply);
  EXPECT_FALSE(reply->is_error()) << reply->text;
  return *reply;
}

void RedisBench::add(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    run({"XADD", options.stream, "*", "id", key, "type", "a.b", "data", "{}"});
  }
}

std::string RedisBench::key_of(const SourceRecord& record) {
  const auto found = std::ranges::find(record.fields, "id", &SourceField::name);
  return found == record.fields.end() ? std::string{} : found->value;
}

std::vector<test::KeptMessage> RedisBench::rejected() {
  std::vector<test::KeptMessage> kept;
  for (const StreamEntry& entry :
       read_entries(run({"XRANGE", options.parking_stream, "-", "+"})).entries) {
    kept.push_back({value_of(entry, "id"), value_of(entry, "rejected_reason")});
  }
  return kept;
}

std::unique_ptr<EventSource> RedisBench::make_source(std::string consumer) const {
  RedisOptions made = options;
  made.consumer = std::move(consumer);
  return make_redis_source(made);
}

}  // namespace postrider::redis
