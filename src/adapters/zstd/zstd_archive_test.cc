#include "adapters/zstd/zstd_archive.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream{path, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

std::string decompress(const std::string& bytes) {
  std::string text(1 << 20, '\0');
  const std::size_t size = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  EXPECT_EQ(ZSTD_isError(size), 0u);
  text.resize(size);
  return text;
}

class ZstdArchiveTest : public testing::Test {
 protected:
  ZstdArchiveTest() {
    std::string name = fs::temp_directory_path() / "postrider-archive-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = fs::path{name} / "archive";
  }
  ~ZstdArchiveTest() override { fs::remove_all(directory_.parent_path()); }

  std::unique_ptr<Archive> open(std::size_t file_bytes_max = 1000) {
    // A fake checksum that depends on its input.
    const auto sum = [](std::string_view bytes) {
      return std::string{static_cast<char>(bytes.size() & 0xff), '\x0a'};
    };
    return open_zstd_archive(
               {.directory = directory_, .sha256 = sum, .file_bytes_max = file_bytes_max})
        .value();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator{directory_}) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  }

  fs::path directory_;
};

constexpr WallTime first_at = wall_from_unix_ms(1'700'000'000'123);
constexpr WallTime last_at = wall_from_unix_ms(1'700'000'060'000);

TEST_F(ZstdArchiveTest, SealedLinesCanBeReadAndTheManifestListsTheFile) {
  const auto archive = open();
  EXPECT_EQ(archive->append(R"({"n":1})", last_at), false);
  EXPECT_EQ(archive->append(R"({"n":2})", first_at), false);
  EXPECT_TRUE(names().empty()) << "nothing is written before seal";
  ASSERT_TRUE(archive->seal().has_value());

  const std::string name = "events-20231114T221320Z-000001.jsonl.zst";
  EXPECT_EQ(names(), (std::vector<std::string>{name, "manifest.json"}));
  const std::string bytes = read_file(directory_ / name);
  EXPECT_EQ(decompress(bytes), "{\"n\":1}\n{\"n\":2}\n");
  std::ostringstream sum;
  sum << std::hex << (bytes.size() & 0xff) << "0a";
  EXPECT_EQ(read_file(directory_ / "manifest.json"),
            "{\"format\":1,\"files\":[\n{\"name\":\"" + name + "\",\"sha256\":\"" + sum.str() +
                "\",\"bytes\":" + std::to_string(bytes.size()) +
                ",\"lines\":2,\"first_at\":\"2023-11-14T22:13:20.123Z\","
                "\"last_at\":\"2023-11-14T22:14:20.000Z\"}\n]}\n");
}

TEST_F(ZstdArchiveTest, SealingNothingWritesNothing) {
  const auto archive = open();
  ASSERT_TRUE(archive->seal().has_value());
  EXPECT_TRUE(names().empty());
}

TEST_F(ZstdArchiveTest, ReportsWhenAFileIsFull) {
  const auto archive = open(100);
  EXPECT_EQ(archive->append(std::string(98, 'x'), first_at), false);
  EXPECT_EQ(archive->append("", first_at), true);
}

TEST_F(ZstdArchiveTest, NewFilesAreNumberedAfterThoseOfEarlierRuns) {
  for (int run = 0; run < 3; ++run) {
    const auto archive = open();
    ASSERT_TRUE(archive->append("{}", first_at).has_value());
    ASSERT_TRUE(archive->seal().has_value());
  }
  EXPECT_EQ(names().size(), 4u);
  const std::string manifest = read_file(directory_ / "manifest.json");
  const auto members = read_json_object(manifest);
  ASSERT_TRUE(members.has_value());
  EXPECT_EQ(read_json_array((*members)[1].value)->size(), 3u);
}

TEST_F(ZstdArchiveTest, FileLeftByACrashIsNotOverwritten) {
  auto archive = open();
  const fs::path orphan = directory_ / "events-20231114T221320Z-000001.jsonl.zst";
  std::ofstream{orphan} << "orphan";
  ASSERT_TRUE(archive->append("{}", first_at).has_value());
  ASSERT_TRUE(archive->seal().has_value());
  EXPECT_EQ(read_file(orphan), "orphan");
  EXPECT_TRUE(fs::exists(directory_ / "events-20231114T221320Z-000002.jsonl.zst"));
}

TEST_F(ZstdArchiveTest, FileLeftByACrashIsRenamedAtTheNextStart) {
  {
    const auto archive = open();
    ASSERT_TRUE(archive->append("{}", first_at).has_value());
    ASSERT_TRUE(archive->seal().has_value());
  }
  const std::string orphan = "events-20231114T221320Z-000002.jsonl.zst";
  std::ofstream{directory_ / orphan} << "orphan";
  const auto archive = open();
  EXPECT_EQ(names(), (std::vector<std::string>{"events-20231114T221320Z-000001.jsonl.zst",
                                               orphan + ".orphan", "manifest.json"}));
  EXPECT_EQ(read_file(directory_ / (orphan + ".orphan")), "orphan");

  std::ofstream{directory_ / "events-20231114T221320Z-000003.jsonl.zst"} << "unlisted";
  std::ofstream{directory_ / "events-20231114T221320Z-000004.jsonl.zst"} << "another";
  (void)open();
  EXPECT_EQ(names().size(), 5u) << "a crash leaves only one unlisted file";
  EXPECT_TRUE(fs::exists(directory_ / "events-20231114T221320Z-000003.jsonl.zst"));
}

TEST_F(ZstdArchiveTest, InvalidManifestIsNotReplaced) {
  const auto archive = open();
  for (const char* foreign : {"{\"format\":2,\"files\":[]}", "[]", "{}", "", "{\"format\":1}"}) {
    std::ofstream{directory_ / "manifest.json"} << foreign;
    ASSERT_TRUE(archive->append("{}", first_at).has_value());
    EXPECT_EQ(archive->seal().error().code, Errc::corrupt) << foreign;
    EXPECT_EQ(read_file(directory_ / "manifest.json"), foreign);
    EXPECT_EQ(names().size(), 1u) << "no other file was left behind";
  }
}

TEST_F(ZstdArchiveTest, FailsWhileItsDirectoryIsMissingAndRecovers) {
  const auto archive = open();
  ASSERT_TRUE(archive->append("{\"lost\":1}", first_at).has_value());
  fs::remove_all(directory_);
  EXPECT_EQ(archive->seal().error().code, Errc::unavailable);
  EXPECT_EQ(archive->append("{}", first_at).error().code, Errc::unavailable);
  fs::create_directory(directory_);
  ASSERT_TRUE(archive->append("{\"kept\":1}", first_at).has_value());
  ASSERT_TRUE(archive->seal().has_value());
  EXPECT_EQ(decompress(read_file(directory_ / "events-20231114T221320Z-000001.jsonl.zst")),
            "{\"kept\":1}\n")
      << "the caller must append again what could not be sealed";
}

}  // namespace
}  // namespace postrider
