#include "core/notify/text_template.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

std::string render(std::string_view text, const TemplateScope& scope,
                   TemplateForm form = TemplateForm::text) {
  const Result<TextTemplate> parsed = TextTemplate::parse(text, form);
  return parsed ? parsed->render(scope) : parsed.error().message;
}

TemplateScope with(std::string value) {
  return {.values = {{"name", std::move(value)}}, .lists = {}};
}

TEST(TextTemplate, ReplacesNames) {
  EXPECT_EQ(render("", with("x")), "");
  EXPECT_EQ(render("a {{name}}, {{ name }} b {{unknown}}{{! a comment }}c", with("x")),
            "a x, x b c");
  EXPECT_EQ(render("} }} {", with("x")), "} }} {");
}

TEST(TextTemplate, RepeatsASectionForEachElement) {
  const TemplateScope scope{.values = {{"outer", "o"}, {"title", "no"}},
                            .lists = {{"items", {with("a"), with("b"), with("c")}}, {"none", {}}}};
  EXPECT_EQ(render("{{#items}}{{^first}}, {{/first}}{{name}}{{outer}}{{#last}}.{{/last}}{{/items}}",
                   scope),
            "ao, bo, co.");
  EXPECT_EQ(render("{{#none}}x{{/none}}{{^none}}nothing{{/none}}", scope), "nothing");
  EXPECT_EQ(render("{{^items}}x{{/items}}", scope), "");
}

TEST(TextTemplate, ShowsASectionIfTheValueIsNotEmpty) {
  EXPECT_EQ(render("{{#name}}[{{name}}]{{/name}}{{^name}}-{{/name}}", with("x")), "[x]");
  EXPECT_EQ(render("{{#name}}[{{name}}]{{/name}}{{^name}}-{{/name}}", with("")), "-");
  EXPECT_EQ(render("{{#unknown}}x{{/unknown}}", with("")), "");
}

TEST(TextTemplate, LinesOfTagsAreLeftOut) {
  TemplateScope scope;
  scope.lists["items"] = {with("a"), with("b")};
  EXPECT_EQ(render("start\n{{#items}}\n- {{name}}\n{{/items}}\nend\n", scope),
            "start\n- a\n- b\nend\n");
  EXPECT_EQ(render("  {{! a comment }} \nx\n  {{#items}}\n{{/items}}", scope), "x\n");
  EXPECT_EQ(render("{{#items}}{{name}}\n{{/items}}", scope), "a\nb\n");
  EXPECT_EQ(render("{{name}}\n", scope), "\n");
}

TEST(TextTemplate, AnInnerNameHidesAnOuterOne) {
  TemplateScope scope = with("outer");
  scope.lists["items"] = {with("inner"), {}};
  EXPECT_EQ(render("{{#items}}{{name}} {{/items}}", scope), "inner outer ");
}

TEST(TextTemplate, SaysWhatIsWrong) {
  EXPECT_EQ(render("{{name", {}), "A `{{` has no `}}`");
  EXPECT_EQ(render("{{#a}}x", {}), "The section `a` has no end");
  EXPECT_EQ(render("{{#a}}{{/b}}", {}), "`{{/b}}` does not end a section");
  EXPECT_EQ(render("{{/b}}", {}), "`{{/b}}` does not end a section");
  std::string deep;
  for (int i = 0; i < 1'000; ++i) {
    deep += "{{#a}}";
  }
  EXPECT_EQ(render(deep, {}), "Sections are nested more than 10 deep");
}

TEST(TextTemplate, ValuesAreNotTemplates) {
  EXPECT_EQ(render("{{name}}", with("{{name}}")), "{{name}}");
}

TEST(TextTemplate, EscapesForItsForm) {
  const TemplateScope scope = with("<!channel> & \"x\"\n[a](b)");
  EXPECT_EQ(render("{{name}}", scope), "<!channel> & \"x\" [a](b)");
  EXPECT_EQ(render("{{name}}", scope, TemplateForm::html),
            "&lt;!channel&gt; &amp; &quot;x&quot;\n[a](b)");
  EXPECT_EQ(render("{{name}}", scope, TemplateForm::slack),
            R"(&lt;!channel&gt; &amp; \"x\"\n[a](b))");
  EXPECT_EQ(render("{{name}}", scope, TemplateForm::teams),
            R"(\\<\\!channel\\> & \"x\"\n\\[a\\]\\(b\\))");
}

TEST(TextTemplate, AnAddressKeepsItsCharacters) {
  const TemplateScope scope = with("https://a.b/x_y?a=1&b=\"");
  EXPECT_EQ(render("{{&name}}", scope, TemplateForm::teams), R"(https://a.b/x_y?a=1&b=\")");
  EXPECT_EQ(render("{{&name}}", scope, TemplateForm::slack), R"(https://a.b/x_y?a=1&b=\")");
  EXPECT_EQ(render("{{&name}}", scope, TemplateForm::html), "https://a.b/x_y?a=1&amp;b=&quot;");
}

TEST(TextTemplate, JsonStaysValidWhateverTheValueIs) {
  for (const char* value :
       {"\"", "\\", "\x01\x1f\x7f", "\\\"", "Aufträge ☂", "\t\r\n", "</script>"}) {
    for (const TemplateForm form : {TemplateForm::slack, TemplateForm::teams}) {
      EXPECT_TRUE(check_json(render(R"({"text":"{{name}}"})", with(value), form))) << value;
    }
  }
}

}  // namespace
}  // namespace postrider
