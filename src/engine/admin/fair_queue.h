// Jobs of several owners that wait for a limited number of places, such as reader threads. Owners
// take turns, and nobody holds all places: see core/policy/shares.h. Pure.
#pragma once

#include <deque>
#include <list>
#include <optional>
#include <utility>

#include "core/policy/shares.h"

namespace postrider {

template <class Job>
class FairQueue {
 public:
  struct Turn {
    ShareOwner owner;
    Job job;
  };

  explicit FairQueue(ShareRules places) : running_(places) {}

  void push(ShareOwner owner, Job job) {
    for (Line& line : lines_) {
      if (line.owner == owner) {
        line.jobs.push_back(std::move(job));
        return;
      }
    }
    lines_.push_back({std::move(owner), {}});
    lines_.back().jobs.push_back(std::move(job));
  }

  /// The next job that may start now. It holds a place until end() is called for its owner.
  [[nodiscard]] std::optional<Turn> start() {
    for (auto line = lines_.begin(); line != lines_.end(); ++line) {
      if (running_.take(line->owner) != ShareVerdict::granted) {
        continue;
      }
      Turn turn{line->owner, std::move(line->jobs.front())};
      line->jobs.pop_front();
      if (line->jobs.empty()) {
        lines_.erase(line);
      } else {
        lines_.splice(lines_.end(), lines_, line);  // Others come first now.
      }
      return turn;
    }
    return std::nullopt;
  }

  void end(const ShareOwner& owner) { running_.give_back(owner); }

  /// Whether no job waits. Some may be running.
  [[nodiscard]] bool empty() const { return lines_.empty(); }

 private:
  struct Line {
    ShareOwner owner;
    std::deque<Job> jobs;  // Never empty.
  };

  Shares running_;
  std::list<Line> lines_;  // Whoever waits, in turn.
};

}  // namespace postrider
