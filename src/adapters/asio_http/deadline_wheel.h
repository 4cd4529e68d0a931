// A timer wheel for the deadlines of active requests. Setting and cancelling a deadline needs no
// system call, no allocation and no comparison with others. Pure: the time is an argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <boost/intrusive/list.hpp>

#include "core/base/time.h"

namespace postrider::asio_http {

struct DeadlineTag;

/// Base class of an object with a deadline. Destroying the object cancels the deadline.
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
  static constexpr Millis tick{10};  // Maximum delay of a deadline.

  explicit DeadlineWheel(MonoTime now) : current_(ticks_before(now)) {}

  /// Replaces an earlier deadline of the same entry. A deadline in the past is due at the next
  /// tick.
  void set(DeadlineEntry& entry, MonoTime deadline);
  static void cancel(DeadlineEntry& entry);

  /// Calls `on_deadline` of every entry that is due. These calls may set and cancel any entry.
  void advance(MonoTime now);

 private:
  using Hook = boost::intrusive::base_hook<
      boost::intrusive::list_base_hook<boost::intrusive::tag<DeadlineTag>,
                                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>>>;
  using Slot =
      boost::intrusive::list<DeadlineEntry, Hook, boost::intrusive::constant_time_size<false>>;
  static constexpr std::int64_t slot_count =
      1024;  // One turn of the wheel takes about ten seconds.

  static std::int64_t ticks_before(MonoTime time) { return time.time_since_epoch() / tick; }
  void move_due(Slot& from, Slot& due) const;
  Slot& slot(std::int64_t tick_number) {
    return slots_[static_cast<std::size_t>(tick_number % slot_count)];
  }

  std::int64_t current_;  // The last tick that was processed.
  std::array<Slot, static_cast<std::size_t>(slot_count)> slots_;
};

}  // namespace postrider::asio_http
