#include "runtime/sources/row_changes.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/assert.h"

namespace postrider {

RowChanges::RowChanges(const std::vector<std::string>& sources, const RowChangeOptions& options)
    : options_(options), tracks_all_(!options.is_shared) {
  for (const std::string& name : sources) {
    sources_.push_back({.name = name, .changed = {}});
  }
}

RowChanges::Source& RowChanges::find(std::string_view name) {
  const auto found = std::ranges::find(sources_, name, &Source::name);
  POSTRIDER_ASSERT(found != sources_.end());
  return *found;
}

void RowChanges::track_one(EventId event) {
  if (!options_.is_shared && tracked_.size() < options_.tracked_max) {
    tracked_.insert(event);
  } else {
    tracks_all_ = false;
  }
}

bool RowChanges::may_be_tracked(EventId event) const {
  // While a source is examined, its rows are not all tracked yet.
  return !tracks_all_ || tracked_.contains(event) ||
         std::ranges::any_of(sources_, [](const Source& source) {
           return source.examine_all || source.is_examining;
         });
}

void RowChanges::change(Source& source, EventId event) {
  if (source.examine_all) {
    return;
  }
  if (source.changed.size() >= options_.changed_max) {
    source.changed.clear();
    source.examine_all = true;
    return;
  }
  source.changed.push_back(event);
}

void RowChanges::change_in_all(EventId event) {
  for (Source& source : sources_) {
    change(source, event);
  }
}

/// A row that is under way has a status to be written only if nothing will be attempted, or if it
/// was offered before.
void RowChanges::add_publishes(const Batch& batch, const BatchReceipt& receipt) {
  for (std::size_t i = 0; i < batch.publishes.size(); ++i) {
    const Publish& publish = batch.publishes[i];
    if (!publish.row) {
      continue;
    }
    if (const Accepted* accepted = std::get_if<Accepted>(&receipt.publishes[i])) {
      track_one(publish.event.id);
      if (accepted->deliveries.empty() && accepted->fanned_out == 0) {
        change_in_all(publish.event.id);
      }
    } else if (const Duplicate* duplicate = std::get_if<Duplicate>(&receipt.publishes[i])) {
      track_one(duplicate->first_id);
      change_in_all(duplicate->first_id);
    }
  }
}

void RowChanges::committed(const Batch& batch, const BatchReceipt& receipt) {
  bool has_news = false;
  {
    const std::lock_guard lock{mutex_};
    add_publishes(batch, receipt);
    for (const Settlement& settlement : batch.settlements) {
      if (may_be_tracked(settlement.delivery.event_id)) {
        change_in_all(settlement.delivery.event_id);
      }
    }
    // The row may have been settled before.
    const auto change_settled = [this](const auto& delivery) {
      if (delivery) {
        track_one(delivery->event_id);
        change_in_all(delivery->event_id);
      }
    };
    std::ranges::for_each(receipt.revivals, change_settled);
    std::ranges::for_each(receipt.cancels, change_settled);
    std::ranges::for_each(receipt.late_deliveries, change_settled);
    has_news =
        std::ranges::any_of(sources_, [](const Source& source) { return source.has_news(); });
  }
  if (has_news) {
    changed_.notify_all();
  }
}

void RowChanges::examine_all() {
  {
    const std::lock_guard lock{mutex_};
    for (Source& source : sources_) {
      source.changed.clear();
      source.examine_all = true;
    }
  }
  changed_.notify_all();
}

RowChanges::Taken RowChanges::take(std::string_view name, Millis wait_max) {
  std::unique_lock lock{mutex_};
  Source& source = find(name);
  changed_.wait_for(lock, wait_max, [&] { return stopped_ || source.has_news(); });
  Taken taken{.events = std::exchange(source.changed, {}),
              .examine_all = std::exchange(source.examine_all, false)};
  source.is_examining = source.is_examining || taken.examine_all;
  lock.unlock();
  std::ranges::sort(taken.events);
  const auto repeated = std::ranges::unique(taken.events);
  taken.events.erase(repeated.begin(), repeated.end());
  return taken;
}

void RowChanges::put_back(std::string_view name, const std::vector<EventId>& events) {
  const std::lock_guard lock{mutex_};
  Source& source = find(name);
  for (const EventId& event : events) {
    change(source, event);
  }
}

void RowChanges::track(const std::vector<EventId>& events) {
  const std::lock_guard lock{mutex_};
  std::ranges::for_each(events, [this](EventId event) { track_one(event); });
}

void RowChanges::forget(const std::vector<EventId>& events) {
  const std::lock_guard lock{mutex_};
  for (const EventId& event : events) {
    tracked_.erase(event);
  }
}

void RowChanges::examined(std::string_view name, bool completely) {
  const std::lock_guard lock{mutex_};
  Source& source = find(name);
  source.is_examining = false;
  source.examine_all = source.examine_all || !completely;
}

void RowChanges::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace postrider
