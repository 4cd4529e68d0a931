#include "api/resources/source_intake.h"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "core/json/json_text.h"

#include "api/json/event_json.h"
#include "api/resources/answers.h"
#include "api/resources/event_type_gate.h"
#include "api/resources/publishing.h"
#include "api/resources/source_targets.h"

namespace postrider::api {
namespace {

// Bounds what one transaction and its queue hold.
constexpr std::size_t publish_bytes_max = std::size_t{4} << 20;
constexpr std::size_t reason_bytes_max = 1'000;

bool is_temporary(const Problem& problem) { return problem.status == 429 || problem.status >= 500; }

/// All errors, since nobody can look at `errors`.
std::string reason_of(const Problem& problem) {
  if (problem.errors.size() < 2) {
    return problem.detail;
  }
  std::string reason;
  for (const FieldError& error : problem.errors) {
    if (reason.size() < reason_bytes_max) {
      reason += fmt::format("{}`{}` {}", reason.empty() ? "" : " ", error.field, error.message);
    }
  }
  return reason;
}

RecordOutcome outcome_of(const Problem& problem) {
  if (is_temporary(problem)) {
    return RecordDeferred{};
  }
  return RecordRejected{reason_of(problem)};
}

RecordOutcome outcome_of(EventId id, const PublishReceipt& receipt) {
  if (const auto* duplicate = std::get_if<Duplicate>(&receipt)) {
    if (duplicate->same_body) {
      return RecordStored{.event_id = duplicate->first_id, .duplicate = true};
    }
    return RecordRejected{fmt::format("The idempotency key was used for {} with another body.",
                                      duplicate->first_id.to_string())};
  }
  return RecordStored{.event_id = id, .duplicate = false};
}

/// One message: the event to publish, or what is wrong with it.
using Draft = Parsed<EventDraft>;

Draft refuse(std::string reason) {
  return tl::make_unexpected(
      Problem{.status = 422, .code = {}, .title = {}, .detail = std::move(reason), .errors = {}});
}

/// The id that the event has in its source, and the row that its status is written to.
void add_origin(EventDraft& draft, const SourceRecord& record, const SourceIntakeOptions& options) {
  const std::string& prefix = options.mapping.key_prefix;
  if (draft.claim && draft.claim->key.starts_with(prefix)) {
    draft.event.source_id = draft.claim->key.substr(prefix.size());
  }
  if (record.row) {
    draft.event.source_id = record.row->id;
    draft.row = SourceRow{
        .source = options.source, .row_id = record.row->id, .generation = record.row->generation};
  }
}

class Intake final : public SourceIntake {
 public:
  Intake(boost::asio::io_context& io, Service& service, std::shared_ptr<const ApiControl> control,
         SourceIntakeOptions options)
      : io_(io), service_(service), control_(std::move(control)), options_(std::move(options)) {
    timeless_mapping_.fields.erase("timestamp");
  }

  std::vector<RecordOutcome> publish(const std::vector<SourceRecord>& records) override;

 private:
  [[nodiscard]] Context context() const {
    return {.services = Services{service_},
            .options = control_->options(),
            .caller = {},
            .restricted = nullptr,
            .shares = &control_->shares()};
  }
  /// On the source's thread, to keep io threads free.
  [[nodiscard]] Draft read(const Context& context, const SourceRecord& record) const;
  /// Chooses the webhook of a message that names its receiver.
  [[nodiscard]] Parsed<void> choose_target(const Context& context, const SourceRecord& record,
                                           EventDraft& draft);
  [[nodiscard]] Parsed<std::vector<PublishReceipt>> store(const Context& context,
                                                          std::vector<EventDraft> drafts);
  void flush(const Context& context, std::vector<EventDraft>& drafts,
             const std::vector<std::size_t>& places, std::vector<RecordOutcome>& outcomes);

