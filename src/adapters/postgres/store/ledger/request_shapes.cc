#include "adapters/postgres/store/ledger/request_shapes.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/base/assert.h"
#include "core/stored/shape_bytes.h"

#include "adapters/sql/sealed_shape.h"

namespace postrider::postgres {
namespace {

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();

// A larger cache is cleared between transactions; the table has everything.
constexpr std::size_t known_max = 200'000;

// $2: the number of the shape that the webhook is known to have; 0: its latest ones. Around a
// change, requests of both shapes are in flight, and some changes are undone. A shape that is not
// among them is stored again.
constexpr std::string_view read_sql = R"sql(
  SELECT k.webhook_id, s.number, s.named_below, s.sealed,
         CASE WHEN k.number = 0 THEN s.shape END
    FROM (SELECT unnest($1::uuid[]) AS webhook_id, unnest($2::bigint[]) AS number) k
   CROSS JOIN LATERAL (SELECT r.number, r.named_below, r.sealed, r.shape FROM request_shape r
                        WHERE r.webhook_id = k.webhook_id
                          AND (k.number = 0 OR r.number = k.number)
                        ORDER BY r.number DESC LIMIT 8) s
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO request_shape (webhook_id, number, sealed, shape)
  SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::bytea[])
)sql";

// Above the sequence of every delivery that may still use the shape: those that are stored, and
// those of transactions that do not see the retirement. 256: more blocks than other transactions
// take while this one is committed.
#define POSTRIDER_BOUND "(SELECT (last_value + 256) * 1024 FROM sequence_block)"

// Makes one shape of each webhook the current one and retires the others. An attempt may end after
// its webhook was removed. Its shape is then retired at once.
constexpr std::string_view activate_sql =
    "UPDATE request_shape r SET named_below = CASE WHEN r.number = k.number AND"
    " EXISTS (SELECT 1 FROM webhook w WHERE w.id = r.webhook_id) THEN NULL"
    " ELSE " POSTRIDER_BOUND
    " END"
    " FROM (SELECT unnest($1::uuid[]) AS webhook_id, unnest($2::bigint[]) AS number) k"
    " WHERE r.webhook_id = k.webhook_id AND (r.named_below IS NULL OR r.number = k.number)";

constexpr std::string_view retire_sql = "UPDATE request_shape SET named_below = " POSTRIDER_BOUND
                                        " WHERE webhook_id = $1 AND named_below IS NULL";

std::size_t queue_read(Session& session, Array webhook_ids, Array numbers) {
  return session.queue(read_sql, Parameters::of(std::move(webhook_ids), std::move(numbers)));
}

}  // namespace

struct RequestShapes::StoredShape {
  std::uint32_t number = 0;
  std::int64_t named_below = no_bound;
  std::string packed;  // Empty if it cannot be decrypted. The attempt must be recorded anyway.
};

/// The shapes of a webhook in one transaction.
struct RequestShapes::OfWebhook {
  Known known;                             // The last one. Without a shape: there is none.
  std::int64_t known_below = 0;            // Deliveries below this sequence may use it.
  std::vector<StoredShape> recent;         // Newest first. Not read if `known` is enough.
  bool recent_read = false;                // `recent` is complete.
  std::vector<StoredShape> added;          // To be stored.
  std::optional<std::uint32_t> activated;  // To be made the current one.
};

RequestShapes::RequestShapes(std::shared_ptr<const Vault> vault) : vault_(std::move(vault)) {}
RequestShapes::~RequestShapes() = default;
RequestShapes::RequestShapes(RequestShapes&&) noexcept = default;
RequestShapes& RequestShapes::operator=(RequestShapes&&) noexcept = default;

void RequestShapes::queue_reads(Session& session, const std::vector<Settlement>& settlements) {
  webhooks_.clear();
  answer_.reset();
  for (const Settlement& settlement : settlements) {
    if (settlement.request == nullptr || !settlement.attempt) {
      continue;
    }
    const auto [webhook, added] = webhooks_.try_emplace(settlement.delivery.webhook_id);
    Known& known = webhook->second.known;
    if (added) {
      const auto before = known_.find(webhook->first);
      known = before == known_.end() ? Known{} : before->second;
    }
    if (known.shape != settlement.request) {
      known = {};
    }
  }
  if (webhooks_.empty()) {
    return;
  }
  Array ids{ElementType::uuid};
  Array numbers{ElementType::int8};
  for (const auto& [id, webhook] : webhooks_) {
    ids.add(id);
    numbers.add(webhook.known.number);
  }
  answer_ = queue_read(session, std::move(ids), std::move(numbers));
}

