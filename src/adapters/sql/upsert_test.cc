#include "adapters/sql/upsert.h"

#include <gtest/gtest.h>

namespace postrider::sql {
namespace {

TEST(Upsert, ReplacesAllColumnsOutsideTheKey) {
  EXPECT_EQ(upsert_sql("t", {.all = "id, name, at", .key = "id"}),
            "INSERT INTO t (id, name, at) VALUES (?1, ?2, ?3)"
            " ON CONFLICT (id) DO UPDATE SET name = excluded.name, at = excluded.at");
}

TEST(Upsert, AKeyMayHaveSeveralColumns) {
  EXPECT_EQ(upsert_sql("t", {.all = "a,  b, c", .key = "c, a"}),
            "INSERT INTO t (a,  b, c) VALUES (?1, ?2, ?3)"
            " ON CONFLICT (c, a) DO UPDATE SET b = excluded.b");
}

}  // namespace
}  // namespace postrider::sql
