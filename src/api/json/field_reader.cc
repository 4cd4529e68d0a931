#include "api/json/field_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/parse_number.h"
#include "core/base/range_time.h"

#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

constexpr std::size_t errors_shown_max = 25;  // Keeps the response small.
constexpr std::size_t name_shown_max = 64;    // A client may send field names of any length.
constexpr std::size_t inner_path_shown_max = 256;
constexpr std::size_t members_max = 64;  // More than any object of the API has. Bits of read_.

}  // namespace

void FieldErrors::add(std::string field, std::string message) {
  ++count_;
  if (errors_.size() < errors_shown_max) {
    errors_.push_back({std::move(field), std::move(message)});
  }
}

void FieldErrors::add_unknown(std::string field) {
  ++unknown_count_;
  add(std::move(field), "is not a field of this object.");
}

Problem FieldErrors::problem() const {
  const bool only_unknown = unknown_count_ == count_;
  Problem problem{.status = 422,
                  .code = only_unknown ? "unknown_field" : "validation_failed",
                  .title = only_unknown ? "The body has an unknown field" : "The body is not valid",
                  .detail = {},
                  .errors = errors_};
  if (!errors_.empty()) {
    problem.detail = fmt::format("`{}` {}", errors_.front().field, errors_.front().message);
  }
  if (count_ > 1) {
    problem.detail += fmt::format(" See `errors` for {} more.", count_ - 1);
  }
  return problem;
}

ObjectReader::ObjectReader(std::vector<JsonMember> members, std::string path, FieldErrors& errors)
    : members_(std::move(members)), path_(std::move(path)), errors_(&errors) {
  if (members_.size() > members_max) {
    errors_->add(path_.empty() ? "body" : path_,
                 fmt::format("must have at most {} fields.", members_max));
    members_.resize(members_max);
  }
}

std::string ObjectReader::path_of(std::string_view name) const {
  const std::string shown = clip(name, name_shown_max);
  return path_.empty() ? shown : path_ + "." + shown;
}

void ObjectReader::refuse(std::string_view name, std::string message) {
  errors_->add(path_of(name), std::move(message));
}

void ObjectReader::refuse_at(std::string_view path, std::string message) {
  const std::string shown = clip(path, inner_path_shown_max);
  errors_->add(path_.empty() ? shown : path_ + "." + shown, std::move(message));
}

std::optional<std::string_view> ObjectReader::raw(std::string_view name) {
  for (std::size_t index = 0; index < members_.size(); ++index) {
    if (members_[index].key == name) {
      read_ |= std::uint64_t{1} << index;
      return members_[index].value;
    }
  }
  return std::nullopt;
}

JsonField<std::string> ObjectReader::text(std::string_view name, TextRule rule) {
  std::optional<std::string> fault;
  const auto read = [&](std::string_view slice) {
    std::optional<std::string> decoded = decode_json_string(slice);
    fault = text_fault(decoded.value_or(""), rule);
    return fault ? std::nullopt : std::move(decoded);
  };
  return typed(name, read, [&] { return *fault; });
}

JsonField<bool> ObjectReader::boolean(std::string_view name) {
  const auto read = [](std::string_view slice) -> std::optional<bool> {
    if (slice == "true") {
      return true;
    }
    return slice == "false" ? std::optional{false} : std::nullopt;
  };
  return typed(name, read, [] { return "must be true or false."; });
}

JsonField<std::int64_t> ObjectReader::integer(std::string_view name, IntegerRange range) {
  const auto read = [range](std::string_view slice) { return read_integer(slice, range); };
  return typed(name, read, [range] {
    return fmt::format("must be an integer from {} to {}.", range.min, range.max);
  });
}

JsonField<double> ObjectReader::number(std::string_view name, NumberRange range) {
  const auto read = [range](std::string_view slice) { return read_number(slice, range); };
  return typed(name, read, [range] {
    return fmt::format("must be a number from {} to {}.", range.min, range.max);
  });
}

