#include "adapters/amqp/header_json.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "adapters/amqp/amqp_errors.h"

namespace postrider::amqp {
namespace {

amqp_field_value_t of(amqp_field_value_kind_t kind) {
  amqp_field_value_t value{};
  value.kind = static_cast<std::uint8_t>(kind);
  return value;
}

std::string json(const amqp_field_value_t& value) {
  std::string text;
  append_json(text, value);
  return text;
}

TEST(HeaderJson, NumbersKeepTheirValue) {
  amqp_field_value_t value = of(AMQP_FIELD_KIND_I8);
  value.value.i8 = -128;
  EXPECT_EQ(json(value), "-128");
  value = of(AMQP_FIELD_KIND_U8);
  value.value.u8 = 255;
  EXPECT_EQ(json(value), "255");
  value = of(AMQP_FIELD_KIND_I16);
  value.value.i16 = -32'768;
  EXPECT_EQ(json(value), "-32768");
  value = of(AMQP_FIELD_KIND_U16);
  value.value.u16 = 65'535;
  EXPECT_EQ(json(value), "65535");
  value = of(AMQP_FIELD_KIND_U32);
  value.value.u32 = 4'294'967'295;
  EXPECT_EQ(json(value), "4294967295");
  value = of(AMQP_FIELD_KIND_I64);
  value.value.i64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(json(value), "-9223372036854775808");
  value = of(AMQP_FIELD_KIND_U64);
  value.value.u64 = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(json(value), "18446744073709551615");
}

TEST(HeaderJson, FractionsAreNumbersOrNull) {
  amqp_field_value_t value = of(AMQP_FIELD_KIND_F64);
  for (const auto& [given, text] : std::vector<std::pair<double, std::string>>{
           {0.5, "0.5"}, {1e300, "1e+300"}, {std::nan(""), "null"}, {-HUGE_VAL, "null"}}) {
    value.value.f64 = given;
    EXPECT_EQ(json(value), text);
    EXPECT_TRUE(check_json(json(value)).has_value());
  }
  value = of(AMQP_FIELD_KIND_F32);
  value.value.f32 = 1.5F;
  EXPECT_EQ(json(value), "1.5");
  value = of(AMQP_FIELD_KIND_DECIMAL);
  value.value.decimal = {.decimals = 2, .value = 150};
  EXPECT_EQ(json(value), "1.50");
  value.value.decimal = {.decimals = 3, .value = 5};
  EXPECT_EQ(json(value), "0.005");
  value.value.decimal = {.decimals = 0, .value = 5};
  EXPECT_EQ(json(value), "5");
  value.value.decimal = {.decimals = 255, .value = 1};
  EXPECT_TRUE(check_json(json(value)).has_value());
}

TEST(HeaderJson, OtherValues) {
  amqp_field_value_t value = of(AMQP_FIELD_KIND_BOOLEAN);
  EXPECT_EQ(json(value), "false");
  value.value.boolean = 1;
  EXPECT_EQ(json(value), "true");
  EXPECT_EQ(json(of(AMQP_FIELD_KIND_VOID)), "null");
  value = of(AMQP_FIELD_KIND_UTF8);
  value.value.bytes = amqp_cstring_bytes("a\"\n");
  EXPECT_EQ(json(value), R"("a\"\n")");
  value.kind = AMQP_FIELD_KIND_BYTES;
  EXPECT_EQ(json(value), R"("a\"\n")");
  value = of(AMQP_FIELD_KIND_TIMESTAMP);
  value.value.u64 = 0;
  EXPECT_EQ(json(value), R"("1970-01-01T00:00:00.000Z")");
}

TEST(HeaderJson, ContainersAreBoundedInDepth) {
  std::vector<amqp_field_value_t> levels(1'000);
  levels.back() = of(AMQP_FIELD_KIND_VOID);
  for (std::size_t index = levels.size() - 1; index-- > 0;) {
    levels[index] = of(AMQP_FIELD_KIND_ARRAY);
    levels[index].value.array = {.num_entries = 1, .entries = &levels[index + 1]};
  }
  const std::string text = json(levels.front());
  EXPECT_EQ(text, std::string(header_depth_max, '[') + "null" + std::string(header_depth_max, ']'));
  EXPECT_TRUE(check_json(text).has_value());
}

TEST(HeaderJson, TablesAreObjects) {
  amqp_table_entry_t inner{.key = amqp_cstring_bytes("b"), .value = of(AMQP_FIELD_KIND_BOOLEAN)};
  amqp_table_entry_t entries[2]{};
  entries[0].key = amqp_cstring_bytes("a\"");
  entries[0].value = of(AMQP_FIELD_KIND_TABLE);
  entries[0].value.value.table = {.num_entries = 1, .entries = &inner};
  entries[1].key = amqp_cstring_bytes("a\"");
  std::string text;
  append_json(text, amqp_table_t{.num_entries = 2, .entries = entries});
  EXPECT_EQ(text, R"({"a\"":{"b":false}})");
  text.clear();
  append_json(text, amqp_table_t{});
  EXPECT_EQ(text, "{}");
}

TEST(HeaderJson, TimesInMillisecondsAreRecognized) {
  EXPECT_EQ(time_text(1'800'000'000), "2027-01-15T08:00:00.000Z");
  EXPECT_EQ(time_text(1'800'000'000'123), "2027-01-15T08:00:00.123Z");
  EXPECT_EQ(time_text(std::numeric_limits<std::uint64_t>::max()), "9999-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace postrider::amqp
