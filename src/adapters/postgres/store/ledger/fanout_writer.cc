#include "adapters/postgres/store/ledger/fanout_writer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/postgres/store/ledger/fanout_lists.h"
#include "adapters/postgres/store/ledger/new_deliveries.h"
#include "adapters/postgres/store/ledger/rows.h"
#include "adapters/postgres/store/ledger/sequences.h"
#include "adapters/postgres/store/ledger/stats_changes.h"
#include "adapters/postgres/store/peers/handoff.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {
namespace {

// A tenant that publishes in order may have many small notes.
constexpr std::int64_t notes_per_read = 64;

constexpr std::string_view read_notes_sql = R"sql(
  SELECT f.event, f.event_id, f.list, f.place, f.remaining, f.due, f.chosen,
         (SELECT octet_length(e.data) FROM event e WHERE e.id = f.event_id)
    FROM fanout f WHERE f.tenant_id = $1 ORDER BY f.event LIMIT $2 FOR UPDATE OF f
)sql";

constexpr std::string_view read_events_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS
    " FROM (SELECT unnest($1::uuid[]) AS id) k JOIN event e ON e.id = k.id";

constexpr std::string_view update_sql = R"sql(
  UPDATE fanout f SET place = s.place, remaining = s.remaining
    FROM (SELECT unnest($1::bigint[]) AS event, unnest($2::bigint[]) AS place,
                 unnest($3::bigint[]) AS remaining) s
   WHERE f.event = s.event
)sql";

constexpr std::string_view remove_sql = "DELETE FROM fanout WHERE event = ANY ($1::bigint[])";

constexpr std::string_view remove_lists_sql = R"sql(
  DELETE FROM fanout_list l USING (SELECT DISTINCT unnest($1::bigint[]) AS list) s
   WHERE l.list = s.list AND NOT EXISTS (SELECT 1 FROM fanout f WHERE f.list = s.list)
)sql";

constexpr std::string_view open_sql =
    "SELECT tenant_id, CAST(sum(remaining) AS bigint) FROM fanout GROUP BY tenant_id";

using Events = std::map<EventId, Event>;

struct Note {
  std::int64_t event = 0;  // The sequence.
  EventId event_id;
  std::int64_t list = 0;
  std::int64_t place = 0;
  std::int64_t remaining = 0;
  WallTime due;
  std::string chosen;
  std::size_t data_bytes = 0;
};

Note read_note(const Rows& rows, int row) {
  return {.event = rows.integer(row, 0),
          .event_id = rows.id<EventId>(row, 1),
          .list = rows.integer(row, 2),
          .place = rows.integer(row, 3),
          .remaining = rows.integer(row, 4),
          .due = rows.time(row, 5),
          .chosen = rows.blob(row, 6),
          .data_bytes = rows.as<std::size_t>(row, 7)};
}

/// One step: the notes that were read, and what is made from them.
class Step {
 public:
  Step(Session& session, const FanOutStep& order, FannedOut& done)
      : session_(session), order_(order), done_(done) {}

  /// Makes deliveries until the step is full or the tenant has no note left.
  Result<void> run() {
    while (!is_full() && !done_.finished) {
      POSTRIDER_TRY(const std::vector<Note> notes, read_notes());
      POSTRIDER_TRY(Events events, read_events(notes));
      for (const Note& note : notes) {
        POSTRIDER_CHECK(advance(note, events));
      }
      queue_notes();
    }
    return {};
  }

  void add_to(JoinedStatement& joined, StatsWriter& stats) {
    std::move(deliveries_).add_to(joined);
    stats.add_to(joined, stats_);
  }

 private:
  [[nodiscard]] bool is_full() const { return used_ >= order_.limit || bytes_ > fan_out_bytes_max; }

  /// The notes that this step works on, with the parts of their lists that it may need.
  Result<std::vector<Note>> read_notes() {
    const std::size_t answer =
        session_.queue(read_notes_sql, Parameters::of(order_.tenant_id, notes_per_read));
    std::optional<std::size_t> blocks;
    if (!has_sequences_) {
      blocks = Sequences::queue(session_, order_.limit);
    }
    POSTRIDER_TRY(const std::vector<Rows> answers, session_.exchange());
    if (blocks) {
      sequences_ = Sequences{answers[*blocks]};
      has_sequences_ = true;
    }
    const Rows& rows = answers[answer];
    std::vector<Note> notes;
    std::int64_t count = 0;
    for (int row = 0; row < rows.count(); ++row) {
      if (used_ + static_cast<std::uint64_t>(count) >= order_.limit || bytes_ > fan_out_bytes_max) {
        return notes;
      }
      notes.push_back(read_note(rows, row));
      count += notes.back().remaining;
      bytes_ += notes.back().data_bytes;
    }
    done_.finished =
        rows.count() < notes_per_read && used_ + static_cast<std::uint64_t>(count) <= order_.limit;
    return notes;
  }

  Result<Events> read_events(const std::vector<Note>& notes) {
    Events events;
    if (notes.empty()) {
      return events;
    }
    Array ids{ElementType::uuid};
    for (const Note& note : notes) {
      ids.add(note.event_id);
      lists_.want(note.list, note.place / webhooks_per_part);
    }
    const std::size_t answer = session_.queue(read_events_sql, Parameters::of(std::move(ids)));
    const std::optional<std::size_t> parts = lists_.queue_read(session_);
    POSTRIDER_TRY(const std::vector<Rows> answers, session_.exchange());
    for (int row = 0; row < answers[answer].count(); ++row) {
      Event event = read_event(answers[answer], row);
      const EventId id = event.id;
      events.emplace(id, std::move(event));
    }
    if (parts) {
      lists_.take(answers[*parts]);
    }
    return events;
  }

