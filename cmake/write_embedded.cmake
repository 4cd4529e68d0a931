# Writes text files into a C++ source. Run by postrider_embed():
#   cmake -DOUTPUT=... -DFUNCTION=... -DNAMESPACE=... "-DFILES=a;b" -P write_embedded.cmake
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <span>

#include \"core/base/embedded_file.h\"

namespace ${NAMESPACE} {

std::span<const postrider::EmbeddedFile> ${FUNCTION}();

std::span<const postrider::EmbeddedFile> ${FUNCTION}() {
  static constexpr postrider::EmbeddedFile files[] = {
${entries}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