Result<void> RequestShapes::take(Session& session, const std::vector<Rows>& answers,
                                 const std::vector<Settlement>& settlements) {
  if (!answer_) {
    return {};
  }
  for (auto& [id, webhook] : webhooks_) {
    webhook.recent_read = webhook.known.shape == nullptr;
  }
  read(answers[*answer_]);
  const std::vector<WebhookId> again = outdated(settlements);
  if (again.empty()) {
    return {};
  }
  Array ids{ElementType::uuid};
  Array numbers{ElementType::int8};
  for (const WebhookId& id : again) {
    webhooks_.at(id) = OfWebhook{};
    webhooks_.at(id).recent_read = true;
    ids.add(id);
    numbers.add(0);
  }
  const std::size_t answer = queue_read(session, std::move(ids), std::move(numbers));
  POSTRIDER_TRY(const std::vector<Rows> more, session.exchange());
  read(more[answer]);
  return {};
}

void RequestShapes::read(const Rows& rows) {
  for (int row = 0; row < rows.count(); ++row) {
    const auto id = rows.id<WebhookId>(row, 0);
    OfWebhook& webhook = webhooks_.at(id);
    StoredShape shape{.number = rows.as<std::uint32_t>(row, 1),
                      .named_below = rows.is_null(row, 2) ? no_bound : rows.integer(row, 2),
                      .packed = {}};
    if (!webhook.recent_read) {
      webhook.known_below = shape.named_below;
      continue;
    }
    const sql::ShapeColumns columns{.shape = rows.blob(row, 4), .sealed = rows.boolean(row, 3)};
    if (Result<std::string> packed = sql::open_columns(columns, {id, shape.number}, vault_.get())) {
      shape.packed = *std::move(packed);
    }
    webhook.recent.push_back(std::move(shape));
  }
}

/// The webhooks whose known shape is no longer stored, or is retired and not usable for all.
std::vector<WebhookId> RequestShapes::outdated(const std::vector<Settlement>& settlements) const {
  std::vector<WebhookId> found;
  for (const Settlement& settlement : settlements) {
    const auto webhook = webhooks_.find(settlement.delivery.webhook_id);
    if (webhook != webhooks_.end() && !webhook->second.recent_read &&
        settlement.delivery.sequence >= webhook->second.known_below) {
      found.push_back(webhook->first);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::uint32_t RequestShapes::number_of(const Settlement& settlement) {
  if (settlement.request == nullptr) {
    return 0;
  }
  OfWebhook& webhook = webhooks_.at(settlement.delivery.webhook_id);
  const std::int64_t sequence = settlement.delivery.sequence;
  if (webhook.known.shape == settlement.request && sequence < webhook.known_below) {
    return webhook.known.number;
  }
  POSTRIDER_ASSERT(webhook.recent_read);
  std::string packed;
  stored::pack_shape(*settlement.request, packed);
  auto shape = std::ranges::find(webhook.recent, packed, &StoredShape::packed);
  if (shape == webhook.recent.end()) {
    const std::uint32_t last = webhook.recent.empty() ? 0 : webhook.recent.front().number;
    shape = webhook.recent.insert(webhook.recent.begin(),
                                  {.number = last + 1, .packed = std::move(packed)});
    webhook.added.push_back(*shape);
    webhook.activated = shape->number;
  } else if (sequence >= shape->named_below) {
    shape->named_below = no_bound;
    webhook.activated = shape->number;
  }
  webhook.known = {.shape = settlement.request, .number = shape->number};
  webhook.known_below = shape->named_below;
  return shape->number;
}

void RequestShapes::queue_writes(Session& session) {
  Array new_ids{ElementType::uuid};
  Array new_numbers{ElementType::int8};
  Array sealed{ElementType::int8};
  Array shapes{ElementType::bytea};
  Array active_ids{ElementType::uuid};
  Array active_numbers{ElementType::int8};
  for (auto& [id, webhook] : webhooks_) {
    for (StoredShape& shape : webhook.added) {
      const sql::ShapeColumns columns =
          sql::to_columns(std::move(shape.packed), {id, shape.number}, vault_.get());
      new_ids.add(id);
      new_numbers.add(shape.number);
      sealed.add(columns.sealed);
      shapes.add(Blob{columns.shape});
    }
    if (webhook.activated) {
      active_ids.add(id);
      active_numbers.add(*webhook.activated);
    }
  }
  if (new_ids.size() > 0) {
    session.queue(insert_sql, Parameters::of(std::move(new_ids), std::move(new_numbers),
                                             std::move(sealed), std::move(shapes)));
  }
  if (active_ids.size() > 0) {
    session.queue(activate_sql, Parameters::of(std::move(active_ids), std::move(active_numbers)));
  }
}

void RequestShapes::remember() {
  if (known_.size() > known_max) {
    known_.clear();
  }
  for (auto& [id, webhook] : webhooks_) {
    if (webhook.known.shape != nullptr) {
      known_.insert_or_assign(id, std::move(webhook.known));
    }
  }
  webhooks_.clear();
}

void queue_retirement(Session& session, WebhookId webhook_id) {
  session.queue(retire_sql, Parameters::of(webhook_id));
}

}  // namespace postrider::postgres
