# Writes the blocks of one language of a Markdown page to files, 01.cpp for the first, and the text block
# that follows one to 01.txt. Usage: awk -v directory=DIRECTORY -v language=cpp -f extract_blocks.awk PAGE
/^```/ {
  if (file != "") { close(file); file = ""; next }  # a block ends
  if (skipping) { skipping = 0; next }
  if ($0 == "```" language) {
    base = sprintf("%s/%02d", directory, ++num_blocks)
    file = base "." language
    printf "" >file
  } else if ($0 == "```text" && base != "") {
    file = base ".txt"
    printf "" >file
    base = ""
  } else {
    skipping = 1
    base = ""
  }
  next
}
file != "" { print >file }