  /// Makes deliveries of one event.
  Result<void> advance(Note note, Events& events) {
    const auto event = events.find(note.event_id);
    if (event == events.end()) {
      return fail(Errc::corrupt, "An event that is being fanned out is missing.");
    }
    FannedOut::Part& part = done_.parts.emplace_back();
    part.event = std::move(event->second);
    for (; used_ < order_.limit && note.remaining > 0; ++note.place) {
      const auto place = static_cast<std::size_t>(note.place);
      const bool ended = !note.chosen.empty() && place / 8 >= note.chosen.size();
      if (!ended && !is_chosen(note.chosen, place)) {
        continue;
      }
      POSTRIDER_TRY(const std::optional<WebhookId> webhook_id, webhook_at(note.list, note.place));
      if (ended || !webhook_id) {
        return fail(Errc::corrupt, "A list of webhooks to fan out to is incomplete.");
      }
      ++used_;
      --note.remaining;
      if (order_.exists(*webhook_id)) {
        part.deliveries.push_back(make_delivery(part.event, *webhook_id, note.due));
      } else {
        ++done_.left_out;
      }
    }
    if (note.remaining > 0) {
      events_.add(note.event);
      places_.add(note.place);
      remaining_.add(note.remaining);
    } else {
      removed_.add(note.event);
      removed_lists_.add(note.list);
    }
    return {};
  }

  /// Reads the part of the list if it was not read.
  Result<std::optional<WebhookId>> webhook_at(std::int64_t list, std::int64_t place) {
    lists_.want(list, place / webhooks_per_part);
    if (const std::optional<std::size_t> answer = lists_.queue_read(session_)) {
      POSTRIDER_TRY(const std::vector<Rows> answers, session_.exchange());
      lists_.take(answers[*answer]);
    }
    return lists_.webhook_at(list, place);
  }

  Delivery make_delivery(const Event& event, WebhookId webhook_id, WallTime note_due) {
    // The clock may have been set back since the event was published.
    const WallTime due = std::min(note_due, order_.due_max);
    Delivery delivery = new_delivery(event, webhook_id, order_.new_id(), due);
    delivery.sequence = sequences_.next();
    deliveries_.add(delivery, {.tenant_id = event.tenant_id, .now = order_.now, .late = true});
    DeliveryTally& tally = stats_.of_webhook(webhook_id, event.tenant_id, order_.now).tally;
    tally.published += 1;
    tally.deliveries += 1;
    stats_.of_tenant(event.tenant_id, order_.now).deliveries += 1;
    return delivery;
  }

  /// The next read of notes must not see those that are finished.
  void queue_notes() {
    if (events_.size() > 0) {
      session_.queue(update_sql, Parameters::of(events_, places_, remaining_));
    }
    if (removed_.size() > 0) {
      session_.queue(remove_sql, Parameters::of(removed_));
      session_.queue(remove_lists_sql, Parameters::of(removed_lists_));
    }
    for (Array* array : {&events_, &places_, &remaining_, &removed_, &removed_lists_}) {
      array->clear();
    }
  }

  Session& session_;
  const FanOutStep& order_;
  FannedOut& done_;
  Sequences sequences_;
  bool has_sequences_ = false;
  std::uint64_t used_ = 0;  // Webhooks that got a delivery or were left out.
  std::size_t bytes_ = 0;   // Of the events' data.
  FanoutLists lists_;
  NewDeliveries deliveries_;
  StatsChanges stats_;
  Array events_{ElementType::int8};  // Of notes to update.
  Array places_{ElementType::int8};
  Array remaining_{ElementType::int8};
  Array removed_{ElementType::int8};  // Events of notes to remove.
  Array removed_lists_{ElementType::int8};
};

/// Hands over the deliveries that were made for webhooks of other nodes.
Result<void> hand_over(const FanOutParts& parts, FannedOut& done, JoinedStatement& joined) {
  if (!parts.held.has_joined()) {
    return {};
  }
  Session& session = parts.writer.session();
  ShardFence fence{parts.held};
  for (const FannedOut::Part& part : done.parts) {
    for (const Delivery& delivery : part.deliveries) {
      fence.add(shard_of(delivery.webhook_id));
    }
  }
  POSTRIDER_CHECK(fence.check(session));
  Handoff handoff{parts.held, fence};
  for (const FannedOut::Part& part : done.parts) {
    for (const Delivery& delivery : part.deliveries) {
      handoff.add(delivery, part.event.tenant_id);
    }
  }
  done.handed_over = !handoff.empty();
  std::move(handoff).add_to(joined);
  return {};
}

}  // namespace

Result<FannedOut> fan_out(const FanOutParts& parts, const FanOutStep& order) {
  FannedOut done;
  Step step{parts.writer.session(), order, done};
  POSTRIDER_CHECK(step.run());
  JoinedStatement joined;
  step.add_to(joined, parts.stats);
  POSTRIDER_CHECK(hand_over(parts, done, joined));
  parts.writer.add_mark(joined);
  std::move(joined).queue(parts.writer.session());
  POSTRIDER_CHECK(parts.writer.exchange_and_commit());
  return done;
}

Result<std::map<TenantId, std::uint64_t>> read_open_fanouts(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(open_sql));
  std::map<TenantId, std::uint64_t> open;
  for (int row = 0; row < rows.count(); ++row) {
    open.emplace(rows.text(row, 0), rows.as<std::uint64_t>(row, 1));
  }
  return open;
}

}  // namespace postrider::postgres
