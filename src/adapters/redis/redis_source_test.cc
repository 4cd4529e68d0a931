#include "adapters/redis/redis_source.h"

#include <thread>

#include <gtest/gtest.h>

#include "adapters/redis/redis_bench.h"

#include "tests/contract/source_contract.h"

namespace postrider::test {

POSTRIDER_SOURCE_CONTRACT(Redis, SourceBenchFactory{"redis", [] {
                                                      return std::make_unique<redis::RedisBench>();
                                                    }});

}  // namespace postrider::test

namespace postrider::redis {
namespace {

using Records = std::vector<SourceRecord>;

constexpr std::size_t mebibyte = 1024 * 1024;

class RedisSourceTest : public testing::Test {
 protected:
  std::unique_ptr<EventSource> connect(std::string consumer = "node-a") {
    std::unique_ptr<EventSource> source = bench_.make_source(std::move(consumer));
    const Result<void> connected = source->connect();
    EXPECT_TRUE(connected) << connected.error().message;
    return source;
  }

  /// The next batch that is not empty.
  static Records receive(EventSource& source, std::size_t records_max = 500) {
    for (int attempt = 0; attempt < 300; ++attempt) {
      Result<Records> records = source.receive({records_max, Millis{100}});
      EXPECT_TRUE(records) << records.error().message;
      if (!records || !records->empty()) {
        return records.value_or(Records{});
      }
    }
    ADD_FAILURE() << "no entry was offered";
    return {};
  }

  static void settle(EventSource& source, const Records& records, const RecordOutcome& outcome) {
    std::vector<SettledRecord> settled;
    for (const SourceRecord& record : records) {
      settled.push_back({record.receipt, outcome});
    }
    const Result<void> known = source.settle(settled);
    EXPECT_TRUE(known) << known.error().message;
  }

  static void expect_none(EventSource& source) {
    const Result<Records> records = source.receive({500, Millis{50}});
    ASSERT_TRUE(records) << records.error().message;
    EXPECT_TRUE(records->empty());
  }

  [[nodiscard]] std::int64_t length(std::string_view stream) const {
    return RedisBench::run({"XLEN", stream}).integer;
  }
  [[nodiscard]] std::int64_t pending() const {
    return RedisBench::run({"XPENDING", bench_.options.stream, "group"}).items[0].integer;
  }
  std::string failure_to_connect() {
    const Result<void> connected = bench_.make_source()->connect();
    EXPECT_FALSE(connected);
    return connected ? "" : connected.error().message;
  }

  RedisBench bench_;
  const RecordOutcome stored_ = RecordStored{};
};

TEST_F(RedisSourceTest, TheIdOfAnEntryIsAField) {
  const auto source = connect();
  bench_.add({"a"});
  const Records records = receive(*source);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].fields[0], (SourceField{"entry_id", records[0].receipt}));
}

TEST_F(RedisSourceTest, EntriesAddedBeforeTheGroupExistsAreRead) {
  bench_.add({"a"});
  EXPECT_EQ(receive(*connect()).size(), 1u);
}

TEST_F(RedisSourceTest, EntriesOfAConsumerThatDiedAreTakenOver) {
  bench_.options.claim_after = Millis{0};
  bench_.add({"a", "b", "c"});
  {
    const auto died = connect("node-b");
    EXPECT_EQ(receive(*died, 2).size(), 2u);
  }
  const auto source = connect("node-a");
  std::size_t total = 0;
  while (total < 3) {
    const Records records = receive(*source);
    ASSERT_FALSE(records.empty());
    total += records.size();
    settle(*source, records, stored_);
  }
  EXPECT_EQ(pending(), 0);
}

