# Writes the migrations into a C++ source:
#   cmake -DOUTPUT=… -DFILES=a.sql;b.sql -P embed_migrations.cmake
# The number in front of a file's name is the schema version it leads to.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(REGEX MATCH "^[0-9]+" digits ${name})
  string(REGEX REPLACE "^0+" "" version ${digits})
  file(READ ${file} sql)
  string(APPEND entries "    {${version}, R\"sql(\n${sql})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"adapters/sqlite/database/migrations.h\"

namespace postrider::sqlite {

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all{
${entries}  };
  return all;
}

}  // namespace postrider::sqlite
")
