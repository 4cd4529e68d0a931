#include "core/stored/tally_bytes.h"

#include <algorithm>
#include <cstdint>

#include "core/stored/packing.h"

namespace postrider::stored {
namespace {

// The first byte. A new layout gets the next number; these must stay readable forever. The first
// one did not tell deliveries from attempts.
constexpr std::uint64_t layout_without_settled = 1;
constexpr std::uint64_t layout = 2;

bool read_failures(Unpacker& unpacker, DeliveryTally& tally) {
  const std::uint64_t count = unpacker.number();
  for (std::uint64_t i = 0; i < count && unpacker.intact(); ++i) {
    const std::uint64_t category = unpacker.number();
    if (category >= tally.failures.size()) {
      return false;
    }
    tally.failures[category] = static_cast<std::uint32_t>(unpacker.number());
  }
  return true;
}

bool read_durations(Unpacker& unpacker, DurationHistogram& durations) {
  const std::uint64_t count = unpacker.number();
  for (std::uint64_t i = 0; i < count && unpacker.intact(); ++i) {
    const std::uint64_t bucket = unpacker.number();
    if (bucket > DurationHistogram::bucket_max) {
      return false;
    }
    durations.add(static_cast<DurationHistogram::Bucket>(bucket), unpacker.number());
  }
  return true;
}

}  // namespace

void pack_tally(const DeliveryTally& tally, std::string& out) {
  put_number(layout, out);
  for (const std::uint64_t number :
       {tally.published, tally.deliveries, tally.attempts, tally.succeeded, tally.retries,
        tally.dead_letters, tally.now_succeeded, tally.now_dead_letter,
        static_cast<std::uint64_t>(tally.duration_total.count())}) {
    put_number(number, out);
  }
  const auto zeros = std::ranges::count(tally.failures, 0u);
  put_number(tally.failures.size() - static_cast<std::size_t>(zeros), out);
  for (std::size_t category = 0; category < tally.failures.size(); ++category) {
    if (tally.failures[category] != 0) {
      put_number(category, out);
      put_number(tally.failures[category], out);
    }
  }
  put_number(tally.durations.buckets().size(), out);
  for (const auto& [bucket, count] : tally.durations.buckets()) {
    put_number(bucket, out);
    put_number(count, out);
  }
}

Result<DeliveryTally> unpack_tally(std::string_view packed) {
  DeliveryTally tally;
  if (packed.empty()) {
    return tally;
  }
  Unpacker unpacker{packed};
  const std::uint64_t found_layout = unpacker.number();
  const bool known_layout = found_layout == layout || found_layout == layout_without_settled;
  for (std::uint64_t* number : {&tally.published, &tally.deliveries, &tally.attempts,
                                &tally.succeeded, &tally.retries, &tally.dead_letters}) {
    *number = unpacker.number();
  }
  tally.now_succeeded = found_layout == layout ? unpacker.number() : tally.succeeded;
  tally.now_dead_letter = found_layout == layout ? unpacker.number() : tally.dead_letters;
  tally.duration_total = Micros{static_cast<std::int64_t>(unpacker.number())};
  const bool sound = read_failures(unpacker, tally) && read_durations(unpacker, tally.durations);
  if (!known_layout || !sound || !unpacker.finished()) {
    return fail(Errc::corrupt, "The stored statistics of a webhook or tenant are damaged.");
  }
  return tally;
}

}  // namespace postrider::stored