TEST_F(RedisSourceTest, EntriesOfALiveConsumerAreNotTakenOver) {
  bench_.options.claim_after = Millis{600'000};
  bench_.add({"a"});
  const auto live = connect("node-b");
  EXPECT_EQ(receive(*live).size(), 1u);
  expect_none(*connect("node-a"));
}

TEST_F(RedisSourceTest, EntriesDeletedWhileTheyArePendingAreRejected) {
  bench_.options.claim_after = Millis{0};
  bench_.add({"a", "b"});
  {
    const auto died = connect("node-b");
    const Records records = receive(*died);
    ASSERT_EQ(records.size(), 2u);
    RedisBench::run({"XDEL", bench_.options.stream, records[0].receipt});
    // Its own pending entries, as after a restart.
    ASSERT_TRUE(died->connect());
    const Records own = receive(*died);
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].receipt, records[0].receipt);
    EXPECT_EQ(own[0].problem, "The entry was deleted from the stream before it was read.");
    EXPECT_FALSE(own[1].problem);
  }
  const auto source = connect("node-a");
  const Records claimed = receive(*source);
  ASSERT_EQ(claimed.size(), 2u);
  EXPECT_FALSE(claimed[0].problem);
  EXPECT_TRUE(claimed[1].problem);
  settle(*source, {claimed[1]}, RecordRejected{*claimed[1].problem});
  settle(*source, {claimed[0]}, stored_);
  EXPECT_EQ(pending(), 0);
  EXPECT_EQ(length(bench_.options.parking_stream), 1);
}

TEST_F(RedisSourceTest, ARejectedEntryIsParkedWithReasonIdAndFields) {
  const auto source = connect();
  const std::string binary{"\0\xff\r\n", 4};
  RedisBench::run({"XADD", bench_.options.stream, "5-1", binary, binary, "x", ""});
  settle(*source, receive(*source), RecordRejected{"It is bad."});
  const Reply parked = RedisBench::run({"XRANGE", bench_.options.parking_stream, "-", "+"});
  ASSERT_EQ(parked.items.size(), 1u);
  std::vector<std::string> fields;
  for (const Reply& item : parked.items[0].items[1].items) {
    fields.push_back(item.text);
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"rejected_reason", "It is bad.", "rejected_id", "5-1",
                                              binary, binary, "x", ""}));
  EXPECT_EQ(pending(), 0);
  EXPECT_EQ(length(bench_.options.stream), 1);
}

TEST_F(RedisSourceTest, AnEntryIsNotAcknowledgedIfItCannotBeParked) {
  const auto source = connect();
  bench_.add({"a"});
  RedisBench::run({"SET", bench_.options.parking_stream, "not a stream"});
  const Records records = receive(*source);
  const Result<void> settled = source->settle({{records[0].receipt, RecordRejected{"Bad."}}});
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().message,
            "The key `" + bench_.options.parking_stream + "` of Redis is not a stream.");
  EXPECT_EQ(pending(), 1);
}

TEST_F(RedisSourceTest, TheGroupIsCreatedAgainAfterRedisHasLostItsData) {
  const auto source = connect();
  bench_.add({"a"});
  settle(*source, receive(*source), stored_);
  // Without a new connection.
  RedisBench::run({"DEL", bench_.options.stream});
  bench_.add({"b"});
  settle(*source, receive(*source), stored_);
  RedisBench::run({"XGROUP", "DESTROY", bench_.options.stream, "group"});
  EXPECT_EQ(receive(*source).size(), 1u);  // From the start: the key removes the duplicate.
  // With one.
  redis_server().command("lose");
  EXPECT_FALSE(source->receive({1, Millis{0}}));
  ASSERT_TRUE(source->connect());
  bench_.add({"c"});
  EXPECT_EQ(receive(*source).size(), 1u);
}

