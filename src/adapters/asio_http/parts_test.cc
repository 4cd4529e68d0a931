// The pure parts of the transport: deadline wheel, DNS cache, order of addresses.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/asio_http/address_plan.h"
#include "adapters/asio_http/deadline_wheel.h"
#include "adapters/asio_http/dns_cache.h"

namespace postrider::asio_http {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{std::chrono::hours{5}};

struct Alarm final : DeadlineEntry {
  void on_deadline() override {
    ++fired;
    if (then) {
      then();
    }
  }
  int fired = 0;
  std::function<void()> then;
};

TEST(DeadlineWheel, FiresOnceAndNotBeforeTheDeadline) {
  for (const Micros delay : {Micros{1}, Micros{10ms}, Micros{15ms}, Micros{300ms}, Micros{10s},
                             Micros{30s}, Micros{24h}}) {
    DeadlineWheel wheel{start};
    const MonoTime begin = start + 48h + 3 * delay;  // The wheel has turned before.
    wheel.advance(begin);
    Alarm alarm;
    wheel.set(alarm, begin + delay);
    wheel.advance(begin + delay - Micros{1});
    EXPECT_EQ(alarm.fired, 0) << delay.count();
    wheel.advance(begin + delay + DeadlineWheel::tick);
    EXPECT_EQ(alarm.fired, 1) << delay.count();
    wheel.advance(begin + delay + 60s);
    EXPECT_EQ(alarm.fired, 1) << delay.count();
  }
}

TEST(DeadlineWheel, FiresWithSmallSteps) {
  DeadlineWheel wheel{start};
  std::vector<std::unique_ptr<Alarm>> alarms;
  for (int number = 1; number <= 3'000; ++number) {  // Several turns of the wheel.
    alarms.push_back(std::make_unique<Alarm>());
    wheel.set(*alarms.back(), start + number * 10ms);
  }
  for (int number = 1; number <= 3'000; ++number) {
    const auto index = static_cast<std::size_t>(number - 1);
    EXPECT_EQ(alarms[index]->fired, 0);
    wheel.advance(start + number * 10ms);
    ASSERT_EQ(alarms[index]->fired, 1) << number;
  }
}

TEST(DeadlineWheel, FiresEveryDueEntryAfterALongPause) {
  DeadlineWheel wheel{start};
  std::vector<std::unique_ptr<Alarm>> alarms;
  for (int number = 1; number <= 3'000; ++number) {  // Every slot of the wheel has entries.
    alarms.push_back(std::make_unique<Alarm>());
    wheel.set(*alarms.back(), start + number * 10ms);
  }
  wheel.advance(start + 60s);
  for (const std::unique_ptr<Alarm>& alarm : alarms) {
    EXPECT_EQ(alarm->fired, 1);
  }
}

TEST(DeadlineWheel, ANewDeadlineReplacesTheOld) {
  DeadlineWheel wheel{start};
  Alarm alarm;
  wheel.set(alarm, start + 20ms);
  wheel.set(alarm, start + 100ms);
  wheel.advance(start + 50ms);
  EXPECT_EQ(alarm.fired, 0);
  wheel.set(alarm, start + 60ms);
  wheel.advance(start + 70ms);
  EXPECT_EQ(alarm.fired, 1);
}

TEST(DeadlineWheel, ACancelledOrDestroyedEntryDoesNotFire) {
  DeadlineWheel wheel{start};
  Alarm dropped;
  wheel.set(dropped, start + 20ms);
  DeadlineWheel::cancel(dropped);
  {
    Alarm destroyed;
    wheel.set(destroyed, start + 20ms);
  }
  wheel.advance(start + 1s);
  EXPECT_EQ(dropped.fired, 0);
}

TEST(DeadlineWheel, ADueEntryMaySetAndCancelOthers) {
  DeadlineWheel wheel{start};
  Alarm first;
  Alarm second;
  wheel.set(first, start + 20ms);
  wheel.set(second, start + 20ms);
  first.then = [&] {
    DeadlineWheel::cancel(second);
    wheel.set(first, start);  // In the past: due at the next tick, not in this call.
  };
  wheel.advance(start + 20ms);
  EXPECT_EQ(first.fired, 1);
  EXPECT_EQ(second.fired, 0);
  first.then = nullptr;
  wheel.advance(start + 30ms);
  EXPECT_EQ(first.fired, 2);
}

DnsAnswerPtr answer_of(std::string_view address) {
  return std::make_shared<const DnsAnswer>(
      DnsAnswer{.addresses = {*IpAddress::parse(address)}, .error = {}, .time_to_live = 1s});
}

TEST(DnsCache, EntriesExpire) {
  DnsCache cache{10};
  cache.put("a.test", answer_of("192.0.2.1"), start, start + 1s);
  EXPECT_NE(cache.find("a.test", start + 999ms), nullptr);
  EXPECT_EQ(cache.find("a.test", start + 1s), nullptr);
  EXPECT_EQ(cache.find("b.test", start), nullptr);
}

TEST(DnsCache, DoesNotStoreAnswersWithoutTimeToLive) {
  DnsCache cache{10};
  cache.put("a.test", answer_of("192.0.2.1"), start, start + 1s);
  cache.put("a.test", answer_of("192.0.2.2"), start, start);
  EXPECT_EQ(cache.find("a.test", start), nullptr);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(DnsCache, IsBoundedAndRemovesExpiredEntriesFirst) {
  DnsCache cache{100};
  cache.put("living.test", answer_of("192.0.2.1"), start, start + 1h);
  for (int number = 1; number < 100; ++number) {
    cache.put(fmt::format("{}.test", number), answer_of("192.0.2.1"), start, start + 1s);
  }
  EXPECT_EQ(cache.size(), 100u);
  cache.put("new.test", answer_of("192.0.2.1"), start + 2s, start + 3s);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.find("living.test", start + 2s), nullptr);
  for (int number = 0; number < 1'000; ++number) {
    cache.put(fmt::format("{}.more", number), answer_of("192.0.2.1"), start + 2s, start + 1h);
  }
  EXPECT_EQ(cache.size(), 100u);
  EXPECT_NE(cache.find("999.more", start + 2s), nullptr);
}

std::vector<IpAddress> addresses(std::initializer_list<std::string_view> texts) {
  std::vector<IpAddress> parsed;
  for (const std::string_view text : texts) {
    parsed.push_back(*IpAddress::parse(text));
  }
  return parsed;
}

TEST(AddressPlan, AddressFamiliesAlternate) {
  const AddressPlan plan = plan_addresses(
      addresses({"8.8.8.8", "8.8.4.4", "1.1.1.1", "2606:4700::1111", "2606:4700::1001"}), {});
  EXPECT_EQ(plan.addresses,
            addresses({"2606:4700::1111", "8.8.8.8", "2606:4700::1001", "8.8.4.4", "1.1.1.1"}));
}

TEST(AddressPlan, LeavesForbiddenAddressesOut) {  // P11
  const AddressPlan plan =
      plan_addresses(addresses({"127.0.0.1", "8.8.8.8", "169.254.169.254", "::1"}), {});
  EXPECT_EQ(plan.addresses, addresses({"8.8.8.8"}));
}

TEST(AddressPlan, NamesTheFirstRuleIfNoAddressIsAllowed) {  // P11
  const AddressPlan plan = plan_addresses(addresses({"10.1.2.3", "127.0.0.1"}), {});
  EXPECT_TRUE(plan.addresses.empty());
  EXPECT_EQ(plan.refusal,
            fmt::format("10.1.2.3: {}", *forbidden_address(*IpAddress::parse("10.1.2.3"), {})));
}

TEST(AddressPlan, IsBounded) {
  std::vector<IpAddress> many(4'000, *IpAddress::parse("8.8.8.8"));
  EXPECT_EQ(plan_addresses(many, {}).addresses.size(), planned_addresses_max);
}

}  // namespace
}  // namespace postrider::asio_http