JsonField<WallTime> ObjectReader::time_of(std::string_view name, ParseTime parse,
                                          std::string_view words) {
  const auto read = [parse](std::string_view slice) -> std::optional<WallTime> {
    const std::optional<std::string> text = decode_json_string(slice);
    return text ? parse(*text) : std::nullopt;
  };
  return typed(name, read, [words] { return fmt::format("must be {}.", words); });
}

JsonField<WallTime> ObjectReader::time(std::string_view name) {
  return time_of(name, parse_rfc3339, "an RFC 3339 time such as 2026-01-31T23:59:59.123Z");
}

JsonField<WallTime> ObjectReader::start_time(std::string_view name) {
  return time_of(name, parse_range_start, range_time_words);
}

JsonField<WallTime> ObjectReader::end_time(std::string_view name) {
  return time_of(name, parse_range_end, range_time_words);
}

JsonField<ObjectReader> ObjectReader::object(std::string_view name) {
  // The body is known to be valid JSON, so this fails only for a value of another type.
  const auto read = [this, name](std::string_view slice) -> std::optional<ObjectReader> {
    Result<std::vector<JsonMember>> members = read_json_object(slice);
    return members ? std::optional{ObjectReader{*std::move(members), path_of(name), *errors_}}
                   : std::nullopt;
  };
  return typed(name, read, [] { return "must be an object."; });
}

JsonField<std::string> ObjectReader::verbatim_object(std::string_view name, std::size_t bytes_max) {
  const auto read = [bytes_max](std::string_view slice) -> std::optional<std::string> {
    const bool fits = slice.front() == '{' && slice.size() <= bytes_max;
    return fits ? std::optional{std::string{slice}} : std::nullopt;
  };
  return typed(name, read, [bytes_max] {
    return fmt::format("must be an object of at most {} bytes.", bytes_max);
  });
}

JsonField<std::vector<std::string_view>> ObjectReader::array(std::string_view name,
                                                             IntegerRange count) {
  const auto read =
      [count](std::string_view slice) -> std::optional<std::vector<std::string_view>> {
    Result<std::vector<std::string_view>> items = read_json_array(slice);
    const auto size = static_cast<std::int64_t>(items ? items->size() : 0);
    const bool fits = items && size >= count.min && size <= count.max;
    return fits ? std::optional{*std::move(items)} : std::nullopt;
  };
  return typed(name, read, [count] {
    return fmt::format("must be an array of {} to {} items.", count.min, count.max);
  });
}

void ObjectReader::finish() {
  for (std::size_t index = 0; index < members_.size(); ++index) {
    if ((read_ & (std::uint64_t{1} << index)) == 0) {
      errors_->add_unknown(path_of(members_[index].key));
    }
  }
}

std::optional<std::int64_t> read_integer(std::string_view raw, IntegerRange range) {
  std::optional<std::int64_t> value = parse_number<std::int64_t>(raw);
  if (!value) {
    // `1e3` and `5.0` are integers as well.
    constexpr double exact_max = 9007199254740992.0;
    const std::optional<double> real = parse_number<double>(raw);
    if (!real || std::abs(*real) > exact_max || std::trunc(*real) != *real) {
      return std::nullopt;
    }
    value = static_cast<std::int64_t>(*real);
  }
  if (*value < range.min || *value > range.max) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> read_number(std::string_view raw, NumberRange range) {
  const std::optional<double> value = parse_number<double>(raw);
  if (!value || !std::isfinite(*value) || *value < range.min || *value > range.max) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> text_fault(std::string_view text, TextRule rule) {
  if (text.empty() || text.size() > rule.bytes_max) {
    return fmt::format("must be a string of 1 to {} bytes.", rule.bytes_max);
  }
  const bool has_control = std::ranges::any_of(text, [&](char character) {
    const bool line_or_tab = character == '\n' || character == '\r' || character == '\t';
    const auto code = static_cast<unsigned char>(character);
    return (code < 0x20 || code == 0x7F) && !(rule.multiline && line_or_tab);
  });
  if (has_control) {
    return "must not contain control characters.";
  }
  return std::nullopt;
}

}  // namespace postrider::api
