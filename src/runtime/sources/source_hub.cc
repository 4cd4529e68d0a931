#include "runtime/sources/source_hub.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Collects samples; those of one metric must be adjacent.
struct SampleList {
  std::vector<MetricSample> samples;

  void add(const std::string& name, const std::string& help, Labels labels, double value) {
    samples.push_back({.name = "postrider_source_" + name,
                       .help = help,
                       .is_total = name.ends_with("_total"),
                       .labels = std::move(labels),
                       .value = value});
  }
};

bool is_working(SourceState state) {
  return state == SourceState::connected || state == SourceState::standby;
}

void add_messages(SampleList& list, const SourceView& view) {
  const SourceCounts& counts = view.counts;
  const std::pair<const char*, std::uint64_t> outcomes[] = {{"stored", counts.stored},
                                                            {"duplicate", counts.duplicates},
                                                            {"rejected", counts.rejected},
                                                            {"deferred", counts.deferred}};
  for (const auto& [outcome, count] : outcomes) {
    list.add("messages_total", "Messages of a source of events by what became of them",
             {{"source", view.name}, {"outcome", outcome}}, static_cast<double>(count));
  }
}

}  // namespace

SourceHub::SourceHub(std::vector<SourceParts> sources, const Clock& clock, std::uint64_t seed) {
  for (SourceParts& parts : sources) {
    runners_.push_back(std::make_unique<SourceRunner>(std::move(parts), clock, ++seed));
  }
}

void SourceHub::start() {
  for (const auto& runner : runners_) {
    runner->start();
  }
}

void SourceHub::stop_receiving() {
  for (const auto& runner : runners_) {
    runner->stop_receiving();
  }
}

void SourceHub::join() {
  for (const auto& runner : runners_) {
    runner->join();
  }
}

std::vector<SourceView> SourceHub::views() const {
  std::vector<SourceView> views;
  views.reserve(runners_.size());
  for (const auto& runner : runners_) {
    views.push_back(runner->view());
  }
  return views;
}

std::vector<SourceFacts> SourceHub::facts() const {
  std::vector<SourceFacts> facts;
  facts.reserve(runners_.size());
  for (const auto& runner : runners_) {
    facts.push_back(runner->facts());
  }
  return facts;
}

std::vector<MetricSample> SourceHub::samples() const {
  const std::vector<SourceView> all = views();
  SampleList list;
  for (const SourceView& view : all) {
    list.add("connected", "1 if the source of events is connected", {{"source", view.name}},
             is_working(view.state) ? 1 : 0);
  }
  for (const SourceView& view : all) {
    if (view.lag.messages) {
      list.add("lag_messages", "Messages that wait in the source of events",
               {{"source", view.name}}, static_cast<double>(*view.lag.messages));
    }
  }
  for (const SourceView& view : all) {
    add_messages(list, view);
  }
  for (const SourceView& view : all) {
    list.add("reconnects_total", "How often a source of events was connected again",
             {{"source", view.name}}, static_cast<double>(view.counts.reconnects));
  }
  return std::move(list.samples);
}

SourceRunner* SourceHub::find_runner(std::string_view name) const {
  const auto found =
      std::ranges::find_if(runners_, [&](const auto& runner) { return runner->name() == name; });
  return found == runners_.end() ? nullptr : found->get();
}

Result<SourceView> SourceHub::find(std::string_view name) const {
  const SourceRunner* const runner = find_runner(name);
  if (runner == nullptr) {
    return fail(Errc::not_found, "There is no such source.");
  }
  return runner->view();
}

Result<SourceView> SourceHub::set_paused(std::string_view name, bool paused) {
  SourceRunner* const runner = find_runner(name);
  if (runner == nullptr) {
    return fail(Errc::not_found, "There is no such source.");
  }
  paused ? runner->pause() : runner->resume();
  return runner->view();
}

}  // namespace postrider