  boost::asio::io_context& io_;
  Service& service_;
  std::shared_ptr<const ApiControl> control_;
  SourceIntakeOptions options_;
  FieldMapping timeless_mapping_ = options_.mapping;
  SourceTargets targets_;
};

Draft Intake::read(const Context& context, const SourceRecord& record) const {
  const Result<std::string> json = event_json(record, options_.mapping);
  if (!json) {
    return refuse(json.error().message);
  }
  Result<std::vector<JsonMember>> members = read_json_envelope(*json);
  if (!members) {
    return refuse(members.error().message);
  }
  const EventArrival arrival{.text = *json,
                             .path = {},
                             .key = std::nullopt,
                             .id = EventId{context.services.ids.new_uuid()},
                             .now = context.services.clock.now().wall,
                             .tenant_id = std::nullopt,
                             .trace = trace_of(record, options_.mapping)};
  POSTRIDER_TRY(EventDraft draft, read_event(*std::move(members), arrival, *context.options));
  // Each message has a budget of its own, unlike the events of a request.
  POSTRIDER_CHECK(EventTypeGate(context).check(draft.event, arrival.path));
  POSTRIDER_CHECK(check_tenant_known(context, draft.event.tenant_id));
  POSTRIDER_CHECK(check_not_suspended(context.services.snapshots, draft.event.tenant_id));
  if (draft.claim) {
    // Who writes a message again, with the same key, does it at another time.
    const Result<std::string> body = event_json(record, timeless_mapping_);
    draft.claim->body_digest = context.options->crypto->sha256(body.value_or(*json));
  }
  add_origin(draft, record, options_);
  return draft;
}

/// Waits for the io thread. Fails with 503 if that has ended.
template <class Value>
Parsed<Value> run_on(boost::asio::io_context& io, Awaitable<Parsed<Value>> work) {
  try {
    return boost::asio::co_spawn(io, std::move(work), boost::asio::use_future).get();
  } catch (const std::exception&) {
    return tl::make_unexpected(
        to_problem(Error{Errc::unavailable, "The server has been stopped."}));
  }
}

Parsed<std::vector<PublishReceipt>> Intake::store(const Context& context,
                                                  std::vector<EventDraft> drafts) {
  return run_on(io_, publish_drafts(context, std::move(drafts), /*all_or_nothing=*/false));
}

Parsed<void> Intake::choose_target(const Context& context, const SourceRecord& record,
                                   EventDraft& draft) {
  if (!record.target) {
    return {};
  }
  const TargetKey key = target_key(*context.options->crypto, draft.event.tenant_id, *record.target,
                                   options_.store_id);
  draft.only_to = targets_.find(context, key);
  if (!draft.only_to) {
    POSTRIDER_TRY(const WebhookId added,
                  run_on(io_, add_target(context, options_.source, key, *record.target)));
    draft.only_to = added;
    targets_.remember(key, added);
  }
  return {};
}

void Intake::flush(const Context& context, std::vector<EventDraft>& drafts,
                   const std::vector<std::size_t>& places, std::vector<RecordOutcome>& outcomes) {
  std::vector<EventId> ids;
  ids.reserve(drafts.size());
  for (const EventDraft& draft : drafts) {
    ids.push_back(draft.event.id);
  }
  const Parsed<std::vector<PublishReceipt>> receipts = store(context, std::move(drafts));
  for (std::size_t index = 0; index < places.size(); ++index) {
    outcomes[places[index]] =
        receipts ? outcome_of(ids[index], (*receipts)[index]) : outcome_of(receipts.error());
  }
  drafts.clear();
}

std::vector<RecordOutcome> Intake::publish(const std::vector<SourceRecord>& records) {
  const Context current = context();
  std::vector<RecordOutcome> outcomes(records.size(), RecordDeferred{});
  std::vector<EventDraft> drafts;
  std::vector<std::size_t> places;  // Of the drafts among the records.
  std::size_t bytes = 0;
  for (std::size_t index = 0; index < records.size(); ++index) {
    Draft draft = read(current, records[index]);
    if (draft) {
      if (const Parsed<void> chosen = choose_target(current, records[index], *draft); !chosen) {
        draft = tl::make_unexpected(chosen.error());
      }
    }
    if (!draft) {
      outcomes[index] = outcome_of(draft.error());
      continue;
    }
    bytes += draft->event.data.size();
    drafts.push_back(*std::move(draft));
    places.push_back(index);
    if (bytes >= publish_bytes_max) {
      flush(current, drafts, places, outcomes);
      places.clear();
      bytes = 0;
    }
  }
  if (!drafts.empty()) {
    flush(current, drafts, places, outcomes);
  }
  return outcomes;
}

}  // namespace

std::unique_ptr<SourceIntake> make_source_intake(boost::asio::io_context& io, Service& service,
                                                 std::shared_ptr<const ApiControl> control,
                                                 SourceIntakeOptions options) {
  return std::make_unique<Intake>(io, service, std::move(control), std::move(options));
}

}  // namespace postrider::api