TEST_F(RedisSourceTest, AStreamThatIsDeletedDuringAReadIsCreatedAgain) {
  const auto source = connect();
  std::thread deleting{[this] {
    // Waits until the read blocks.
    while (RedisBench::run({"INFO", "clients"}).text.find("blocked_clients:1") ==
           std::string::npos) {
    }
    RedisBench::run({"DEL", bench_.options.stream});
  }};
  const Result<Records> records = source->receive({500, Millis{20'000}});
  deleting.join();
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_TRUE(records->empty());
  bench_.add({"a"});
  EXPECT_EQ(receive(*source).size(), 1u);
}

TEST_F(RedisSourceTest, LargeEntriesArriveInBatchesOfBoundedSize) {
  const auto source = connect();
  const std::string large(mebibyte, 'x');
  for (int count = 0; count < 40; ++count) {
    RedisBench::run({"XADD", bench_.options.stream, "*", "data", large});
  }
  std::size_t total = 0;
  std::string last_id;
  for (int batch = 0; batch < 40 && total < 40; ++batch) {
    const Records records = receive(*source);
    EXPECT_LE(records.size(), 16u);
    for (const SourceRecord& record : records) {
      EXPECT_FALSE(record.problem);
      EXPECT_EQ(record.fields[1].value.size(), large.size());
      EXPECT_NE(record.receipt, last_id);
      last_id = record.receipt;
    }
    total += records.size();
    settle(*source, records, stored_);
  }
  EXPECT_EQ(total, 40u);
  EXPECT_EQ(pending(), 0);
}

TEST_F(RedisSourceTest, AnEntryThatIsTooLargeIsRejectedAndTheNextOnesAreRead) {
  const auto source = connect();
  const std::string value(9 * mebibyte, 'x');
  const std::string huge(20 * mebibyte, 'x');
  bench_.add({"a"});
  RedisBench::run({"XADD", bench_.options.stream, "*", "v", value, "w", value});
  RedisBench::run({"XADD", bench_.options.stream, "*", "v", huge});
  Command many{"XADD", bench_.options.stream, "*"};
  many.insert(many.end(), 600'000, "f");
  RedisBench::run(many);
  bench_.add({"b"});
  EXPECT_TRUE(source->lag());
  std::vector<std::string> problems;
  for (int batch = 0; batch < 10 && problems.size() < 5; ++batch) {
    for (const SourceRecord& record : receive(*source)) {
      problems.push_back(record.problem.value_or(bench_.key_of(record)));
      settle(*source, {record},
             record.problem ? RecordOutcome{RecordRejected{*record.problem}} : stored_);
    }
    EXPECT_TRUE(source->lag());
  }
  const std::string problem = "The entry needs more than 16 MiB of memory.";
  EXPECT_EQ(problems, (std::vector<std::string>{"a", problem, problem, problem, "b"}));
  EXPECT_EQ(pending(), 0);
  EXPECT_EQ(length(bench_.options.parking_stream), 3);
}

TEST_F(RedisSourceTest, ThousandsOfFieldsAreRead) {
  const auto source = connect();
  Command many{"XADD", bench_.options.stream, "*"};
  many.insert(many.end(), 20'000, "f");
  RedisBench::run(many);
  const Records records = receive(*source);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].fields.size(), 10'001u);
}

TEST_F(RedisSourceTest, TrimmingRemovesOnlyWhatEveryGroupHasAcknowledged) {
  bench_.options.trims = true;
  const auto source = connect();
  const std::string& stream = bench_.options.stream;
  bench_.add({"a", "b", "c", "d"});
  RedisBench::run({"XGROUP", "CREATE", stream, "other", "0"});
  const Reply other =
      RedisBench::run({"XREADGROUP", "GROUP", "other", "x", "COUNT", "3", "STREAMS", stream, ">"});
  settle(*source, receive(*source), stored_);

  const auto wait_for_length = [&](std::int64_t expected) {
    for (int attempt = 0; attempt < 300 && length(stream) != expected; ++attempt) {
      expect_none(*source);
      settle(*source, {}, stored_);
    }
    EXPECT_EQ(length(stream), expected);
  };
  const Reply& entries = other.items[0].items[1];
  RedisBench::run({"XACK", stream, "other", entries.items[0].items[0].text});
  wait_for_length(3);  // The second entry is pending in the other group.
  RedisBench::run(
      {"XACK", stream, "other", entries.items[1].items[0].text, entries.items[2].items[0].text});
  wait_for_length(2);  // The other group has not read the fourth.
}

TEST_F(RedisSourceTest, LagHasTheAgeOfTheOldestEntry) {
  const auto source = connect();
  EXPECT_FALSE(source->lag()->oldest_age);
  RedisBench::run({"XADD", bench_.options.stream, "1700000000000-0", "a", "b"});
  const Result<SourceLag> waiting = source->lag();
  EXPECT_EQ(waiting->messages, 1u);
  ASSERT_TRUE(waiting->oldest_age);
  EXPECT_GT(*waiting->oldest_age, Millis{3'600'000});
  const Records records = receive(*source);
  EXPECT_TRUE(source->lag()->oldest_age);  // It is received, but not stored.
  settle(*source, records, stored_);
  EXPECT_FALSE(source->lag()->oldest_age);
}

TEST_F(RedisSourceTest, TheDatabaseOfTheAddressIsUsed) {
  bench_.options.address = Secret{bench_.options.address.reveal() + "/3"};
  const auto source = connect();
  bench_.add({"a"});  // To database 0.
  expect_none(*source);
}

TEST_F(RedisSourceTest, TlsVerifiesAuthorityAndHostName) {
  const std::string address = redis_server().member("tls_address");
  bench_.options.address = Secret{address};
  bench_.options.ca_file = redis_server().member("ca_file");
  const auto source = connect();
  bench_.add({"a"});
  const std::string large(5 * mebibyte, 'x');  // More than one record of TLS.
  RedisBench::run({"XADD", bench_.options.stream, "*", "data", large});
  std::size_t total = 0;
  while (total < 2) {
    const Records records = receive(*source);
    ASSERT_FALSE(records.empty());
    total += records.size();
    settle(*source, records, RecordRejected{"Bad."});
  }
  EXPECT_EQ(bench_.rejected().size(), 2u);

  bench_.options.ca_file = "";
  EXPECT_TRUE(failure_to_connect().starts_with("The TLS certificate of Redis was rejected: "));
  bench_.options.ca_file = redis_server().member("ca_file") + ".missing";
  EXPECT_TRUE(failure_to_connect().ends_with("No such file or directory."));
  bench_.options.ca_file = redis_server().member("ca_file");
  const std::size_t host = address.find("127.0.0.1");
  bench_.options.address = Secret{std::string{address}.replace(host, 9, "127.0.0.2")};
  EXPECT_EQ(failure_to_connect(),
            "The TLS certificate of Redis was rejected: IP address mismatch.");
}

TEST_F(RedisSourceTest, InterruptWorksOverTls) {
  bench_.options.address = Secret{redis_server().member("tls_address")};
  bench_.options.ca_file = redis_server().member("ca_file");
  const auto source = connect();
  std::thread interrupting{[&source] { source->interrupt(); }};
  const Result<Records> records = source->receive({1, Millis{60'000}});
  interrupting.join();
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_TRUE(records->empty());
  bench_.add({"a"});
  EXPECT_EQ(receive(*source).size(), 1u);
}

TEST_F(RedisSourceTest, APortWithTlsNeedsTls) {
  bench_.options.address = Secret{"redis" + redis_server().member("tls_address").substr(6)};
  EXPECT_NE(failure_to_connect(), "");
}

TEST_F(RedisSourceTest, UsersLogInAndWrongPasswordsAreNotShown) {
  const std::string host = bench_.options.address.reveal().substr(8);
  bench_.options.address = Secret{"redis://app:secret@" + host};
  EXPECT_NE(connect(), nullptr);
  bench_.options.address = Secret{"redis://app:wrongcanary@" + host};
  EXPECT_EQ(failure_to_connect(), "Redis rejected the user or password of the address.");
  bench_.options.address = Secret{"redis://:canary@" + host};
  EXPECT_EQ(failure_to_connect(),
            "Redis has no password for its default user, but the address has one. Remove it, or "
            "name the user.");
}

TEST_F(RedisSourceTest, WhatCannotServeIsNamed) {
  RedisBench::run({"SET", bench_.options.stream, "text"});
  EXPECT_EQ(failure_to_connect(),
            "The key `" + bench_.options.stream + "` of Redis is not a stream.");
  RedisBench::run({"DEL", bench_.options.stream});

  RedisBench::run({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(failure_to_connect(),
            "This Redis server is a read-only replica. Use the primary's address.");
  RedisBench::run({"REPLICAOF", "NO", "ONE"});

  RedisBench::run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(failure_to_connect(),
            "Redis has reached its memory limit (maxmemory) and refuses to write.");
  RedisBench::run({"CONFIG", "SET", "maxmemory", "0"});

  RedisBench::run({"ACL", "SETUSER", "weak", "on", ">secret", "~other", "+@all"});
  bench_.options.address =
      Secret{"redis://weak:secret@" + bench_.options.address.reveal().substr(8)};
  EXPECT_TRUE(failure_to_connect().starts_with("The Redis user lacks a permission for the key "));

  bench_.options.address = Secret{std::string{"redis://host.invalid"}};
  EXPECT_TRUE(failure_to_connect().starts_with("The host name `host.invalid` of Redis cannot be "));
  bench_.options.address = Secret{std::string{"redis://127.0.0.1:1"}};
  EXPECT_EQ(failure_to_connect(),
            "Could not connect to Redis at `127.0.0.1` port 1: Connection refused.");
  bench_.options.address = Secret{std::string{"redis://127.0.0.1:x"}};
  EXPECT_EQ(failure_to_connect(), "The port of the address is not a number from 1 to 65535.");
}

}  // namespace
}  // namespace postrider::redis
