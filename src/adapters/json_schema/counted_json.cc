#include "adapters/json_schema/counted_json.h"

#include <cmath>
#include <limits>

namespace postrider::json_schema {
namespace {

constexpr double integer_max = 9223372036854774784.0;  // The largest double below 2^63.

std::optional<std::int64_t> as_integer(const boost::json::value& value) {
  if (value.is_int64()) {
    return value.get_int64();
  }
  if (value.is_uint64()) {
    const std::uint64_t number = value.get_uint64();
    const bool fits =
        number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return fits ? std::optional{static_cast<std::int64_t>(number)} : std::nullopt;
  }
  if (!value.is_double()) {
    return std::nullopt;
  }
  const double number = value.get_double();
  const bool is_whole = std::abs(number) <= integer_max && std::trunc(number) == number;
  return is_whole ? std::optional{static_cast<std::int64_t>(number)} : std::nullopt;
}

}  // namespace

CountedAdapter CountedArrayIterator::operator*() const {
  return CountedAdapter{CountedRef{&*place_, budget_}};
}

valijson::adapters::DerefProxy<CountedAdapter> CountedArrayIterator::operator->() const {
  return valijson::adapters::DerefProxy<CountedAdapter>(**this);
}

CountedMember CountedObjectIterator::operator*() const {
  return {std::string{place_->key()}, CountedAdapter{CountedRef{&place_->value(), budget_}}};
}

valijson::adapters::DerefProxy<CountedMember> CountedObjectIterator::operator->() const {
  return valijson::adapters::DerefProxy<CountedMember>(**this);
}

bool FrozenJson::equalTo(const valijson::adapters::Adapter& other, bool strict) const {
  return CountedAdapter{value_}.equalTo(other, strict);
}

bool CountedValue::getArraySize(std::size_t& result) const {
  const boost::json::array* array = access().value->if_array();
  result = array != nullptr ? array->size() : result;
  return array != nullptr;
}

bool CountedValue::getObjectSize(std::size_t& result) const {
  const boost::json::object* object = access().value->if_object();
  result = object != nullptr ? object->size() : result;
  return object != nullptr;
}

bool CountedValue::getBool(bool& result) const {
  const bool* boolean = access().value->if_bool();
  result = boolean != nullptr ? *boolean : result;
  return boolean != nullptr;
}

bool CountedValue::getDouble(double& result) const {
  const boost::json::value& value = *access().value;
  if (!value.is_number()) {
    return false;
  }
  result = value.is_double()   ? value.get_double()
           : value.is_uint64() ? static_cast<double>(value.get_uint64())
                               : static_cast<double>(value.get_int64());
  return true;
}

bool CountedValue::getInteger(std::int64_t& result) const {
  const std::optional<std::int64_t> integer = as_integer(*access().value);
  result = integer.value_or(result);
  return integer.has_value();
}

bool CountedValue::getString(std::string& result) const {
  const boost::json::string* text = access().value->if_string();
  if (text != nullptr) {
    result.assign(text->data(), text->size());
  }
  return text != nullptr;
}

bool CountedValue::isInteger() const { return as_integer(*access().value).has_value(); }

}  // namespace postrider::json_schema
