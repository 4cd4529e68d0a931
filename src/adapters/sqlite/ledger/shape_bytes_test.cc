#include "adapters/sqlite/ledger/shape_bytes.h"

#include <gtest/gtest.h>

namespace postrider::sqlite {
namespace {

RequestShape full_shape() {
  return {.url = "https://example.com/" + std::string(200, 'u'),
          .head = "POST / HTTP/1.1\r\nX-Empty: \r\n",
          .signature = {.scheme = SignatureScheme::sha256_body,
                        .header_prefix = "X-",
                        .standard_headers = false,
                        .prefixed_headers = true,
                        .header_set = HeaderSet::tenant},
          .payload_format = PayloadFormat::raw};
}

std::string packed(const RequestShape& shape) {
  std::string bytes;
  pack_shape(shape, bytes);
  return bytes;
}

TEST(ShapeBytes, RoundTrip) {
  for (const RequestShape& shape : {RequestShape{}, full_shape()}) {
    EXPECT_EQ(unpack_shape(packed(shape)).value(), shape);
  }
}

TEST(ShapeBytes, ReadsTheFirstLayout) {
  const std::string stored("\x01\x01u\x02he\x04\x02X-\x00\x01\x03\x05", 14);
  EXPECT_EQ(unpack_shape(stored).value(),
            (RequestShape{.url = "u",
                          .head = "he",
                          .signature = {.scheme = SignatureScheme::sha256_body,
                                        .header_prefix = "X-",
                                        .standard_headers = false,
                                        .prefixed_headers = true,
                                        .header_set = HeaderSet::workspace},
                          .payload_format = PayloadFormat::raw}));
}

TEST(ShapeBytes, TruncatedExtendedOrUnknownBytesAreCorrupt) {
  const std::string bytes = packed(full_shape());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(unpack_shape(std::string_view{bytes}.substr(0, size)).error().code, Errc::corrupt);
  }
  EXPECT_FALSE(unpack_shape(bytes + "x").has_value());
  std::string unknown_layout = bytes;
  unknown_layout.front() = 2;
  EXPECT_FALSE(unpack_shape(unknown_layout).has_value());
  std::string unknown_format = bytes;
  unknown_format.back() = 6;
  EXPECT_FALSE(unpack_shape(unknown_format).has_value());
}

}  // namespace
}  // namespace postrider::sqlite
