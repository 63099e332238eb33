# Copies a page, with the table of an experiment's CSV between the lines <!-- numbers --> and <!-- end -->.
# -v csv=FILE; with -v keys=keys only the rows of a published number or of a claim that is not an equation.
/^<!-- numbers -->$/ {
  print
  table()
  inside = 1
}
/^<!-- end -->$/ { inside = 0 }
!inside

function table(    line, f) {
  print "| setting | quantity | published | formula | measured | limits | trials | would notice | formula holds | published agrees |"
  print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  while ((getline line < csv) > 0) {
    split(line, f, ",")
    if (f[1] == "setting" || f[1] ~ /^curve /) continue
    if (keys != "" && f[4] == "" && f[5] != "<" && f[5] != ">") continue
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f[1], f[2], f[4],
      (f[5] == "<" || f[5] == ">" ? f[5] " " : "") f[6], f[7], f[8] == "" ? "" : f[8] " to " f[9], f[10], f[13], f[11],
      f[12]
  }
  close(csv)
}
