# Writes the profiles into a C++ source:
#   cmake -DOUTPUT=… -DFILES=a.toml;b.toml -P embed_profiles.cmake
# A file's name without its end is the profile's name.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"config/profiles.h\"

namespace postrider::config {

const std::vector<std::pair<std::string_view, std::string_view>>& embedded_profiles() {
  static const std::vector<std::pair<std::string_view, std::string_view>> all{
${entries}  };
  return all;
}

}  // namespace postrider::config
")
