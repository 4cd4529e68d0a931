#include "api/json/pagination.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider::api {
namespace {

HttpRequest with_query(std::vector<std::pair<std::string, std::string>> query) {
  HttpRequest request;
  request.query = std::move(query);
  return request;
}

/// The page, or the problem that a handler would respond with.
Parsed<Page> page_of(const HttpRequest& request) {
  QueryReader query{request};
  return read_history_page(query, ListKind::deliveries);
}

RC_GTEST_PROP(Cursor, RoundTripsAnySequence, (std::int64_t sequence)) {
  const std::string cursor = *next_cursor(ListKind::deliveries, sequence);
  const Parsed<Page> page = page_of(with_query({{"cursor", cursor}}));
  RC_ASSERT(page.has_value());
  RC_ASSERT(page->before == sequence);
}

TEST(Cursor, IsRefusedWithAnyCharacterChanged) {
  const std::string cursor = *next_cursor(ListKind::deliveries, std::int64_t{1234567});
  for (std::size_t at = 0; at < cursor.size(); ++at) {
    for (const char other : std::string{"AZaz09-_+/=.\x7f"}) {
      std::string changed = cursor;
      changed[at] = other;
      EXPECT_EQ(read_cursor(ListKind::deliveries, changed).has_value(), changed == cursor)
          << changed;
    }
  }
  for (const std::string& forged : {std::string{}, std::string{"AAAA"}, std::string{"forged"},
                                    cursor + "A", cursor.substr(1), std::string(5000, 'A')}) {
    EXPECT_EQ(read_cursor(ListKind::deliveries, forged), std::nullopt) << forged.substr(0, 20);
  }
}

TEST(Cursor, OfAnotherListIsRefused) {
  const std::string cursor = *next_cursor(ListKind::events, std::int64_t{7});
  EXPECT_EQ(page_of(with_query({{"cursor", cursor}})).error().code, "invalid_cursor");
  const std::string by_id = write_cursor(ListKind::deliveries, std::string(16, 'x'));
  EXPECT_EQ(page_of(with_query({{"cursor", by_id}})).error().code, "invalid_cursor");
}

TEST(ReadPage, HasADefaultLimitOfFifty) {
  const Parsed<Page> page = page_of(with_query({}));
  EXPECT_EQ(page->limit, 50u);
  EXPECT_EQ(page->offset, 0u);
  EXPECT_EQ(page->before, std::nullopt);
  EXPECT_EQ(page_of(with_query({{"limit", "250"}, {"offset", "1000000"}}))->limit, 250u);
  EXPECT_EQ(page_of(with_query({{"limit", "1"}, {"offset", "1000000"}}))->offset, 1'000'000u);
}

TEST(ReadPage, NamesTheInvalidParameter) {
  struct Case {
    std::vector<std::pair<std::string, std::string>> query;
    std::string name;
  };
  const std::string cursor = *next_cursor(ListKind::deliveries, std::int64_t{1});
  const Case cases[] = {
      {{{"limit", "0"}}, "limit"},
      {{{"limit", "251"}}, "limit"},
      {{{"limit", "-1"}}, "limit"},
      {{{"limit", ""}}, "limit"},
      {{{"limit", "1e2"}}, "limit"},
      {{{"limit", "5.0"}}, "limit"},
      {{{"limit", "99999999999999999999"}}, "limit"},
      {{{"limit", "1"}, {"limit", "1"}}, "limit"},
      {{{"offset", "1000001"}}, "offset"},
      {{{"offset", "x"}}, "offset"},
      {{{"cursor", cursor}, {"offset", "0"}}, "offset"},
      {{{"cursor", "\x01"}}, "cursor"},
      {{{"colour", "red"}}, "colour"},
      {{{"", ""}}, ""},
  };
  for (const Case& c : cases) {
    const Parsed<Page> page = page_of(with_query(c.query));
    ASSERT_FALSE(page) << c.name;
    EXPECT_EQ(page.error().status, 400);
    ASSERT_EQ(page.error().errors.size(), 1u);
    EXPECT_EQ(page.error().errors[0].field, c.name);
  }
}

TEST(ReadPage, ACursorOfAListByIdContainsAnId) {
  const Uuid id{0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0x80};
  const std::string cursor = *next_cursor(ListKind::webhooks, std::optional{id});
  const HttpRequest request = with_query({{"cursor", cursor}, {"limit", "3"}});
  QueryReader query{request};
  const Parsed<IdPage> page = read_id_page(query, ListKind::webhooks);
  EXPECT_EQ(page->before, id);
  EXPECT_EQ(page->limit, 3u);

  const std::string by_sequence = *next_cursor(ListKind::webhooks, std::int64_t{7});
  const HttpRequest other = with_query({{"cursor", by_sequence}});
  QueryReader other_query{other};
  EXPECT_EQ(read_id_page(other_query, ListKind::webhooks).error().code, "invalid_cursor");
}

TEST(ReadPage, ReportsAnInvalidParameterBeforeAnInvalidCursor) {
  const HttpRequest request = with_query({{"cursor", "forged"}, {"colour", "red"}});
  EXPECT_EQ(page_of(request).error().errors.at(0).field, "colour");
}

TEST(NextCursor, IsNothingAtTheEndOfTheList) {
  EXPECT_EQ(next_cursor(ListKind::events, std::optional<std::int64_t>{}), std::nullopt);
  EXPECT_EQ(next_cursor(ListKind::events, std::optional<Uuid>{}), std::nullopt);
  EXPECT_EQ(next_cursor(ListKind::events, std::optional<std::string>{}), std::nullopt);
}

}  // namespace
}  // namespace postrider::api
