// Pages of a list: what part of it is read, and what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace postrider {

/// About how many rows one call scans, some 20 ms. Bounds a filter that matches few rows.
constexpr std::uint32_t scanned_default = 20'000;

/// Newest first. `before` and `offset` are two ways to page; only the cursor `before` is stable
/// under inserts. A page may end early, even empty, when `scanned_max` is reached; it then has a
/// `next`. The offset counts within the rows that one call scans.
struct Page {
  std::uint32_t limit = 50;
  std::uint32_t offset = 0;
  std::optional<std::int64_t> before = std::nullopt;  // Sequences below this.
  std::uint32_t scanned_max = scanned_default;
};

/// Oldest first: sequences above `after`.
struct ForwardPage {
  std::int64_t after = 0;
  std::uint32_t limit = 50;
  std::uint32_t scanned_max = scanned_default;
};

template <class Item>
struct Listed {
  std::vector<Item> items;
  std::optional<std::int64_t> next;  // Page::before of the following page; nullopt at the end.

  bool operator==(const Listed&) const = default;
};

/// A part of a list to count: newest first, below `before`.
struct CountRange {
  std::optional<std::int64_t> before = std::nullopt;
  std::uint32_t scanned_max = scanned_default;
};

/// The count of one range, and where the next range begins; nullopt at the end.
struct PartialCount {
  std::uint64_t count = 0;
  std::optional<std::int64_t> next = std::nullopt;

  bool operator==(const PartialCount&) const = default;
};

}  // namespace postrider
