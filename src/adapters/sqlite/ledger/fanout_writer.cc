#include "adapters/sqlite/ledger/fanout_writer.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/stored/trace_bytes.h"

#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

constexpr std::int64_t ids_per_part = 512;
constexpr std::size_t id_bytes = sizeof(WebhookId::bytes);

constexpr std::string_view insert_note_sql =
    "INSERT INTO fanout (event, tenant, list, place, remaining, due, chosen)"
    " VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6)";

constexpr std::string_view find_tenant_note_sql = "SELECT 1 FROM fanout WHERE tenant = ?1 LIMIT 1";
constexpr std::string_view any_note_sql = "SELECT 1 FROM fanout LIMIT 1";

#define POSTRIDER_NOTE_COLUMNS "event, list, place, remaining, due, chosen"

constexpr std::string_view find_note_sql =
    "SELECT " POSTRIDER_NOTE_COLUMNS " FROM fanout WHERE event = ?1";
constexpr std::string_view first_note_sql =
    "SELECT " POSTRIDER_NOTE_COLUMNS
    " FROM fanout INDEXED BY fanout_tenant WHERE tenant = ?1 ORDER BY event LIMIT 1";

constexpr std::string_view update_note_sql =
    "UPDATE fanout SET place = ?2, remaining = ?3 WHERE event = ?1";
constexpr std::string_view delete_note_sql = "DELETE FROM fanout WHERE event = ?1";

constexpr std::string_view last_list_sql = "SELECT ifnull(max(list), 0) FROM fanout_list";
constexpr std::string_view insert_part_sql =
    "INSERT INTO fanout_list (list, part, webhooks) VALUES (?1, ?2, ?3)";
constexpr std::string_view find_part_sql =
    "SELECT webhooks FROM fanout_list WHERE list = ?1 AND part = ?2";
constexpr std::string_view delete_list_sql =
    "DELETE FROM fanout_list WHERE list = ?1"
    " AND NOT EXISTS (SELECT 1 FROM fanout WHERE list = ?1)";

constexpr std::string_view load_event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.sequence = ?1";

constexpr std::string_view insert_delivery_sql = R"sql(
  INSERT INTO delivery (sequence, id, event, lane, previous, ordered, tenant, type, priority, state,
                        trigger, due, attempt_count, budget_used, created_at, updated_at, late,
                        trace)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0, 0, ?13, ?13, 1, ?14)
)sql";

constexpr std::string_view open_fanouts_sql =
    "SELECT (SELECT name FROM tenant t WHERE t.tenant = fanout.tenant), sum(remaining)"
    " FROM fanout GROUP BY fanout.tenant";

WebhookId id_at(std::string_view ids, std::size_t index) {
  WebhookId id;
  std::memcpy(id.bytes.data(), ids.data() + index * id_bytes, id_bytes);
  return id;
}

}  // namespace

Result<FanoutWriter> FanoutWriter::open(Writer::Session& session) {
  FanoutWriter writer{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&writer.insert_note_, insert_note_sql},
      {&writer.find_tenant_note_, find_tenant_note_sql},
      {&writer.find_note_, find_note_sql},
      {&writer.first_note_, first_note_sql},
      {&writer.update_note_, update_note_sql},
      {&writer.delete_note_, delete_note_sql},
      {&writer.last_list_, last_list_sql},
      {&writer.insert_part_, insert_part_sql},
      {&writer.find_part_, find_part_sql},
      {&writer.delete_list_, delete_list_sql},
      {&writer.load_event_, load_event_sql},
      {&writer.insert_delivery_, insert_delivery_sql},
      {&writer.open_fanouts_, open_fanouts_sql},
      {&writer.any_note_, any_note_sql},
  }));
  return writer;
}

Result<bool> FanoutWriter::needs_note(const Publish& publish, std::int64_t tenant) {
  if (publish.fanout || !publish.ordered || !may_have_notes_) {
    return publish.fanout.has_value();
  }
  if (publish.deliveries.empty()) {
    return false;
  }
  Query query = find_tenant_note_.query(tenant);
  return query.next();
}

