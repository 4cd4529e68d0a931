#include "adapters/amqp/header_json.h"

#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/base/time.h"
#include "core/json/json_string.h"

#include "adapters/amqp/amqp_errors.h"

namespace postrider::amqp {
namespace {

constexpr std::uint64_t seconds_max = 100'000'000'000;

void append_number(std::string& json, auto number) {
  fmt::format_to(std::back_inserter(json), "{}", number);
}

void append_float(std::string& json, auto number) {
  json += std::isfinite(number) ? fmt::format("{}", number) : "null";
}

void append_decimal(std::string& json, const amqp_decimal_t& decimal) {
  std::string digits = fmt::format("{:0{}}", decimal.value, decimal.decimals + 1);
  if (decimal.decimals > 0) {
    digits.insert(digits.size() - decimal.decimals, ".");
  }
  json += digits;
}

void append_array(std::string& json, const amqp_array_t& array, int depth) {
  json += '[';
  for (int index = 0; index < array.num_entries; ++index) {
    json += index > 0 ? "," : "";
    append_json(json, array.entries[index], depth + 1);
  }
  json += ']';
}

bool is_container(const amqp_field_value_t& value) {
  return value.kind == AMQP_FIELD_KIND_TABLE || value.kind == AMQP_FIELD_KIND_ARRAY;
}

}  // namespace

std::string time_text(std::uint64_t seconds) {
  const std::uint64_t ms = seconds < seconds_max ? seconds * 1'000 : seconds;
  const auto latest = static_cast<std::uint64_t>(to_unix_ms(wall_time_max));
  return to_rfc3339(wall_from_unix_ms(static_cast<std::int64_t>(std::min(ms, latest))));
}

void append_json(std::string& json, const amqp_table_t& table, int depth) {
  std::set<std::string_view> names;
  json += '{';
  for (int index = 0; index < table.num_entries; ++index) {
    const amqp_table_entry_t& entry = table.entries[index];
    if (!names.insert(view(entry.key)).second) {
      continue;
    }
    json += names.size() > 1 ? "," : "";
    append_json_string(json, view(entry.key));
    json += ':';
    append_json(json, entry.value, depth + 1);
  }
  json += '}';
}

void append_json(std::string& json, const amqp_field_value_t& value, int depth) {
  if (is_container(value) && depth >= header_depth_max) {
    json += "null";
    return;
  }
  switch (value.kind) {
    case AMQP_FIELD_KIND_BOOLEAN:
      json += value.value.boolean != 0 ? "true" : "false";
      break;
    case AMQP_FIELD_KIND_I8:
      append_number(json, static_cast<int>(value.value.i8));
      break;
    case AMQP_FIELD_KIND_U8:
      append_number(json, static_cast<unsigned>(value.value.u8));
      break;
    case AMQP_FIELD_KIND_I16:
      append_number(json, value.value.i16);
      break;
    case AMQP_FIELD_KIND_U16:
      append_number(json, value.value.u16);
      break;
    case AMQP_FIELD_KIND_I32:
      append_number(json, value.value.i32);
      break;
    case AMQP_FIELD_KIND_U32:
      append_number(json, value.value.u32);
      break;
    case AMQP_FIELD_KIND_I64:
      append_number(json, value.value.i64);
      break;
    case AMQP_FIELD_KIND_U64:
      append_number(json, value.value.u64);
      break;
    case AMQP_FIELD_KIND_F32:
      append_float(json, value.value.f32);
      break;
    case AMQP_FIELD_KIND_F64:
      append_float(json, value.value.f64);
      break;
    case AMQP_FIELD_KIND_DECIMAL:
      append_decimal(json, value.value.decimal);
      break;
    case AMQP_FIELD_KIND_TIMESTAMP:
      append_json_string(json, time_text(value.value.u64));
      break;
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      append_json_string(json, view(value.value.bytes));
      break;
    case AMQP_FIELD_KIND_TABLE:
      append_json(json, value.value.table, depth);
      break;
    case AMQP_FIELD_KIND_ARRAY:
      append_array(json, value.value.array, depth);
      break;
    default:
      json += "null";
      break;
  }
}

}  // namespace postrider::amqp
