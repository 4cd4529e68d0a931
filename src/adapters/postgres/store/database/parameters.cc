#include "adapters/postgres/store/database/parameters.h"

#include <bit>
#include <limits>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/binary.h"
#include "adapters/postgres/store/database/escaped_text.h"

namespace postrider::postgres {
namespace {

/// Dimensions, flags, element type, length, lower bound: five numbers of four bytes.
constexpr std::size_t header_bytes = 20;

struct TypePair {
  Oid element;
  Oid array;
};

TypePair types_of(ElementType type) {
  switch (type) {
    case ElementType::int2:
      return {oid::int2, oid::int2_array};
    case ElementType::int4:
      return {oid::int4, oid::int4_array};
    case ElementType::int8:
      return {oid::int8, oid::int8_array};
    case ElementType::real:
      return {oid::float8, oid::float8_array};
    case ElementType::boolean:
      return {oid::boolean, oid::boolean_array};
    case ElementType::uuid:
      return {oid::uuid, oid::uuid_array};
    case ElementType::text:
      return {oid::text, oid::text_array};
    case ElementType::bytea:
      break;
  }
  return {oid::bytea, oid::bytea_array};
}

template <std::integral Number>
void append_element(std::int64_t value, std::string& out) {
  POSTRIDER_ASSERT(std::in_range<Number>(value));
  append_binary(static_cast<std::int32_t>(sizeof(Number)), out);
  append_binary(static_cast<Number>(value), out);
}

std::string_view bytes_of(const Uuid& uuid) {
  return {reinterpret_cast<const char*>(uuid.data()), uuid.size()};
}

}  // namespace

Array::Array(ElementType type) : type_(type), bytes_(header_bytes, '\0') {}

void Array::clear() {
  bytes_.resize(header_bytes);
  size_ = 0;
  has_null_ = false;
}

void Array::reserve(std::size_t elements, std::size_t bytes_each) {
  bytes_.reserve(header_bytes + elements * (bytes_each + sizeof(std::int32_t)));
}

void Array::add_null() {
  append_binary(std::int32_t{-1}, bytes_);
  has_null_ = true;
  ++size_;
}

void Array::add_integer(std::int64_t value) {
  switch (type_) {
    case ElementType::int2:
      append_element<std::int16_t>(value, bytes_);
      break;
    case ElementType::int4:
      append_element<std::int32_t>(value, bytes_);
      break;
    case ElementType::boolean:
      append_element<std::int8_t>(value != 0 ? 1 : 0, bytes_);
      break;
    default:
      POSTRIDER_ASSERT(type_ == ElementType::int8);
      append_element<std::int64_t>(value, bytes_);
      break;
  }
  ++size_;
}

void Array::add_real(double value) {
  POSTRIDER_ASSERT(type_ == ElementType::real);
  append_element<std::int64_t>(std::bit_cast<std::int64_t>(value), bytes_);
  ++size_;
}

void Array::add_uuid(const Uuid& uuid) {
  POSTRIDER_ASSERT(type_ == ElementType::uuid);
  append_binary(static_cast<std::int32_t>(uuid.size()), bytes_);
  bytes_.append(bytes_of(uuid));
  ++size_;
}

void Array::add_blob(std::string_view bytes) {
  POSTRIDER_ASSERT(type_ == ElementType::bytea);
  append_binary(static_cast<std::int32_t>(bytes.size()), bytes_);
  bytes_.append(bytes);
  ++size_;
}

void Array::add_text(std::string_view text) {
  POSTRIDER_ASSERT(type_ == ElementType::text);
  const std::size_t at = bytes_.size();
  append_binary(std::int32_t{0}, bytes_);
  append_escaped(text, bytes_);
  const auto length = static_cast<std::int32_t>(bytes_.size() - at - sizeof(std::int32_t));
  const std::int32_t swapped = swap_bytes(length);
  std::memcpy(bytes_.data() + at, &swapped, sizeof swapped);
  ++size_;
}

Oid Array::oid() const { return types_of(type_).array; }

void Array::write_header(std::string& bytes) const {
  std::string header;
  append_binary(std::int32_t{size_ == 0 ? 0 : 1}, header);  // Dimensions.
  append_binary(std::int32_t{has_null_ ? 1 : 0}, header);
  append_binary(static_cast<std::int32_t>(types_of(type_).element), header);
  append_binary(static_cast<std::int32_t>(size_), header);
  append_binary(std::int32_t{1}, header);  // The first index.
  bytes.replace(0, header.size(), header);
  if (size_ == 0) {
    bytes.resize(3 * sizeof(std::int32_t));  // Without dimensions there is no length.
  }
}

std::string Array::encoded() const& {
  std::string bytes = bytes_;
  write_header(bytes);
  return bytes;
}

std::string Array::encoded() && {
  write_header(bytes_);
  return std::move(bytes_);
}

Parameters& Parameters::add(const Array& array) {
  return add_encoded({.oid = array.oid(), .bytes = array.encoded()});
}

Parameters& Parameters::add(Array&& array) {
  const Oid oid = array.oid();
  return add_encoded({.oid = oid, .bytes = std::move(array).encoded()});
}

Parameters& Parameters::add_encoded(Value value) {
  values_.push_back(std::move(value));
  return *this;
}

Parameters& Parameters::append(Parameters&& others) {
  values_.insert(values_.end(), std::make_move_iterator(others.values_.begin()),
                 std::make_move_iterator(others.values_.end()));
  others.values_.clear();
  return *this;
}

Oid Parameters::oid_of(ElementType type) { return types_of(type).element; }

void Parameters::put_null(Oid oid) { values_.push_back({.oid = oid, .is_null = true}); }

void Parameters::put_boolean(bool value) {
  values_.push_back({.oid = oid::boolean, .bytes = std::string(1, value ? '\1' : '\0')});
}

void Parameters::put_integer(std::int64_t value) {
  Value& added = values_.emplace_back(Value{.oid = oid::int8});
  append_binary(value, added.bytes);
}

void Parameters::put_real(double value) {
  Value& added = values_.emplace_back(Value{.oid = oid::float8});
  append_binary(std::bit_cast<std::int64_t>(value), added.bytes);
}

void Parameters::put_uuid(const Uuid& uuid) {
  values_.push_back({.oid = oid::uuid, .bytes = std::string{bytes_of(uuid)}});
}

void Parameters::put_text(std::string_view text) {
  values_.push_back({.oid = oid::text, .bytes = escape_text(text)});
}

void Parameters::put_blob(std::string_view bytes) {
  values_.push_back({.oid = oid::bytea, .bytes = std::string{bytes}});
}

}  // namespace postrider::postgres
