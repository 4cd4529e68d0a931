#include "core/stored/shape_bytes.h"

#include <gtest/gtest.h>

namespace postrider::stored {
namespace {

RequestShape full_shape() {
  return {.url = "https://example.com/" + std::string(200, 'u'),
          .head = "POST / HTTP/1.1\r\nX-Empty: \r\n",
          .signature = {.scheme = SignatureScheme::sha256_body,
                        .header_prefix = "X-",
                        .standard_headers = false,
                        .prefixed_headers = true,
                        .header_set = HeaderSet::tenant},
          .body = {.format = PayloadFormat::raw, .form = PayloadForm::sorted},
          .next_signature_until = wall_time_max};
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
                          .body = {.format = PayloadFormat::raw}}));
}

TEST(ShapeBytes, ReadsTheSecondLayout) {
  const std::string stored("\x02\x01u\x02he\x04\x02X-\x00\x01\x03\x05\x01\x80\x01", 17);
  EXPECT_EQ(unpack_shape(stored).value(),
            (RequestShape{.url = "u",
                          .head = "he",
                          .signature = {.scheme = SignatureScheme::sha256_body,
                                        .header_prefix = "X-",
                                        .standard_headers = false,
                                        .prefixed_headers = true,
                                        .header_set = HeaderSet::workspace},
                          .body = {.format = PayloadFormat::raw, .form = PayloadForm::compact},
                          .next_signature_until = wall_from_unix_ms(128)}));
}

TEST(ShapeBytes, TruncatedExtendedOrUnknownBytesAreCorrupt) {
  const std::string bytes = packed(full_shape());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(unpack_shape(std::string_view{bytes}.substr(0, size)).error().code, Errc::corrupt);
  }
  EXPECT_FALSE(unpack_shape(bytes + "x").has_value());
  std::string unknown_layout = bytes;
  unknown_layout.front() = 3;
  EXPECT_FALSE(unpack_shape(unknown_layout).has_value());
  const std::string first("\x01\x01u\x02he\x04\x02X-\x00\x01\x03\x06", 14);
  EXPECT_FALSE(unpack_shape(first).has_value()) << "an unknown format";
  const std::string second("\x02\x01u\x02he\x04\x02X-\x00\x01\x03\x05\x03\x00", 16);
  EXPECT_FALSE(unpack_shape(second).has_value()) << "an unknown form";
}

}  // namespace
}  // namespace postrider::stored
