"""Which sources may be compiled together."""

import join_sources


def write(directory, name, text):
    file = directory / name
    file.write_text(text)
    return file


def test_sources_that_define_the_same_name_are_not_joined(tmp_path):
    a = write(tmp_path, "a.cc", "namespace {\nint helper(int x) {\n  return x;\n}\n}\n")
    b = write(tmp_path, "b.cc", "namespace {\nbool helper() { return true; }\n}\n")
    c = write(tmp_path, "c.cc", "constexpr int limit = 3;\nstruct Row {\n};\n")
    d = write(tmp_path, "d.cc", "struct Row {\n};\n")
    assert join_sources.joinable([a, b, c, d]) == [[a, c], [b, d]]


def test_members_of_different_classes_may_have_the_same_name(tmp_path):
    a = write(tmp_path, "a.cc", "Result<void> Reader::open() {\n}\n")
    b = write(tmp_path, "b.cc", "Result<void> Writer::open() {\n}\n")
    assert join_sources.joinable([a, b]) == [[a, b]]


def test_a_group_is_not_larger_than_the_limit(tmp_path):
    sources = [write(tmp_path, f"s{i}.cc", f"int f{i}() {{\n}}\n") for i in range(20)]
    assert [len(group) for group in join_sources.joinable(sources)] == [8, 8, 4]


def test_a_source_must_not_define_what_another_one_takes_from_a_header(tmp_path):
    header = "core/base/time.h"
    name = sorted(join_sources.names_of_header(header))[0]
    a = write(tmp_path, "a.cc", f'#include "{header}"\n')
    b = write(tmp_path, "b.cc", f"int {name}() {{\n}}\n")
    c = write(tmp_path, "c.cc", f'#include "{header}"\nusing test::epoch;\n')
    d = write(tmp_path, "d.cc", "constexpr int epoch = 1;\n")
    assert join_sources.joinable([a, b, c, d]) == [[a, c], [b, d]]


def test_a_group_has_a_limited_number_of_lines(tmp_path):
    sources = [write(tmp_path, f"s{i}.cc", "//\n" * 900) for i in range(5)]
    assert [len(group) for group in join_sources.joinable(sources)] == [2, 2, 1]


def test_every_definition_at_the_margin_is_a_name():
    text = """
#define WIDTH 3
using namespace std::chrono_literals;
using test::answered;
using Rows = std::vector<Row>;
namespace detail {
constexpr std::string_view load_sql = R"sql(
const std::array<int, 2> numbers{1, 2};
template <class Fits>
Result<std::optional<Delivery>> take_while(Query rows,
                                           int limit) {
Result<void> Writer::reopen() {
class Window final : public Base {
enum class Stage { first };
TEST(Suite, Name) {
char buffer[3];
}
"""
    assert join_sources.names_of(text) == {"WIDTH", "Rows", "load_sql", "numbers", "take_while",
                                           "Window", "Stage", "buffer"}
