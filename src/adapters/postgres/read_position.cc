#include "adapters/postgres/read_position.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/assert.h"

namespace postrider::postgres {
namespace {

/// Takes the number at the start of `text`.
std::optional<Txid> take_number(std::string_view& text) {
  Txid value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<Snapshot> parse_snapshot(std::string_view text) {
  const std::optional<Txid> xmin = take_number(text);
  if (!xmin || !take(text, ':')) {
    return std::nullopt;
  }
  const std::optional<Txid> xmax = take_number(text);
  if (!xmax || !take(text, ':')) {
    return std::nullopt;
  }
  Snapshot snapshot{.xmin = *xmin, .xmax = *xmax, .xip = {}};
  while (!text.empty()) {
    const std::optional<Txid> running = take_number(text);
    if (!running || (!text.empty() && !take(text, ','))) {
      return std::nullopt;
    }
    snapshot.xip.push_back(*running);
  }
  return snapshot;
}

std::string to_text(const Snapshot& snapshot) {
  return fmt::format("{}:{}:{}", snapshot.xmin, snapshot.xmax, fmt::join(snapshot.xip, ","));
}

ReadPosition advance(const ReadPosition& position, const ReadBatch& batch, std::size_t count) {
  POSTRIDER_ASSERT(count <= batch.positions.size());
  if (batch.ends_step && count == batch.positions.size()) {
    return {.finished = batch.step.snapshot};
  }
  if (count == 0) {
    return position;
  }
  OpenStep open = batch.step;
  open.after = batch.positions[count - 1];
  return {.finished = position.finished, .open = std::move(open)};
}

}  // namespace postrider::postgres
