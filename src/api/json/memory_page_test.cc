#include "api/json/memory_page.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using NumberRef = std::shared_ptr<const int>;
using Numbers = std::map<WebhookId, NumberRef>;

/// Ids and numbers from 1 to `count`.
Numbers numbers(std::uint8_t count) {
  Numbers all;
  for (std::uint8_t number = 1; number <= count; ++number) {
    all.emplace(WebhookId{Uuid{number}}, std::make_shared<const int>(number));
  }
  return all;
}

std::vector<int> shown(const ListedById<NumberRef>& page) {
  std::vector<int> items;
  for (const NumberRef& item : page.items) {
    items.push_back(*item);
  }
  return items;
}

TEST(MemoryPage, IsNewestFirstAndTheNextPageFollows) {
  const Numbers all = numbers(5);
  const auto first = select_page(all, {.limit = 2, .offset = 0, .before = {}});
  EXPECT_EQ(shown(first), (std::vector{5, 4}));
  EXPECT_EQ(first.next, Uuid{4});
  const auto second = select_page(all, {.limit = 2, .offset = 0, .before = first.next});
  EXPECT_EQ(shown(second), (std::vector{3, 2}));
  const auto third = select_page(all, {.limit = 2, .offset = 0, .before = second.next});
  EXPECT_EQ(shown(third), (std::vector{1}));
  EXPECT_EQ(third.next, std::nullopt);
}

TEST(MemoryPage, TheLastPageHasNoNext) {
  const auto page = select_page(numbers(2), {.limit = 2, .offset = 0, .before = {}});
  EXPECT_EQ(shown(page), (std::vector{2, 1}));
  EXPECT_EQ(page.next, std::nullopt);
  EXPECT_EQ(select_page(numbers(0), IdPage{}).next, std::nullopt);
}

TEST(MemoryPage, ContinuesAfterARemovedId) {
  Numbers all = numbers(5);
  all.erase(WebhookId{Uuid{3}});
  EXPECT_EQ(shown(select_page(all, {.limit = 9, .offset = 0, .before = Uuid{3}})),
            (std::vector{2, 1}));
  EXPECT_EQ(shown(select_page(all, {.limit = 9, .offset = 0, .before = Uuid{1}})),
            std::vector<int>{});
}

TEST(MemoryPage, CountsOnlyItemsThatPassTheFilter) {
  const auto is_odd = [](int number) { return number % 2 == 1; };
  const auto page = select_page(numbers(9), {.limit = 2, .offset = 1, .before = {}}, is_odd);
  EXPECT_EQ(shown(page), (std::vector{7, 5}));
  EXPECT_EQ(page.next, Uuid{5});
  const auto last = select_page(numbers(9), {.limit = 2, .offset = 0, .before = Uuid{5}}, is_odd);
  EXPECT_EQ(shown(last), (std::vector{3, 1}));
  EXPECT_EQ(last.next, std::nullopt);  // The remaining item does not pass the filter.
  const auto beyond = select_page(numbers(9), {.limit = 2, .offset = 5, .before = {}}, is_odd);
  EXPECT_EQ(shown(beyond), std::vector<int>{});
}

}  // namespace
}  // namespace postrider::api
