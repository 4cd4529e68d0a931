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
#include "runtime/store/outdated_publish.h"

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
  if (std::holds_alternative<Accepted>(receipt)) {
    return RecordStored{.event_id = id, .duplicate = false};
  }
  return RecordDeferred{};
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

/// Messages that are published in one transaction.
struct Part {
  std::vector<std::size_t> places;  // Among the messages, of each draft.
  std::vector<EventDraft> drafts;
  std::size_t bytes = 0;
};

/// The messages of one call and what became of them.
struct Call {
  const std::vector<SourceRecord>& records;
  std::vector<RecordOutcome> outcomes;
  bool is_current = false;  // The snapshots were brought up to date for this call.
};

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
  [[nodiscard]] Parsed<WebhookId> find_or_add_target(const Context& context, const TargetKey& key,
                                                     const SourceTarget& target);
  /// Reads a refused message once more after catching up, because another server may have changed
  /// the catalogue.
  [[nodiscard]] Draft read_current(Call& call, std::size_t place);
  void add(Part& part, Call& call, std::size_t place);
  [[nodiscard]] Parsed<std::vector<PublishReceipt>> store(const Context& context,
                                                          std::vector<EventDraft> drafts);
  void flush(Part part, Call& call);
  void catch_up();

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

Awaitable<Parsed<bool>> wait_for_others(SharedStore& store) {
  auto catching_up = store.catch_up();
  co_await std::move(catching_up);
  co_return true;
}

void Intake::catch_up() {
  if (service_.is_shared()) {
    (void)run_on(io_, wait_for_others(service_));  // If it fails, the next step does too.
  }
}

Parsed<WebhookId> Intake::find_or_add_target(const Context& context, const TargetKey& key,
                                             const SourceTarget& target) {
  if (const std::optional<WebhookId> known = targets_.find(context, key)) {
    return *known;
  }
  catch_up();
  if (const std::optional<WebhookId> known = targets_.find(context, key)) {
    return *known;
  }
  POSTRIDER_TRY(const WebhookId added,
                run_on(io_, add_target(context, options_.source, key, target)));
  targets_.remember(key, added);
  return added;
}

Parsed<void> Intake::choose_target(const Context& context, const SourceRecord& record,
                                   EventDraft& draft) {
  if (!record.target) {
    return {};
  }
  const TargetKey key = target_key(*context.options->crypto, draft.event.tenant_id, *record.target,
                                   options_.store_id);
  POSTRIDER_TRY(draft.only_to, find_or_add_target(context, key, *record.target));
  return {};
}

Draft Intake::read_current(Call& call, std::size_t place) {
  const SourceRecord& record = call.records[place];
  Draft draft = read(context(), record);
  if (!draft && is_due_to_catalog(draft.error()) && !std::exchange(call.is_current, true)) {
    catch_up();
    draft = read(context(), record);
  }
  return draft;
}

void Intake::add(Part& part, Call& call, std::size_t place) {
  Draft draft = read_current(call, place);
  if (draft) {
    if (const Parsed<void> chosen = choose_target(context(), call.records[place], *draft);
        !chosen) {
      draft = tl::make_unexpected(chosen.error());
    }
  }
  if (!draft) {
    call.outcomes[place] = outcome_of(draft.error());
    return;
  }
  part.bytes += draft->event.data.size();
  part.drafts.push_back(*std::move(draft));
  part.places.push_back(place);
}

/// Reads the messages again while the catalogue keeps changing. After too many tries they stay
/// deferred.
void Intake::flush(Part part, Call& call) {
  for (int tries = 0; tries < publish_tries_max && !part.drafts.empty(); ++tries) {
    std::vector<EventId> ids;
    ids.reserve(part.drafts.size());
    for (const EventDraft& draft : part.drafts) {
      ids.push_back(draft.event.id);
    }
    const Parsed<std::vector<PublishReceipt>> receipts = store(context(), std::move(part.drafts));
    if (receipts || !is_outdated(receipts.error())) {
      for (std::size_t index = 0; index < ids.size(); ++index) {
        call.outcomes[part.places[index]] =
            receipts ? outcome_of(ids[index], (*receipts)[index]) : outcome_of(receipts.error());
      }
      return;
    }
    call.is_current = true;
    const std::vector<std::size_t> places = std::exchange(part, {}).places;
    for (const std::size_t place : places) {
      add(part, call, place);
    }
  }
}

std::vector<RecordOutcome> Intake::publish(const std::vector<SourceRecord>& records) {
  Call call{.records = records, .outcomes = {records.size(), RecordDeferred{}}};
  Part part;
  for (std::size_t place = 0; place < records.size(); ++place) {
    add(part, call, place);
    if (part.bytes >= publish_bytes_max) {
      flush(std::exchange(part, {}), call);
    }
  }
  flush(std::move(part), call);
  return std::move(call.outcomes);
}

}  // namespace

std::unique_ptr<SourceIntake> make_source_intake(boost::asio::io_context& io, Service& service,
                                                 std::shared_ptr<const ApiControl> control,
                                                 SourceIntakeOptions options) {
  return std::make_unique<Intake>(io, service, std::move(control), std::move(options));
}

}  // namespace postrider::api
