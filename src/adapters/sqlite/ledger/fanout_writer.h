// Stores the notes of events that go to many webhooks, and makes their deliveries step by step.
// Store thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session.
class FanoutWriter {
 public:
  [[nodiscard]] static Result<FanoutWriter> open(Writer::Session& session);

  /// Whether the deliveries of the publish must be made from a note. Costs nothing if there is no
  /// note and the publish has no fanout.
  [[nodiscard]] Result<bool> needs_note(const Publish& publish, std::int64_t tenant);

  /// Stores the note of an event. Call within a transaction. Returns the number of deliveries.
  /// Publishes of one transaction share their lists.
  [[nodiscard]] Result<std::uint32_t> add(const Publish& publish, std::int64_t event,
                                          std::int64_t tenant);
  /// Call before the first `add` of a transaction.
  void begin() { stored_lists_.clear(); }

  /// See Ledger::fan_out. Call within a transaction.
  [[nodiscard]] Result<FannedOut> step(const FanOutStep& order);

  [[nodiscard]] Result<std::map<TenantId, std::uint64_t>> open_fanouts();

  /// Whether the event has a note from which a delivery to this webhook will be made.
  [[nodiscard]] Result<bool> will_reach(std::int64_t event, WebhookId webhook_id);

 private:
  struct Note {
    std::int64_t tenant = 0;
    std::int64_t event = 0;
    std::int64_t list = 0;
    std::int64_t place = 0;
    std::int64_t remaining = 0;
    WallTime due;
    std::string chosen;
  };
  /// One part of a list of webhooks.
  struct Part {
    std::int64_t list = 0;
    std::int64_t number = -1;
    std::string webhooks;
  };

  explicit FanoutWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<std::int64_t> store_list(const std::vector<WebhookId>& webhooks);
  [[nodiscard]] Result<std::optional<Note>> first_note(std::int64_t tenant);
  [[nodiscard]] Result<std::optional<WebhookId>> webhook_at(std::int64_t list, std::int64_t place);
  [[nodiscard]] Result<void> advance(Note& note, const FanOutStep& order, FannedOut& done);
  [[nodiscard]] Result<Delivery> make_delivery(const FannedOut::Part& part, const Note& note,
                                               WebhookId webhook_id, const FanOutStep& order);
  [[nodiscard]] Result<void> save(const Note& note);

  Writer::Session* session_;
  Statement insert_note_;
  Statement find_tenant_note_;
  Statement find_note_;
  Statement first_note_;
  Statement update_note_;
  Statement delete_note_;
  Statement last_list_;
  Statement insert_part_;
  Statement find_part_;
  Statement delete_list_;
  Statement load_event_;
  Statement insert_delivery_;
  Statement open_fanouts_;
  Statement any_note_;
  bool may_have_notes_ = true;  // False: there is no note at all.
  Part part_;                   // The one that was read last.
  std::map<const std::vector<WebhookId>*, std::int64_t> stored_lists_;  // Of this transaction.
};

}  // namespace postrider::sqlite
