#include "tests/contract/source_contract.h"

#include <algorithm>
#include <future>
#include <utility>

namespace postrider::test {
namespace {

// Long enough for a loaded machine. A source that works needs far less.
constexpr Millis patience{30'000};
constexpr Millis moment{200};
constexpr int attempts_max = 300;

Uuid some_uuid() { return UuidGenerator{7}.next(wall_from_unix_ms(1'800'000'000'000)); }

std::string error_of(const auto& result) {
  return result.has_value() ? std::string{} : result.error().message;
}

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t index = 0; index < count; ++index) {
    keys.push_back("key-" + std::to_string(index));
  }
  return keys;
}

}  // namespace

RecordOutcome SourceContract::stored() {
  return RecordStored{.event_id = EventId{some_uuid()}, .duplicate = false};
}

RecordOutcome SourceContract::rejected(std::string reason) {
  return RecordRejected{std::move(reason)};
}

void SourceContract::restart() {
  source_ = nullptr;
  source_ = bench_->make_source();
  connect_again();
}

void SourceContract::connect_again() {
  const Result<void> connected = source_->connect();
  ASSERT_TRUE(connected.has_value()) << error_of(connected);
}

std::vector<SourceRecord> SourceContract::receive(std::size_t count, std::size_t records_max) {
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    Result<std::vector<SourceRecord>> records =
        source_->receive({.records_max = records_max, .wait_max = Millis{1'000}});
    EXPECT_TRUE(records.has_value()) << error_of(records);
    if (!records || records->size() >= count) {
      return records.value_or(std::vector<SourceRecord>{});
    }
    if (!records->empty()) {
      // Only a part has arrived. Take all of them again.
      settle(*records, RecordDeferred{});
    }
  }
  ADD_FAILURE() << "fewer than " << count << " messages were offered";
  return {};
}

void SourceContract::expect_none() {
  const Result<std::vector<SourceRecord>> records =
      source_->receive({.records_max = 500, .wait_max = moment});
  ASSERT_TRUE(records.has_value()) << error_of(records);
  EXPECT_EQ(keys_of(*records), Keys{});
}

void SourceContract::settle(const std::vector<SourceRecord>& records,
                            const RecordOutcome& outcome) {
  std::vector<SettledRecord> settled;
  for (const SourceRecord& record : records) {
    settled.push_back({record.receipt, outcome});
  }
  const Result<void> known = source_->settle(settled);
  ASSERT_TRUE(known.has_value()) << error_of(known);
}

SourceContract::Keys SourceContract::drain(std::size_t count) {
  Keys keys;
  for (int attempt = 0; keys.size() < count && attempt < attempts_max; ++attempt) {
    const Result<std::vector<SourceRecord>> records =
        source_->receive({.records_max = 500, .wait_max = Millis{1'000}});
    EXPECT_TRUE(records.has_value()) << error_of(records);
    if (!records) {
      break;
    }
    if (!records->empty()) {
      settle(*records, stored());
    }
    std::ranges::copy(keys_of(*records), std::back_inserter(keys));
  }
  return keys;
}

SourceContract::Keys SourceContract::keys_of(const std::vector<SourceRecord>& records) {
  Keys keys;
  for (const SourceRecord& record : records) {
    keys.push_back(bench_->key_of(record));
  }
  return keys;
}

TEST_P(SourceContract, AnEmptySourceOffersNothing) {
  expect_none();
  EXPECT_TRUE(source_->receive({.records_max = 1, .wait_max = Millis{0}}).has_value());
  EXPECT_FALSE(source_->is_standby());
  EXPECT_TRUE(bench_->rejected().empty());
}

TEST_P(SourceContract, MessagesAreOfferedInTheirOrder) {
  const Keys keys = numbered(50);
  bench_->add(keys);
  EXPECT_EQ(drain(keys.size()), keys);
  expect_none();
}

TEST_P(SourceContract, MessagesAddedLaterAreOffered) {
  bench_->add({"a"});
  EXPECT_EQ(drain(1), Keys{"a"});
  bench_->add({"b", "c"});
  EXPECT_EQ(drain(2), (Keys{"b", "c"}));
}

TEST_P(SourceContract, AMessageCanBeAddedWhileReceiveWaits) {
  std::future<Result<std::vector<SourceRecord>>> waiting = std::async(std::launch::async, [this] {
    return source_->receive({.records_max = 10, .wait_max = patience});
  });
  bench_->add({"a"});
  const Result<std::vector<SourceRecord>> records = waiting.get();
  ASSERT_TRUE(records.has_value()) << error_of(records);
  EXPECT_EQ(keys_of(*records), Keys{"a"});
}

TEST_P(SourceContract, ABatchHasAtMostTheRequestedNumber) {
  bench_->add(numbered(5));
  const std::vector<SourceRecord> first = receive(2, 2);
  EXPECT_EQ(keys_of(first), (Keys{"key-0", "key-1"}));
  EXPECT_NE(first[0].receipt, first[1].receipt);
  settle(first, stored());
  EXPECT_EQ(drain(3), (Keys{"key-2", "key-3", "key-4"}));
}

TEST_P(SourceContract, AStoredMessageIsNotOfferedAgain) {
  bench_->add({"a", "b"});
  EXPECT_EQ(drain(2), (Keys{"a", "b"}));
  expect_none();
  restart();
  expect_none();
}

TEST_P(SourceContract, AMessageThatIsNotSettledIsOfferedAgainAfterConnecting) {
  bench_->add({"a", "b"});
  EXPECT_EQ(keys_of(receive(2)), (Keys{"a", "b"}));
  connect_again();
  EXPECT_EQ(keys_of(receive(2)), (Keys{"a", "b"}));
  restart();
  EXPECT_EQ(drain(2), (Keys{"a", "b"}));
  expect_none();
}

TEST_P(SourceContract, OnlyTheMessagesThatAreNotSettledAreOfferedAgain) {
  bench_->add({"a", "b"});
  settle(receive(1, 1), stored());
  EXPECT_EQ(keys_of(receive(1, 1)), Keys{"b"});
  restart();
  EXPECT_EQ(drain(1), Keys{"b"});
  expect_none();
}

TEST_P(SourceContract, ADeferredMessageIsOfferedAgain) {
  bench_->add({"a", "b", "c"});
  std::vector<SourceRecord> records = receive(3);
  ASSERT_EQ(keys_of(records), (Keys{"a", "b", "c"}));
  const Result<void> known = source_->settle({{records[0].receipt, stored()},
                                              {records[1].receipt, RecordDeferred{}},
                                              {records[2].receipt, RecordDeferred{}}});
  ASSERT_TRUE(known.has_value()) << error_of(known);
  EXPECT_EQ(drain(2), (Keys{"b", "c"}));
  expect_none();
}

TEST_P(SourceContract, AMessageStoredBehindADeferredOneIsNotLost) {
  bench_->add({"a", "b", "c"});
  std::vector<SourceRecord> records = receive(3);
  ASSERT_EQ(records.size(), 3u);
  const Result<void> known = source_->settle({{records[0].receipt, RecordDeferred{}},
                                              {records[1].receipt, stored()},
                                              {records[2].receipt, RecordDeferred{}}});
  ASSERT_TRUE(known.has_value()) << error_of(known);
  // A source that keeps a position offers the stored message again. Its key makes it a duplicate.
  Keys again = drain(2);
  if (std::ranges::find(again, "b") != again.end() && again.size() < 3) {
    std::ranges::copy(drain(1), std::back_inserter(again));
  }
  std::erase(again, "b");
  EXPECT_EQ(again, (Keys{"a", "c"}));
  expect_none();
}

TEST_P(SourceContract, AllMessagesCanBeDeferredManyTimes) {
  bench_->add({"a", "b"});
  for (int round = 0; round < 5; ++round) {
    const std::vector<SourceRecord> records = receive(2);
    EXPECT_EQ(keys_of(records), (Keys{"a", "b"}));
    settle(records, RecordDeferred{});
  }
  EXPECT_EQ(drain(2), (Keys{"a", "b"}));
}

TEST_P(SourceContract, ARejectedMessageIsKeptWithItsReasonAndNotOfferedAgain) {
  bench_->add({"a", "b", "c"});
  std::vector<SourceRecord> records = receive(3);
  ASSERT_EQ(records.size(), 3u);
  const std::string reason = "The field `data` is \"not\" JSON; it's\n\\odd: \xC3\xA4.";
  const Result<void> known = source_->settle({{records[0].receipt, stored()},
                                              {records[1].receipt, rejected(reason)},
                                              {records[2].receipt, stored()}});
  ASSERT_TRUE(known.has_value()) << error_of(known);
  expect_none();
  restart();
  expect_none();
  EXPECT_EQ(bench_->rejected(), (std::vector<KeptMessage>{{"b", reason}}));
}

TEST_P(SourceContract, AllMessagesOfABatchCanBeRejected) {
  bench_->add({"a", "b"});
  settle(receive(2), rejected("No."));
  expect_none();
  EXPECT_EQ(bench_->rejected().size(), 2u);
}

TEST_P(SourceContract, InterruptEndsAWaitingReceive) {
  std::future<Result<std::vector<SourceRecord>>> waiting = std::async(std::launch::async, [this] {
    return source_->receive({.records_max = 10, .wait_max = 10 * patience});
  });
  source_->interrupt();
  const Result<std::vector<SourceRecord>> records = waiting.get();
  ASSERT_TRUE(records.has_value()) << error_of(records);
  EXPECT_TRUE(records->empty());
  bench_->add({"a"});
  EXPECT_EQ(drain(1), Keys{"a"});
}

TEST_P(SourceContract, InterruptEndsTheNextReceive) {
  source_->interrupt();
  source_->interrupt();
  const auto records = source_->receive({.records_max = 10, .wait_max = 10 * patience});
  ASSERT_TRUE(records.has_value()) << error_of(records);
  EXPECT_TRUE(records->empty());
  bench_->add({"a"});
  EXPECT_EQ(drain(1), Keys{"a"});
}

TEST_P(SourceContract, LagCountsWhatWasNotReceived) {
  const auto lag_becomes = [this](std::uint64_t expected) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      const Result<SourceLag> lag = source_->lag();
      EXPECT_TRUE(lag.has_value()) << error_of(lag);
      if (!lag || lag->messages.value_or(expected) == expected) {
        return lag.has_value();
      }
    }
    return false;
  };
  EXPECT_TRUE(lag_becomes(0));
  bench_->add(numbered(3));
  EXPECT_TRUE(lag_becomes(3));
  EXPECT_EQ(drain(3).size(), 3u);
  EXPECT_TRUE(lag_becomes(0));
}

TEST_P(SourceContract, AServerThatIsAwayIsUnavailableAndConnectWorksLater) {
  bench_->add({"a", "b"});
  settle(receive(1, 1), stored());
  const std::vector<SourceRecord> received = receive(1, 1);
  bench_->stop_server();
  const Result<void> settled = source_->settle({{received.front().receipt, stored()}});
  ASSERT_FALSE(settled.has_value());
  EXPECT_EQ(settled.error().code, Errc::unavailable);
  EXPECT_FALSE(settled.error().message.empty());
  const Result<void> connected = source_->connect();
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Errc::unavailable);
  const auto records = source_->receive({.records_max = 1, .wait_max = Millis{100}});
  ASSERT_FALSE(records.has_value());
  EXPECT_EQ(records.error().code, Errc::unavailable);

  bench_->start_server();
  connect_again();
  EXPECT_EQ(drain(1), Keys{"b"});
  expect_none();
}

TEST_P(SourceContract, AServerThatIsAwayAtStartIsUnavailable) {
  bench_->add({"a"});
  bench_->stop_server();
  source_ = nullptr;
  source_ = bench_->make_source();
  const Result<void> connected = source_->connect();
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Errc::unavailable);
  bench_->start_server();
  connect_again();
  EXPECT_EQ(drain(1), Keys{"a"});
}

}  // namespace postrider::test