Result<std::uint32_t> FanoutWriter::add(const Publish& publish, std::int64_t event,
                                        std::int64_t tenant) {
  may_have_notes_ = true;
  if (publish.fanout) {
    const Fanout& fanout = *publish.fanout;
    auto known = stored_lists_.find(fanout.webhooks.get());
    if (known == stored_lists_.end()) {
      POSTRIDER_TRY(const std::int64_t list, store_list(*fanout.webhooks));
      known = stored_lists_.emplace(fanout.webhooks.get(), list).first;
    }
    POSTRIDER_CHECK(insert_note_.run(event, tenant, known->second, fanout.count, fanout.due,
                                     Blob{fanout.chosen}));
    return fanout.count;
  }
  std::vector<WebhookId> webhooks;
  webhooks.reserve(publish.deliveries.size());
  for (const Delivery& delivery : publish.deliveries) {
    webhooks.push_back(delivery.webhook_id);
  }
  POSTRIDER_TRY(const std::int64_t list, store_list(webhooks));
  POSTRIDER_CHECK(insert_note_.run(event, tenant, list, webhooks.size(),
                                   publish.deliveries.front().due, Blob{{}}));
  return static_cast<std::uint32_t>(webhooks.size());
}

Result<std::int64_t> FanoutWriter::store_list(const std::vector<WebhookId>& webhooks) {
  std::int64_t list = 0;
  {
    Query last = last_list_.query();
    POSTRIDER_TRY(const bool found, last.next());
    list = (found ? last.integer(0) : 0) + 1;
  }
  std::string ids;
  for (std::size_t begin = 0, part = 0; begin < webhooks.size(); begin += ids_per_part, ++part) {
    const std::size_t end = std::min(webhooks.size(), begin + ids_per_part);
    ids.clear();
    for (std::size_t i = begin; i < end; ++i) {
      ids.append(reinterpret_cast<const char*>(webhooks[i].bytes.data()), id_bytes);
    }
    POSTRIDER_CHECK(insert_part_.run(list, part, Blob{ids}));
  }
  // The number of a removed list may be used again.
  part_ = {};
  return list;
}

Result<FannedOut> FanoutWriter::step(const FanOutStep& order) {
  POSTRIDER_TRY(const std::int64_t tenant, session_->tenants.number_of(order.tenant_id));
  FannedOut done;
  part_ = {};  // The last transaction may have been rolled back.
  std::size_t bytes = 0;
  for (std::uint64_t used = 0; used < order.limit && bytes <= fan_out_bytes_max;) {
    POSTRIDER_TRY(std::optional<Note> note, first_note(tenant));
    if (!note) {
      done.finished = true;
      break;
    }
    const std::int64_t remaining = note->remaining;
    FanOutStep rest = order;
    rest.limit = static_cast<std::uint32_t>(order.limit - used);
    POSTRIDER_CHECK(advance(*note, rest, done));
    used += static_cast<std::uint64_t>(remaining - note->remaining);
    bytes += done.parts.back().event.data.size();
  }
  if (done.finished) {
    Query any = any_note_.query();
    POSTRIDER_TRY(may_have_notes_, any.next());
  }
  return done;
}

/// Makes deliveries of one event.
Result<void> FanoutWriter::advance(Note& note, const FanOutStep& order, FannedOut& done) {
  FannedOut::Part& part = done.parts.emplace_back();
  {
    Query query = load_event_.query(note.event);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::corrupt, "An event that is being fanned out is missing.");
    }
    part.event = read_event(query);
  }
  for (std::uint32_t used = 0; used < order.limit && note.remaining > 0; ++note.place) {
    const auto place = static_cast<std::size_t>(note.place);
    const bool ended = !note.chosen.empty() && place / 8 >= note.chosen.size();
    if (!ended && !is_chosen(note.chosen, place)) {
      continue;
    }
    POSTRIDER_TRY(const std::optional<WebhookId> webhook_id, webhook_at(note.list, note.place));
    if (ended || !webhook_id) {
      return fail(Errc::corrupt, "A list of webhooks to fan out to is incomplete.");
    }
    ++used;
    --note.remaining;
    if (!order.exists(*webhook_id)) {
      ++done.left_out;
      continue;
    }
    POSTRIDER_TRY(Delivery delivery, make_delivery(part, note, *webhook_id, order));
    part.deliveries.push_back(std::move(delivery));
  }
  return save(note);
}

