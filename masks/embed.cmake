# Writes OUT, a C file that holds every *.mask file of FOLDER:
#   cmake -DFOLDER=masks -DOUT=mask_files.c -P embed.cmake
file(GLOB masks "${FOLDER}/*.mask")
list(SORT masks)
set(texts "")
set(rows "")
set(index 0)
foreach(mask IN LISTS masks)
  get_filename_component(name "${mask}" NAME_WLE)
  file(READ "${mask}" bytes HEX)
  # 16 bytes a line keep the generated file readable.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n    " bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${index}[] = {\n    ${bytes}0\n};\n")
  string(APPEND rows "    {\"${name}\", text_${index}, sizeof text_${index} - 1},\n")
  math(EXPR index "${index} + 1")
endforeach()
set(content "/* Made from masks/ by masks/embed.cmake. */\n#include \"mask_internal.h\"\n\n${texts}
const struct gf_mask_file gf_mask_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
file(WRITE "${OUT}" "${content}")
