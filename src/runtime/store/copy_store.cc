#include "runtime/store/copy_store.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

/// Rows between two reports of progress.
constexpr std::uint64_t rows_per_report = 1'000;

/// A checksum of rows that does not depend on their order: the sum of their digests.
class RowSum {
 public:
  RowSum(const std::vector<CopyColumn>& columns, Digest digest)
      : columns_(columns), digest_(digest) {}

  void add(const CopyRow& row) {
    bytes_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      append(row, static_cast<int>(i), columns_[i].kind);
    }
    const std::string digest = digest_(bytes_);
    POSTRIDER_ASSERT(digest.size() == sizeof sum_);
    std::array<std::uint64_t, 4> parts{};
    std::memcpy(parts.data(), digest.data(), sizeof parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum_[i] += parts[i];
    }
    ++rows_;
  }

  [[nodiscard]] std::uint64_t rows() const { return rows_; }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::uint64_t part : sum_) {
      text += fmt::format("{:016x}", part);
    }
    return text;
  }

 private:
  /// Unambiguous, because every value is stored with its length.
  void append(const CopyRow& row, int column, CopyKind kind) {
    if (row.is_null(column)) {
      bytes_.push_back('0');
      return;
    }
    switch (kind) {
      case CopyKind::integer:
        bytes_.push_back('i');
        append_number(static_cast<std::uint64_t>(row.integer(column)));
        break;
      case CopyKind::real:
        bytes_.push_back('r');
        append_number(std::bit_cast<std::uint64_t>(row.real(column)));
        break;
      case CopyKind::bytes: {
        const std::string_view value = row.bytes(column);
        bytes_.push_back('b');
        append_number(value.size());
        bytes_.append(value);
        break;
      }
    }
  }

  void append_number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_.push_back(static_cast<char>(number >> shift));
    }
  }

  const std::vector<CopyColumn>& columns_;
  Digest digest_;
  std::string bytes_;  // A member to reuse its memory.
  std::array<std::uint64_t, 4> sum_{};
  std::uint64_t rows_ = 0;
};

class StoreCopy {
 public:
  explicit StoreCopy(const CopyOptions& options)
      : options_(options), source_(*options.source), target_(*options.target) {}

  Result<CopyReport> run() {
    const CopyOrigin& origin = source_.origin();
    POSTRIDER_TRY(const CopyState state, target_.state(origin));
    if (options_.only_verify) {
      POSTRIDER_CHECK(check_complete(state));
      POSTRIDER_CHECK(count_rows());
      return verify();
    }
    if (state == CopyState::finished || state == CopyState::used) {
      return CopyReport{.was_finished = true, .tables = {}};
    }
    POSTRIDER_CHECK(target_.begin(origin));
    POSTRIDER_CHECK(count_rows());
    for (const std::string_view table : copied_tables) {
      POSTRIDER_CHECK(copy(table));
    }
    POSTRIDER_TRY(CopyReport report, verify());
    POSTRIDER_CHECK(target_.finish(origin));
    return report;
  }

 private:
  Result<void> check_complete(CopyState state) {
    if (state == CopyState::used) {
      return fail(Errc::conflict,
                  "A server has used the database since the copy, so it is no longer equal to the "
                  "data directory. It was verified when it was copied. Keep it.");
    }
    bool complete = state != CopyState::none;
    for (const std::string_view table : copied_tables) {
      if (complete && state == CopyState::unfinished) {
        POSTRIDER_TRY(const CopiedTable copied, target_.progress(table));
        complete = copied.complete;
      }
    }
    if (!complete) {
      return fail(Errc::conflict, "The copy is not complete. Run `postrider copy` first.");
    }
    return {};
  }

  Result<void> count_rows() {
    for (const std::string_view table : copied_tables) {
      POSTRIDER_TRY(const std::uint64_t rows, source_.count(table));
      total_ += rows;
    }
    return {};
  }

  Result<void> copy(std::string_view table) {
    POSTRIDER_TRY(const std::vector<CopyColumn> columns, target_.columns(table));
    POSTRIDER_TRY(const CopiedTable copied, target_.progress(table));
    done_ += copied.rows;
    report(CopyPhase::copy, table);
    if (copied.complete) {
      return {};
    }
    POSTRIDER_CHECK(target_.open_table(table));
    POSTRIDER_CHECK(source_.read({.table = table, .columns = &columns, .skip = copied.rows},
                                 [&](const CopyRow& row) -> Result<void> {
                                   POSTRIDER_CHECK(target_.add(row));
                                   count_one(CopyPhase::copy, table);
                                   return {};
                                 }));
    return target_.close_table();
  }

  Result<CopyReport> verify() {
    done_ = 0;
    total_ *= 2;  // The rows of both stores.
    CopyReport report;
    std::string different;
    for (const std::string_view table : copied_tables) {
      POSTRIDER_TRY(const std::vector<CopyColumn> columns, target_.columns(table));
      RowSum wanted{columns, options_.digest};
      RowSum stored{columns, options_.digest};
      POSTRIDER_CHECK(source_.read({.table = table, .columns = &columns},
                                   [&](const CopyRow& row) -> Result<void> {
                                     wanted.add(row);
                                     count_one(CopyPhase::verify, table);
                                     return {};
                                   }));
      POSTRIDER_CHECK(target_.read(table, [&](const CopyRow& row) -> Result<void> {
        stored.add(row);
        count_one(CopyPhase::verify, table);
        return {};
      }));
      if (wanted.rows() != stored.rows()) {
        different += fmt::format(" The table {} has {} rows instead of {}.", table, stored.rows(),
                                 wanted.rows());
      } else if (wanted.text() != stored.text()) {
        different += fmt::format(" The contents of the table {} differ.", table);
      }
      report.tables.push_back({.name = table, .rows = wanted.rows(), .checksum = wanted.text()});
    }
    if (!different.empty()) {
      return fail(Errc::corrupt, "The copy is not equal to the original." + different +
                                     " Empty the database and copy again.");
    }
    return report;
  }

  void count_one(CopyPhase phase, std::string_view table) {
    ++done_;
    if (done_ % rows_per_report == 0 || done_ == total_) {
      report(phase, table);
    }
  }

  void report(CopyPhase phase, std::string_view table) const {
    options_.progress({.phase = phase, .table = table, .done = done_, .total = total_});
  }

  const CopyOptions& options_;
  CopySource& source_;
  CopyTarget& target_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<CopyReport> copy_store(const CopyOptions& options) { return StoreCopy{options}.run(); }

}  // namespace postrider
