#include "commands/commands.hpp"

namespace tally::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"plan", "plan a structure from two of: keys, error, memory", "Planning", declare_plan,
       "tally plan --keys 1M --false-positive-rate 1%          # the smallest shapes\n"
       "tally plan --keys 10M --memory 64MiB --theta 3         # the best error in 64 MiB\n"
       "tally plan --from names.txt -p 0.1% --deletes          # for the keys of a sample\n"
       "tally plan -n 5M --zipf 1 --insertions 20M -t 3 -p 1%  # for a skewed stream\n"},
      {"verify", "compare a shape's theory with a simulation", "Planning", declare_verify,
       "tally verify --keys 100k -p 1%                          # a planned Bloom filter\n"
       "tally verify -t 3 -n 10k --num-positions 40k -k 3       # for every true count below 3\n"
       "tally verify --file names.tally                         # the shape of a file\n"},
      {"theory", "calculate a published formula; without a name, list them", "Planning", declare_theory,
       "tally theory                                                      # lists the formulas\n"
       "tally theory bloom-false-positive-rate --m 10M --k 7 --n 1M\n"
       "tally theory kappa-star --theta 3 --json\n"},
      {"over", "print every key once, the moment it has been seen N times", "Streams", declare_over,
       "tally over 3 words.txt                       # words that occur three times\n"
       "tally over 100 -d ' ' -f 1 access.log.gz     # clients with 100 requests\n"
       "tally over 1000 --memory 64MiB --exact < log # in 64 MiB, and checked against exact counts\n"},
      {"uniq", "print the first occurrence of every key", "Streams", declare_uniq,
       "tally uniq names.txt                         # as sort -u, in the order of the input\n"
       "tally uniq --may-repeat --memory 16MiB < log # bounded memory; drops nothing\n"
       "tally uniq --approximate --keys 10M < log    # about 14 bits a key; may drop 0.1%\n"},
      {"top", "print the most frequent keys, with bounds of their counts", "Streams", declare_top,
       "tally top 100 access.log.gz -d ' ' -f 1           # clients with the most requests\n"
       "tally top -d ' ' -f 1 --sum 10 access.log         # those with the most bytes\n"
       "tail -f access.log | tally top 20 --window 10m    # a table on the terminal, of the last ten "
       "minutes\n"
       "tally top --share 1% --with-error words.txt       # all above 1%, none missed\n"
       "tally top -q --save web1.top access.log           # on each machine, and then for all of them:\n"
       "tally top 20 --from web1.top web2.top web3.top\n"},
      {"kmers", "print the canonical k-mers of FASTA and FASTQ seen N times, or write a filter of them",
       "Streams", declare_kmers,
       "tally kmers -k 31 reads.fq.gz                            # each k-mer that is there twice\n"
       "tally kmers -k 31 -L 3 -s 40M -t 4 -o reads.tally *.fq   # a filter file, for 40 million distinct\n"
       "jellyfish dump -c other.jf | tally query -d ' ' -f 1 reads.tally  # those of other.jf in it\n"},
      {"build", "build a filter file from keys", "Filter files", declare_build,
       "tally build -o names.tally names.txt                   # counts the keys first; error 1%\n"
       "tally build -o seen.tally --keys 10M -p 0.1% < keys    # for ten million keys\n"
       "tally build -o c.tally --kind counting-bloom -n 1M -z  # with removes; NUL-separated\n"
       "tally build -o b.tally --like a.tally more.txt         # merges with a.tally\n"
       "tally build -o s.tally --kind count-min --epsilon 0.001%  # a count for every key\n"},
      {"add", "add keys to a filter file", "Filter files", declare_add,
       "tally add seen.tally new-names.txt\n"},
      {"remove", "remove keys from a counting filter file", "Filter files", declare_remove,
       "tally remove c.tally gone.txt\n"},
      {"query", "print the keys that a filter may contain, or those it does not", "Filter files",
       declare_query,
       "tally query names.tally candidates.txt     # those that are in it\n"
       "tally query -v names.tally candidates.txt  # those that are certainly not\n"
       "tally query -c names.tally < candidates    # how many are\n"},
      {"count", "print how often keys were added", "Filter files", declare_count,
       "tally count c.tally keys.txt | sort -rn | head\n"
       "tally count --bounds s.tally < keys        # of a count-min sketch: count, lower, upper, key\n"},
      {"halve", "halve all counts of a count-min sketch", "Filter files", declare_halve,
       "tally halve s.tally  # every hour: what is old counts for less\n"},
      {"merge", "merge filter files into one", "Filter files", declare_merge,
       "tally merge -o week.tally monday.tally tuesday.tally\n"},
      {"info", "show what a filter file holds, its error now, and what is wrong", "Filter files",
       declare_info,
       "tally info names.tally\n"
       "tally info --json names.tally\n"},
      {"diff", "write what changed between two versions of a filter file", "Summaries", declare_diff,
       "tally diff new.tally -o full.summary             # all of it, for a first copy\n"
       "tally diff old.tally new.tally -o delta.summary  # the bits that flipped, compressed\n"},
      {"patch", "bring a copy of another node's filter to its next version", "Summaries", declare_patch,
       "tally patch copy.tally full.summary delta.summary\n"
       "ssh cache1 tally watch cache.tally | tally patch cache1.tally  # follows it\n"
       "tally query cache1.tally urls.txt                             # what cache1 may have\n"},
      {"watch", "write a filter file's summary, and then every change of it, to a pipe", "Summaries",
       declare_watch, "tally watch cache.tally | ssh cache2 tally patch cache1.tally\n"},
      {"squid", "read, ask, write and serve the cache digests of Squid", "Summaries", declare_squid,
       "tally squid query http://cache1:3128 urls.txt  # which of these a running Squid may have\n"
       "tally squid build -o digest urls.txt           # a digest that Squid understands\n"
       "tally squid serve digest                       # for Squids that have us as a peer\n"},
      {"node", "tell other nodes which keys are here, over a Redis server, and ask who may have a key",
       "Summaries", declare_node,
       "tally node cache1 < changes             # '+KEY' came, '-KEY' left, '?KEY' asks who may have it\n"
       "tally node cache1 --redis redis://:secret@10.0.0.5 --stay < keys  # until SIGTERM\n"
       "printf '!wait 2\\n?KEY\\n' | tally node asker  # asks two peers and leaves\n"},
  };
  return table;
}

}  // namespace tally::cli
