#include "engine/intake/intake.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/assert.h"
#include "core/model/event_match.h"

namespace postrider {
namespace {

constexpr std::size_t id_bytes = sizeof(WebhookId);

/// Compared with a webhook without a filter. Scanning the data of an event costs more: arrays of
/// short values take the longest, up to 25 ns per byte.
std::uint64_t effort_of(const Webhook& webhook, const Event& event) {
  constexpr std::uint64_t filter_effort = 10;
  constexpr std::uint64_t bytes_per_effort = 8;
  if (!webhook.filter || !webhook.active || !matches_type(webhook, event)) {
    return 1;  // The filter is not used.
  }
  const std::uint64_t bytes = event.data.size() + event.metadata.size();
  return 1 + filter_effort + bytes * webhook.filter->weight() / bytes_per_effort;
}

void choose(std::string& chosen, std::uint32_t place) {
  char& bits = chosen[place / 8];
  bits = static_cast<char>(static_cast<unsigned char>(bits) | (1u << (place % 8)));
}

template <class Visit>
void for_each_chosen(const std::string& chosen, std::size_t count, const Visit& visit) {
  for (std::size_t place = 0; place < count; ++place) {
    if (place % 8 == 0 && chosen[place / 8] == 0) {
      place += 7;
    } else if (is_chosen(chosen, place)) {
      visit(static_cast<std::uint32_t>(place));
    }
  }
}

using WebhookList = std::shared_ptr<const std::vector<WebhookId>>;

WebhookList list_all(const std::vector<WebhookRef>& webhooks) {
  auto list = std::make_shared<std::vector<WebhookId>>();
  list->reserve(webhooks.size());
  for (const WebhookRef& webhook : webhooks) {
    list->push_back(webhook->id);
  }
  return list;
}

WebhookList list_chosen(const std::vector<WebhookRef>& webhooks, const std::string& chosen) {
  auto list = std::make_shared<std::vector<WebhookId>>();
  for_each_chosen(chosen, webhooks.size(),
                  [&](std::uint32_t place) { list->push_back(webhooks[place]->id); });
  return list;
}

}  // namespace

PublishPlanner::PublishPlanner(std::shared_ptr<const Directory> directory,
                               std::vector<Publish> publishes, const FanoutLimits& limits)
    : directory_(std::move(directory)), publishes_(std::move(publishes)), limits_(limits) {
  matches_.reserve(publishes_.size());
}

bool PublishPlanner::begin(std::uint64_t effort_max) {
  return compare(effort_max, AtLeast::nothing);
}

bool PublishPlanner::advance(std::uint64_t effort_max) { return compare(effort_max, AtLeast::one); }

bool PublishPlanner::compare(std::uint64_t effort_max, AtLeast at_least) {
  std::uint64_t effort = 0;
  bool may_exceed = at_least == AtLeast::one;
  while (candidates_ || matches_.size() < publishes_.size()) {
    if (!candidates_) {
      begin_event();
    }
    const Event& event = publishes_[matches_.size() - 1].event;
    for (; next_candidate_ < candidates_->size(); ++next_candidate_) {
      const std::uint32_t place = candidates_->place(next_candidate_);
      effort += effort_of(*(*candidates_->webhooks)[place], event);
      if (effort > effort_max && !may_exceed) {
        return false;
      }
      may_exceed = false;
      examine(place);
    }
    end_event();
    ++effort;
  }
  return true;
}

void PublishPlanner::begin_event() {
  const Publish& publish = publishes_[matches_.size()];
  candidates_ = directory_->candidates(publish.event);
  next_candidate_ = 0;
  Match& match = matches_.emplace_back();
  match.webhooks = candidates_->webhooks;
  if (publish.only_to) {
    candidates_->places = {};
    choose_only(*publish.only_to, match);
    return;
  }
  if (candidates_->size() > limits_.event_max) {
    match.chosen.resize((candidates_->webhooks->size() + 7) / 8);
  }
}

/// Leaves out a webhook that was removed or belongs to another tenant. One that is not active keeps
/// the delivery waiting.
void PublishPlanner::choose_only(WebhookId id, Match& match) {
  if (match.webhooks == nullptr) {
    return;
  }
  const auto found = std::ranges::lower_bound(*match.webhooks, id, {},
                                              [](const WebhookRef& each) { return each->id; });
  if (found == match.webhooks->end() || (*found)->id != id) {
    return;
  }
  match.places.push_back(static_cast<std::uint32_t>(found - match.webhooks->begin()));
  match.count = 1;
  match.ordered = (*found)->ordering != Ordering::none;
}

void PublishPlanner::examine(std::uint32_t place) {
  Match& match = matches_.back();
  const Webhook& webhook = *(*candidates_->webhooks)[place];
  if (!wants(webhook, publishes_[matches_.size() - 1].event)) {
    return;
  }
  ++match.count;
  match.ordered = match.ordered || webhook.ordering != Ordering::none;
  if (match.chosen.empty()) {
    match.places.push_back(place);
  } else {
    choose(match.chosen, place);
  }
}

void PublishPlanner::end_event() {
  std::ranges::sort(matches_.back().places);
  candidates_.reset();
}

std::vector<Publish> PublishPlanner::finish(UuidGenerator& ids, WallTime due) && {
  POSTRIDER_ASSERT(matches_.size() == publishes_.size() && !candidates_);
  std::uint64_t made = 0;
  std::map<TenantId, std::vector<std::size_t>> fanned_out;
  for (std::size_t i = 0; i < publishes_.size(); ++i) {
    const Match& match = matches_[i];
    publishes_[i].ordered = match.ordered;
    if (match.count <= limits_.event_max && made + match.count <= limits_.request_max) {
      made += match.count;
      add_deliveries(publishes_[i], match, ids, due);
    } else {
      fanned_out[publishes_[i].event.tenant_id].push_back(i);
    }
  }
  for (const auto& [tenant_id, of_tenant] : fanned_out) {
    add_fanouts(of_tenant, due);
  }
  return std::move(publishes_);
}

void PublishPlanner::add_deliveries(Publish& publish, const Match& match, UuidGenerator& ids,
                                    WallTime due) {
  if (match.count == 0) {
    return;
  }
  const Event& event = publish.event;
  const std::vector<WebhookRef>& webhooks = *match.webhooks;
  publish.deliveries.reserve(match.count);
  const auto add = [&](std::uint32_t place) {
    publish.deliveries.push_back(
        new_delivery(event, webhooks[place]->id, ids.make<DeliveryId>(event.created_at), due));
  };
  std::ranges::for_each(match.places, add);
  if (!match.chosen.empty()) {
    for_each_chosen(match.chosen, webhooks.size(), add);
  }
}

/// Either every event has its own list of webhooks, which equal neighbours share, or all events
/// share the list of all webhooks and have a bit for each: whichever is smaller.
void PublishPlanner::add_fanouts(const std::vector<std::size_t>& fanned_out, WallTime due) {
  const std::vector<WebhookRef>& webhooks = *matches_[fanned_out.front()].webhooks;
  for (const std::size_t i : fanned_out) {
    Match& match = matches_[i];
    if (match.chosen.empty()) {
      match.chosen.resize((webhooks.size() + 7) / 8);
      for (const std::uint32_t place : match.places) {
        choose(match.chosen, place);
      }
    }
  }
  std::size_t own_bytes = 0;
  for (std::size_t n = 0; n < fanned_out.size(); ++n) {
    const Match& match = matches_[fanned_out[n]];
    const bool same = n > 0 && matches_[fanned_out[n - 1]].chosen == match.chosen;
    own_bytes += same ? 0 : match.count * id_bytes;
  }
  const std::size_t shared_bytes =
      webhooks.size() * id_bytes + fanned_out.size() * (webhooks.size() / 8);
  const bool share = shared_bytes < own_bytes;
  WebhookList list = share ? list_all(webhooks) : nullptr;
  const std::string* listed = nullptr;  // The choice that `list` has.
  for (const std::size_t i : fanned_out) {
    Match& match = matches_[i];
    if (!share && (!listed || *listed != match.chosen)) {
      list = list_chosen(webhooks, match.chosen);
      listed = &match.chosen;
    }
    publishes_[i].fanout = Fanout{.webhooks = list,
                                  .chosen = share ? std::move(match.chosen) : std::string{},
                                  .count = match.count,
                                  .due = due};
  }
}

}  // namespace postrider