Result<Delivery> FanoutWriter::make_delivery(const FannedOut::Part& part, const Note& note,
                                             WebhookId webhook_id, const FanOutStep& order) {
  const std::int64_t tenant = note.tenant;
  // The clock may have been set back since the event was published.
  const WallTime due = std::min(note.due, order.due_max);
  Delivery delivery = new_delivery(part.event, webhook_id, order.new_id(), due);
  delivery.sequence = session_->next_sequence++;
  POSTRIDER_TRY(const std::int64_t type, session_->types.number_of(delivery.event_type));
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find_or_add(webhook_id, tenant));
  const std::string trace = stored::pack_mark(delivery.trace);
  POSTRIDER_CHECK(insert_delivery_.run(delivery.sequence, delivery.id, note.event, lane->lane,
                                       lane->last_delivery, lane->ordered, tenant, type,
                                       delivery.priority, delivery.state, delivery.trigger,
                                       delivery.due, order.now, blob_or_null(trace)));
  lane->last_delivery = delivery.sequence;
  POSTRIDER_TRY(DeliveryTally * of_lane, session_->stats.of_lane(*lane, tenant, order.now));
  of_lane->published += 1;
  of_lane->deliveries += 1;
  POSTRIDER_TRY(DeliveryTally * of_tenant, session_->stats.of_tenant(tenant, order.now));
  of_tenant->deliveries += 1;
  session_->lanes.mark_changed(*lane);
  return delivery;
}

Result<void> FanoutWriter::save(const Note& note) {
  if (note.remaining > 0) {
    return update_note_.run(note.event, note.place, note.remaining);
  }
  POSTRIDER_CHECK(delete_note_.run(note.event));
  return delete_list_.run(note.list);
}

Result<std::optional<FanoutWriter::Note>> FanoutWriter::first_note(std::int64_t tenant) {
  Query query = first_note_.query(tenant);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return Note{.tenant = tenant,
              .event = query.integer(0),
              .list = query.integer(1),
              .place = query.integer(2),
              .remaining = query.integer(3),
              .due = query.time(4),
              .chosen = std::string{query.bytes(5)}};
}

/// Returns nullopt if the list ends before.
Result<std::optional<WebhookId>> FanoutWriter::webhook_at(std::int64_t list, std::int64_t place) {
  const std::int64_t number = place / ids_per_part;
  if (part_.list != list || part_.number != number) {
    Query query = find_part_.query(list, number);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return std::nullopt;
    }
    part_ = {.list = list, .number = number, .webhooks = std::string{query.bytes(0)}};
  }
  const auto index = static_cast<std::size_t>(place % ids_per_part);
  return index < part_.webhooks.size() / id_bytes ? std::optional{id_at(part_.webhooks, index)}
                                                  : std::nullopt;
}

Result<std::map<TenantId, std::uint64_t>> FanoutWriter::open_fanouts() {
  std::map<TenantId, std::uint64_t> open;
  Query query = open_fanouts_.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      may_have_notes_ = !open.empty();
      return open;
    }
    open.emplace(query.text(0), static_cast<std::uint64_t>(query.integer(1)));
  }
}

Result<bool> FanoutWriter::will_reach(std::int64_t event, WebhookId webhook_id) {
  if (!may_have_notes_) {
    return false;
  }
  part_ = {};  // The last transaction may have been rolled back.
  std::int64_t list = 0;
  std::int64_t place = 0;
  std::string chosen;
  {
    Query query = find_note_.query(event);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return false;
    }
    list = query.integer(1);
    place = query.integer(2);
    chosen = query.bytes(5);
  }
  // The ids are in order.
  for (;; place = (place / ids_per_part + 1) * ids_per_part) {
    POSTRIDER_TRY(std::optional<WebhookId> first, webhook_at(list, place));
    if (!first || *first > webhook_id) {
      return false;
    }
    const auto count = static_cast<std::int64_t>(part_.webhooks.size() / id_bytes);
    for (std::int64_t index = place % ids_per_part; index < count; ++index) {
      if (id_at(part_.webhooks, static_cast<std::size_t>(index)) == webhook_id) {
        return is_chosen(chosen,
                         static_cast<std::size_t>(place / ids_per_part * ids_per_part + index));
      }
    }
  }
}

}  // namespace postrider::sqlite
