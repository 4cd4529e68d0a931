// The parameters of a statement in PostgreSQL's binary format: single values, and columns of many
// rows as arrays, so that one statement can write a whole batch with `unnest`.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

#include "adapters/postgres/store/database/types.h"
#include "adapters/sql/statement.h"

namespace postrider::postgres {

using sql::Blob;  ///< A parameter of type bytea.

enum class ElementType : std::uint8_t { int2, int4, int8, real, boolean, uuid, text, bytea };

/// A column of many rows.
class Array {
 public:
  explicit Array(ElementType type);

  /// Integers, enumerations, booleans and times go into int2, int4, int8 and boolean; the value
  /// must fit. Texts go into text, ids into uuid, `Blob` into bytea.
  template <class Value>
  void add(const Value& value) {
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
      add_null();
    } else if constexpr (std::is_enum_v<Value> || std::integral<Value>) {
      add_integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<Value>) {
      add_real(value);
    } else if constexpr (std::is_same_v<Value, WallTime>) {
      add_integer(to_unix_ms(value));
    } else if constexpr (std::is_same_v<Value, Millis> || std::is_same_v<Value, Micros>) {
      add_integer(value.count());
    } else if constexpr (std::is_same_v<Value, Blob>) {
      add_blob(value.bytes);
    } else if constexpr (std::is_same_v<Value, Uuid>) {
      add_uuid(value);
    } else {
      add_text(std::string_view{value});
    }
  }

  template <class Kind>
  void add(const Id<Kind>& id) {
    add_uuid(id.bytes);
  }

  template <class Value>
  void add(const std::optional<Value>& value) {
    if (value) {
      add(*value);
    } else {
      add_null();
    }
  }

  void add_null();

  void reserve(std::size_t elements, std::size_t bytes_each);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Keeps the memory for the next batch.
  void clear();

  [[nodiscard]] ElementType type() const { return type_; }
  /// PostgreSQL's number of the array type.
  [[nodiscard]] Oid oid() const;
  /// The array in PostgreSQL's binary format.
  [[nodiscard]] std::string encoded() const&;
  [[nodiscard]] std::string encoded() &&;

 private:
  void add_integer(std::int64_t value);
  void add_real(double value);
  void add_uuid(const Uuid& uuid);
  void add_text(std::string_view text);
  void add_blob(std::string_view bytes);
  void write_header(std::string& bytes) const;

  ElementType type_;
  bool has_null_ = false;
  std::size_t size_ = 0;
  std::string bytes_;  // Begins with room for the header.
};

/// The values of $1, $2, …
class Parameters {
 public:
  struct Value {
    Oid oid = 0;  // 0: the server decides.
    bool is_null = false;
    std::string bytes;
  };

  /// For example `Parameters::of(id, name, 3)`.
  template <class... Values>
  [[nodiscard]] static Parameters of(Values&&... values) {
    Parameters parameters;
    parameters.values_.reserve(sizeof...(values));
    (parameters.add(std::forward<Values>(values)), ...);
    return parameters;
  }

  /// Integers, enumerations and times become bigint; bool boolean; ids uuid; `Blob` bytea;
  /// everything else text. A missing value has the type of the optional.
  template <class Value>
    requires(!std::is_same_v<std::remove_cvref_t<Value>, Array>)
  Parameters& add(const Value& value) {
    put(value);
    return *this;
  }
  Parameters& add(const Array& array);
  Parameters& add(Array&& array);
  /// `value` is already encoded.
  Parameters& add_encoded(Value value);
  /// They follow the values of this object.
  Parameters& append(Parameters&& others);

  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  template <class T>
  struct IsOptional : std::false_type {};
  template <class T>
  struct IsOptional<std::optional<T>> : std::true_type {};
  template <class T>
  struct IsId : std::false_type {};
  template <class Kind>
  struct IsId<Id<Kind>> : std::true_type {};

  template <class Type>
  void put(const Type& value) {
    if constexpr (std::is_same_v<Type, std::nullopt_t>) {
      put_null(0);
    } else if constexpr (IsOptional<Type>::value) {
      if (value) {
        put(*value);
      } else {
        put_null(oid_of<typename Type::value_type>());
      }
    } else if constexpr (std::is_same_v<Type, bool>) {
      put_boolean(value);
    } else if constexpr (std::is_enum_v<Type> || std::integral<Type>) {
      put_integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<Type>) {
      put_real(value);
    } else if constexpr (std::is_same_v<Type, WallTime>) {
      put_integer(to_unix_ms(value));
    } else if constexpr (std::is_same_v<Type, Millis> || std::is_same_v<Type, Micros>) {
      put_integer(value.count());
    } else if constexpr (IsId<Type>::value) {
      put_uuid(value.bytes);
    } else if constexpr (std::is_same_v<Type, Uuid>) {
      put_uuid(value);
    } else if constexpr (std::is_same_v<Type, Blob>) {
      put_blob(value.bytes);
    } else {
      put_text(std::string_view{value});
    }
  }

  template <class Type>
  [[nodiscard]] static constexpr ElementType element_of() {
    if constexpr (std::is_same_v<Type, bool>) {
      return ElementType::boolean;
    } else if constexpr (std::floating_point<Type>) {
      return ElementType::real;
    } else if constexpr (std::is_enum_v<Type> || std::integral<Type> ||
                         std::is_same_v<Type, WallTime> || std::is_same_v<Type, Millis> ||
                         std::is_same_v<Type, Micros>) {
      return ElementType::int8;
    } else if constexpr (IsId<Type>::value || std::is_same_v<Type, Uuid>) {
      return ElementType::uuid;
    } else if constexpr (std::is_same_v<Type, Blob>) {
      return ElementType::bytea;
    } else {
      return ElementType::text;
    }
  }
  template <class Type>
  [[nodiscard]] static Oid oid_of() {
    return oid_of(element_of<Type>());
  }
  [[nodiscard]] static Oid oid_of(ElementType type);

  void put_null(Oid oid);
  void put_boolean(bool value);
  void put_integer(std::int64_t value);
  void put_real(double value);
  void put_uuid(const Uuid& uuid);
  void put_text(std::string_view text);
  void put_blob(std::string_view bytes);

  std::vector<Value> values_;
};

}  // namespace postrider::postgres
