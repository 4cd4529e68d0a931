#include "adapters/postgres/store/ledger/fanout_lists.h"

#include <algorithm>
#include <cstring>

namespace postrider::postgres {
namespace {

constexpr std::size_t id_bytes = sizeof(WebhookId::bytes);

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO fanout_list (list, part, webhooks)
  SELECT unnest($1::bigint[]), unnest($2::bigint[]), unnest($3::bytea[])
)sql";

constexpr std::string_view read_sql = R"sql(
  SELECT l.list, l.part, l.webhooks
    FROM (SELECT unnest($1::bigint[]) AS list, unnest($2::bigint[]) AS part) k
    JOIN fanout_list l ON l.list = k.list AND l.part = k.part
)sql";

}  // namespace

void FanoutParts::add(std::int64_t list, const std::vector<WebhookId>& webhooks) {
  constexpr auto per_part = static_cast<std::size_t>(webhooks_per_part);
  std::string ids;
  for (std::size_t begin = 0, number = 0; begin < webhooks.size(); begin += per_part, ++number) {
    const std::size_t end = std::min(webhooks.size(), begin + per_part);
    ids.clear();
    for (std::size_t i = begin; i < end; ++i) {
      ids.append(reinterpret_cast<const char*>(webhooks[i].bytes.data()), id_bytes);
    }
    lists_.add(list);
    numbers_.add(number);
    webhooks_.add(Blob{ids});
  }
}

void FanoutParts::queue(Session& session) && {
  if (lists_.size() > 0) {
    session.queue(insert_sql,
                  Parameters::of(std::move(lists_), std::move(numbers_), std::move(webhooks_)));
  }
}

void FanoutLists::want(std::int64_t list, std::int64_t part) {
  if (parts_.try_emplace({list, part}).second) {
    wanted_.emplace_back(list, part);
  }
}

std::optional<std::size_t> FanoutLists::queue_read(Session& session) {
  if (wanted_.empty()) {
    return std::nullopt;
  }
  Array lists{ElementType::int8};
  Array numbers{ElementType::int8};
  for (const auto& [list, part] : wanted_) {
    lists.add(list);
    numbers.add(part);
  }
  wanted_.clear();
  return session.queue(read_sql, Parameters::of(std::move(lists), std::move(numbers)));
}

void FanoutLists::take(const Rows& rows) {
  for (int row = 0; row < rows.count(); ++row) {
    parts_[{rows.integer(row, 0), rows.integer(row, 1)}] = rows.blob(row, 2);
  }
}

std::string_view FanoutLists::part(std::int64_t list, std::int64_t part) const {
  const auto found = parts_.find({list, part});
  return found == parts_.end() ? std::string_view{} : std::string_view{found->second};
}

std::optional<WebhookId> FanoutLists::webhook_at(std::int64_t list, std::int64_t place) const {
  const std::string_view ids = part(list, place / webhooks_per_part);
  const auto index = static_cast<std::size_t>(place % webhooks_per_part);
  if (index >= ids.size() / id_bytes) {
    return std::nullopt;
  }
  WebhookId id;
  std::memcpy(id.bytes.data(), ids.data() + index * id_bytes, id_bytes);
  return id;
}

}  // namespace postrider::postgres
