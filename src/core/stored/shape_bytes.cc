#include "core/stored/shape_bytes.h"

#include <cstdint>

#include "core/stored/packing.h"

namespace postrider::stored {
namespace {

// The first byte. A new layout gets the next number; all of them must stay readable forever.
constexpr std::uint64_t first_layout = 1;  // Ends with the payload format.
constexpr std::uint64_t layout = 2;

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(SignatureScheme::standard) == 0 &&
              static_cast<int>(SignatureScheme::sha256_body) == 4);
static_assert(static_cast<int>(HeaderSet::platform) == 0 &&
              static_cast<int>(HeaderSet::tenant) == 4);
static_assert(static_cast<int>(PayloadFormat::standard) == 0 &&
              static_cast<int>(PayloadFormat::raw) == 5);
static_assert(static_cast<int>(PayloadForm::verbatim) == 0 &&
              static_cast<int>(PayloadForm::sorted) == 2);

/// Clears `known` if the number is larger than `last`.
template <class Enum>
Enum read_enum(Unpacker& unpacker, Enum last, bool& known) {
  const std::uint64_t number = unpacker.number();
  known = known && number <= static_cast<std::uint64_t>(last);
  return known ? static_cast<Enum>(number) : last;
}

}  // namespace

void pack_shape(const RequestShape& shape, std::string& out) {
  put_number(layout, out);
  put_text(shape.url, out);
  put_text(shape.head, out);
  put_number(static_cast<std::uint64_t>(shape.signature.scheme), out);
  put_text(shape.signature.header_prefix, out);
  put_number(shape.signature.standard_headers ? 1 : 0, out);
  put_number(shape.signature.prefixed_headers ? 1 : 0, out);
  put_number(static_cast<std::uint64_t>(shape.signature.header_set), out);
  put_number(static_cast<std::uint64_t>(shape.body.format), out);
  put_number(static_cast<std::uint64_t>(shape.body.form), out);
  put_number(static_cast<std::uint64_t>(to_unix_ms(shape.next_signature_until)), out);
}

Result<RequestShape> unpack_shape(std::string_view packed) {
  Unpacker unpacker{packed};
  const std::uint64_t stored_layout = unpacker.number();
  bool known = stored_layout == first_layout || stored_layout == layout;
  RequestShape shape;
  shape.url = unpacker.text();
  shape.head = unpacker.text();
  shape.signature.scheme = read_enum(unpacker, SignatureScheme::sha256_body, known);
  shape.signature.header_prefix = unpacker.text();
  shape.signature.standard_headers = unpacker.number() != 0;
  shape.signature.prefixed_headers = unpacker.number() != 0;
  shape.signature.header_set = read_enum(unpacker, HeaderSet::tenant, known);
  shape.body.format = read_enum(unpacker, PayloadFormat::raw, known);
  if (stored_layout != first_layout) {
    shape.body.form = read_enum(unpacker, PayloadForm::sorted, known);
    shape.next_signature_until = wall_from_unix_ms(static_cast<std::int64_t>(unpacker.number()));
  }
  if (!known || !unpacker.finished()) {
    return fail(Errc::corrupt, "The record of a request is damaged.");
  }
  return shape;
}

}  // namespace postrider::stored
