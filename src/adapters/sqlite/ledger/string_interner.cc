#include "adapters/sqlite/ledger/string_interner.h"

#include "core/base/assert.h"

namespace postrider::sqlite {
namespace {

// Enough for the tenants and types of a busy server, and a bound for a publisher that keeps
// inventing new types.
constexpr std::size_t names_cached_max = 65'536;

}  // namespace

Result<StringInterner> StringInterner::open(Database& database, const InternerSql& sql) {
  StringInterner interner;
  POSTRIDER_CHECK(database.prepare_all(
      {{&interner.find_, sql.find}, {&interner.insert_, sql.insert}, {&interner.name_, sql.name}}));
  return interner;
}

Result<std::int64_t> StringInterner::number_of(std::string_view name) {
  POSTRIDER_TRY(const std::optional<std::int64_t> known, find(name));
  if (known) {
    return *known;
  }
  Query query = insert_.query(name);
  POSTRIDER_TRY(const bool inserted, query.next());
  POSTRIDER_ASSERT(inserted);
  const std::int64_t number = query.integer(0);
  remember(name, number);
  return number;
}

Result<std::optional<std::int64_t>> StringInterner::find(std::string_view name) {
  if (const auto known = numbers_.find(name); known != numbers_.end()) {
    return known->second;
  }
  Query query = find_.query(name);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  const std::int64_t number = query.integer(0);
  remember(name, number);
  return number;
}

Result<const std::string*> StringInterner::name_of(std::int64_t number) {
  if (const auto known = names_.find(number); known != names_.end()) {
    return &known->second;
  }
  Query query = name_.query(number);
  POSTRIDER_TRY(const bool found, query.next());
  if (names_.size() >= names_cached_max) {
    names_.clear();
  }
  return &names_.emplace(number, found ? query.text(0) : std::string{}).first->second;
}

void StringInterner::remember(std::string_view name, std::int64_t number) {
  if (numbers_.size() >= names_cached_max) {
    numbers_.clear();
  }
  numbers_.emplace(name, number);
}

}  // namespace postrider::sqlite
