# Writes the contract's fragments into a C++ source:
#   cmake -DOUTPUT=… -DFILES=a.json;b.json -P embed_fragments.cmake
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${file} json)
  string(APPEND entries "      R\"json(${json})json\",\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"api/openapi/fragments.h\"

namespace postrider::api {

const std::vector<std::string_view>& openapi_fragments() {
  static const std::vector<std::string_view> all{
${entries}  };
  return all;
}

}  // namespace postrider::api
")
