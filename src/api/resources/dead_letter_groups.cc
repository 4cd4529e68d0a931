// GET /v1/dlq/groups: dead letters by webhook, cause, event type or age.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/enum_names.h"

#include "api/json/delivery_query.h"
#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/resources/counting.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

enum class GroupBy : std::uint8_t { webhook, failure_category, classification, age, event_type };
constexpr EnumNames<GroupBy, GroupBy::event_type> groupings{
    {"webhook", "failure_category", "classification", "age", "event_type"}};

constexpr IntegerRange limit_range{1, page_limit_max};

struct GroupQuery {
  GroupBy by = GroupBy::webhook;
  DeliveryFilter filter;
  std::size_t limit = page_limit_max;
  WallTime now;
};

Parsed<GroupQuery> read_query(const HttpRequest& request, WallTime now) {
  QueryReader query{request};
  GroupQuery asked;
  const auto parse = [](std::string_view text) { return groupings.find(text); };
  const auto by =
      query.one_of("by", parse, "webhook, failure_category, classification, age or event_type");
  if (!query.text("by")) {
    query.refuse("by",
                 "is required: webhook, failure_category, classification, age or event_type.");
  }
  asked.by = by.value_or(asked.by);
  asked.filter = read_dead_letter_filter(query, now);
  asked.limit =
      static_cast<std::size_t>(query.integer("limit", limit_range).value_or(limit_range.max));
  asked.now = now;
  POSTRIDER_CHECK(query.finish());
  return asked;
}

struct Group {
  std::string key;  // Empty: unknown.
  WebhookId webhook_id = {};
  std::uint64_t count = 0;
  WallTime oldest = wall_time_max;
  WallTime newest = wall_time_min;
};

template <class Named>
std::string_view name_of(const std::optional<Named>& value) {
  return value ? to_string(*value) : std::string_view{};
}

/// Hashes strings and views alike, so that finding a group copies nothing.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// Adds dead letters to their groups. One thread at a time.
class Groups {
 public:
  explicit Groups(const GroupQuery& asked) : by_(asked.by), now_(asked.now) {}

  void add(const DeadLetterFacts& facts) {
    const std::string_view key = key_of(facts);
    auto found = groups_.find(key);
    if (found == groups_.end()) {
      found = groups_.emplace(key, Group{.key = {}, .webhook_id = facts.webhook_id}).first;
    }
    Group& group = found->second;
    ++group.count;
    group.oldest = std::min(group.oldest, facts.completed_at);
    group.newest = std::max(group.newest, facts.completed_at);
  }

  /// The largest first, then by key.
  [[nodiscard]] std::vector<Group> sorted() const {
    std::vector<Group> all;
    for (const auto& [key, group] : groups_) {
      all.push_back(group);
      all.back().key = by_ == GroupBy::webhook ? group.webhook_id.to_string() : key;
    }
    std::ranges::sort(all, [](const Group& a, const Group& b) {
      return a.count != b.count ? a.count > b.count : a.key < b.key;
    });
    return all;
  }

 private:
  [[nodiscard]] std::string_view key_of(const DeadLetterFacts& facts) const {
    switch (by_) {
      case GroupBy::webhook:
        return {reinterpret_cast<const char*>(facts.webhook_id.bytes.data()),
                facts.webhook_id.bytes.size()};
      case GroupBy::failure_category:
        return name_of(facts.failure_category);
      case GroupBy::classification:
        return name_of(facts.classification);
      case GroupBy::age:
        return to_string(age_of(facts.completed_at, now_));
      case GroupBy::event_type:
        return facts.event_type;
    }
    return {};
  }

  GroupBy by_;
  WallTime now_;
  std::unordered_map<std::string, Group, TextHash, std::equal_to<>> groups_;
};

void write_group(JsonWriter& writer, const Group& group, const GroupQuery& asked,
                 const Directory& webhooks) {
  writer.open_object();
  writer.member("key", group.key.empty() ? std::nullopt : std::optional{group.key});
  if (asked.by == GroupBy::webhook) {
    const WebhookRef webhook = webhooks.find(group.webhook_id);  // Null if it was deleted.
    writer.member("webhook_name", webhook ? webhook->name : std::nullopt);
    writer.member("webhook_url", webhook ? std::optional{webhook->url} : std::nullopt);
  }
  writer.member("count", group.count);
  writer.member("oldest_at", group.oldest);
  writer.member("newest_at", group.newest);
  writer.close_object();
}

std::string write_groups(const Groups& groups, bool more, const GroupQuery& asked,
                         const Directory& webhooks) {
  const std::vector<Group> all = groups.sorted();
  std::uint64_t total = 0;
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (const Group& group : all) {
    total += group.count;
    if (static_cast<std::size_t>(&group - all.data()) < asked.limit) {
      write_group(writer, group, asked, webhooks);
    }
  }
  writer.close_array();
  writer.member("groups", all.size());
  writer.member("total", total);
  writer.member("more", more);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> group_dead_letters(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const GroupQuery asked, read_query(request, context.services.clock.now().wall));
  Groups groups{asked};
  std::optional<std::int64_t> place;
  for (int round = 0; round < group_rounds_max; ++round) {
    const auto query = [&asked, &groups, place](Reader& reader) {
      const auto take = [&groups](const DeadLetterFacts& facts) { groups.add(facts); };
      return reader.history->scan_dead_letters(asked.filter, {.before = place}, take);
    };
    auto pending = context.queries().read(query);
    const Result<std::optional<std::int64_t>> next = co_await std::move(pending);
    if (!next) {
      co_return tl::make_unexpected(to_problem(next.error()));
    }
    place = *next;
    if (!place) {
      break;
    }
  }
  const std::shared_ptr<const Directory> webhooks = context.services.snapshots.directory();
  co_return json_answer(200, write_groups(groups, place.has_value(), asked, *webhooks));
}

}  // namespace postrider::api
