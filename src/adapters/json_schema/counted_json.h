// A valijson adapter for Boost.JSON. Unlike valijson's own adapter, it counts every access, so that
// a validation that would take too long can be stopped, treats 1.0 as an integer, and does not
// truncate strings at a zero byte.
//
// The names of the member functions are prescribed by valijson.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/json.hpp>
#include <valijson/internal/adapter.hpp>
#include <valijson/internal/basic_adapter.hpp>
#include <valijson/internal/frozen_value.hpp>

namespace postrider::json_schema {

/// Thrown through valijson and caught by the caller of the validator.
struct BudgetExceeded {};

struct Budget {
  std::size_t accesses_left = 0;

  void spend() {
    if (accesses_left == 0) {
      throw BudgetExceeded{};
    }
    --accesses_left;
  }
};

// The names are prescribed by the standard library and by valijson.
// NOLINTBEGIN(readability-identifier-naming, modernize-use-nodiscard)

class CountedAdapter;
using CountedMember = std::pair<std::string, CountedAdapter>;

/// A value and the budget for accessing it. The budget is null for values of a schema.
struct CountedRef {
  const boost::json::value* value;
  Budget* budget;
};

class CountedArrayIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = CountedAdapter;
  using difference_type = std::ptrdiff_t;
  using pointer = CountedAdapter*;
  using reference = CountedAdapter&;

  CountedArrayIterator(boost::json::array::const_iterator place, Budget* budget)
      : place_(place), budget_(budget) {}

  CountedAdapter operator*() const;
  valijson::adapters::DerefProxy<CountedAdapter> operator->() const;
  bool operator==(const CountedArrayIterator& other) const { return place_ == other.place_; }
  const CountedArrayIterator& operator++() {
    ++place_;
    return *this;
  }
  CountedArrayIterator operator++(int) {
    const CountedArrayIterator before = *this;
    ++place_;
    return before;
  }
  const CountedArrayIterator& operator--() {
    --place_;
    return *this;
  }
  void advance(std::ptrdiff_t distance) { place_ += distance; }

 private:
  boost::json::array::const_iterator place_;
  Budget* budget_;
};

class CountedObjectIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = CountedMember;
  using difference_type = std::ptrdiff_t;
  using pointer = CountedMember*;
  using reference = CountedMember&;

  CountedObjectIterator(boost::json::object::const_iterator place, Budget* budget)
      : place_(place), budget_(budget) {}

  CountedMember operator*() const;
  valijson::adapters::DerefProxy<CountedMember> operator->() const;
  bool operator==(const CountedObjectIterator& other) const { return place_ == other.place_; }
  const CountedObjectIterator& operator++() {
    ++place_;
    return *this;
  }
  CountedObjectIterator operator++(int) {
    const CountedObjectIterator before = *this;
    ++place_;
    return before;
  }
  const CountedObjectIterator& operator--() {
    --place_;
    return *this;
  }

 private:
  boost::json::object::const_iterator place_;
  Budget* budget_;
};

class CountedArray {
 public:
  using iterator = CountedArrayIterator;
  using const_iterator = CountedArrayIterator;

  CountedArray() = default;
  explicit CountedArray(CountedRef ref) : array_(&ref.value->get_array()), budget_(ref.budget) {}

  [[nodiscard]] iterator begin() const { return {array_->cbegin(), budget_}; }
  [[nodiscard]] iterator end() const { return {array_->cend(), budget_}; }
  [[nodiscard]] std::size_t size() const { return array_->size(); }

 private:
  static const boost::json::array& empty() {
    static const boost::json::array array;
    return array;
  }

  const boost::json::array* array_ = &empty();
  Budget* budget_ = nullptr;
};

class CountedObject {
 public:
  using iterator = CountedObjectIterator;
  using const_iterator = CountedObjectIterator;

  CountedObject() = default;
  explicit CountedObject(CountedRef ref) : object_(&ref.value->get_object()), budget_(ref.budget) {}

  [[nodiscard]] iterator begin() const { return {object_->cbegin(), budget_}; }
  [[nodiscard]] iterator end() const { return {object_->cend(), budget_}; }
  [[nodiscard]] iterator find(const std::string& key) const {
    return {object_->find(key), budget_};
  }
  [[nodiscard]] std::size_t size() const { return object_->size(); }

 private:
  static const boost::json::object& empty() {
    static const boost::json::object object;
    return object;
  }

  const boost::json::object* object_ = &empty();
  Budget* budget_ = nullptr;
};

/// The values of `const` and `enum`, which valijson stores.
class FrozenJson final : public valijson::adapters::FrozenValue {
 public:
  explicit FrozenJson(boost::json::value value) : value_(std::move(value)) {}

  FrozenValue* clone() const override { return new FrozenJson(value_); }
  bool equalTo(const valijson::adapters::Adapter& other, bool strict) const override;

 private:
  boost::json::value value_;
};

class CountedValue {
 public:
  CountedValue() = default;
  explicit CountedValue(CountedRef ref) : ref_(ref) {}
  // Counts copies as accesses, because every step of a validation copies its value.
  CountedValue(const CountedValue& other) : ref_(other.access()) {}
  CountedValue& operator=(const CountedValue&) = default;

  [[nodiscard]] valijson::adapters::FrozenValue* freeze() const {
    return new FrozenJson(*ref_.value);
  }
  [[nodiscard]] std::optional<CountedArray> getArrayOptional() const {
    return access().value->is_array() ? std::optional{CountedArray{ref_}} : std::nullopt;
  }
  [[nodiscard]] std::optional<CountedObject> getObjectOptional() const {
    return access().value->is_object() ? std::optional{CountedObject{ref_}} : std::nullopt;
  }
  bool getArraySize(std::size_t& result) const;
  bool getObjectSize(std::size_t& result) const;
  bool getBool(bool& result) const;
  bool getDouble(double& result) const;
  bool getInteger(std::int64_t& result) const;
  bool getString(std::string& result) const;

  static bool hasStrictTypes() { return true; }
  [[nodiscard]] bool isArray() const { return access().value->is_array(); }
  [[nodiscard]] bool isBool() const { return access().value->is_bool(); }
  [[nodiscard]] bool isDouble() const { return access().value->is_number() && !isInteger(); }
  [[nodiscard]] bool isInteger() const;
  [[nodiscard]] bool isNull() const { return access().value->is_null(); }
  [[nodiscard]] bool isNumber() const { return access().value->is_number(); }
  [[nodiscard]] bool isObject() const { return access().value->is_object(); }
  [[nodiscard]] bool isString() const { return access().value->is_string(); }

 private:
  [[nodiscard]] CountedRef access() const {
    if (ref_.budget != nullptr) {
      ref_.budget->spend();
    }
    return ref_;
  }
  static const boost::json::value& null() {
    static const boost::json::value value;
    return value;
  }

  CountedRef ref_{&null(), nullptr};
};

class CountedAdapter final
    : public valijson::adapters::BasicAdapter<CountedAdapter, CountedArray, CountedMember,
                                              CountedObject, CountedValue> {
 public:
  CountedAdapter() = default;
  explicit CountedAdapter(const boost::json::value& value)
      : CountedAdapter(CountedRef{&value, nullptr}) {}
  explicit CountedAdapter(CountedRef ref) : BasicAdapter(CountedValue{ref}) {}
};

}  // namespace postrider::json_schema

template <>
struct valijson::adapters::AdapterTraits<postrider::json_schema::CountedAdapter> {
  using DocumentType = boost::json::value;

  static std::string adapterName() { return "CountedAdapter"; }
};

// NOLINTEND(readability-identifier-naming, modernize-use-nodiscard)
