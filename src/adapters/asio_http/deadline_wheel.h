// Deadlines of everything under way, kept so that setting and dropping one costs no system call, no
// allocation and no comparison with the others. Pure: the time is an argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/intrusive/list.hpp>

#include "core/base/time.h"

namespace postrider::asio_http {

struct DeadlineTag;

/// Something that wants to be told when its time is up. Destroying it drops the deadline.
class DeadlineEntry : public boost::intrusive::list_base_hook<
                          boost::intrusive::tag<DeadlineTag>,
                          boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual void on_deadline() = 0;

 protected:
  DeadlineEntry() = default;
  ~DeadlineEntry() = default;

 private:
  friend class DeadlineWheel;
  std::int64_t tick_ = 0;
};

class DeadlineWheel {
 public:
  static constexpr Millis tick{10};  // How late a deadline may be noticed.

  explicit DeadlineWheel(MonoTime now) : current_(ticks_before(now)) {}

  /// Replaces an earlier deadline of the same entry. One that has passed counts from the next tick.
  void set(DeadlineEntry& entry, MonoTime deadline);
  static void drop(DeadlineEntry& entry);

  /// Calls `on_deadline` of every entry whose time is up; these may set and drop any entry.
  void advance(MonoTime now);

 private:
  using Hook = boost::intrusive::base_hook<
      boost::intrusive::list_base_hook<boost::intrusive::tag<DeadlineTag>,
                                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>>>;
  using Slot =
      boost::intrusive::list<DeadlineEntry, Hook, boost::intrusive::constant_time_size<false>>;
  static constexpr std::int64_t slot_count = 1024;  // One turn takes about ten seconds.

  static std::int64_t ticks_before(MonoTime time) { return time.time_since_epoch() / tick; }
  void move_due(Slot& from, Slot& due) const;
  Slot& slot(std::int64_t tick_number) {
    return slots_[static_cast<std::size_t>(tick_number % slot_count)];
  }

  std::int64_t current_;  // The last tick that was looked at.
  std::array<Slot, static_cast<std::size_t>(slot_count)> slots_;
};

}  // namespace postrider::asio_http
