#include "commands/commands.hpp"

namespace tally::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"plan", "Plan a structure from two of: keys, false positive rate, memory", "Planning", declare_plan,
       R"(
tally plan --keys 1M --false-positive-rate 1%          # the smallest structures
tally plan --keys 10M --memory 64MiB --theta 3         # the lowest false positive rate in 64 MiB
tally plan --from names.txt -p 0.1% --deletes          # for the keys of a sample
tally plan -n 5M --zipf 1 --insertions 20M -t 3 -p 1%  # for a skewed stream
tally plan -n 10M -p 1% --deletes --fastest            # the least time, and its price in memory
)"},
      {"verify", "Compare the theory of a shape with a simulation", "Planning", declare_verify, R"(
tally verify --keys 100k -p 1%                     # a planned Bloom filter
tally verify -t 3 -n 10k --num-positions 40k -k 3  # for every true count below 3
tally verify --file names.tally                    # the shape of a file
)"},
      {"bench", "Time the structures of a plan on this machine", "Planning", declare_bench, R"(
tally bench --keys 1M -p 1% --deletes  # filters that remove keys, in batches and one key at a time
tally bench --keys 64M -p 0.1%         # larger than every cache
tally bench -n 1M -p 1% --json >times.json && tally plan -n 1M -p 1% --fastest --figures times.json
)"},
      {"theory", "Calculate a published formula; without a name, list all formulas", "Planning",
       declare_theory,
       R"(
tally theory  # lists the formulas
tally theory bloom-false-positive-rate --m 10M --k 7 --n 1M
tally theory kappa-star --theta 3 --json
)"},
      {"over", "Print each key once, as soon as it has occurred N times", "Streams", declare_over, R"(
tally over 3 words.txt                        # words that occur three times or more
tally over 100 -d ' ' -f 1 access.log.gz      # clients with 100 requests or more
tally over 1000 --memory 64MiB --exact < log  # in 64 MiB, compared with exact counts
tally over 1000 --store redis://db1/hits log  # shares counts with all runs of this store, on Redis servers
)"},
      {"uniq", "Print the first occurrence of each key", "Streams", declare_uniq, R"(
tally uniq names.txt                          # like sort -u, but in the order of the input
tally uniq --may-repeat --memory 16MiB < log  # bounded memory; drops nothing, may repeat keys
tally uniq --approximate --keys 10M < log     # about 14 bits per key; may drop 0.1% of them
tally uniq --store redis://db1/seen log       # lines that no run with this store has seen before
)"},
      {"top", "Print the most frequent keys, with bounds on their counts", "Streams", declare_top, R"(
tally top 100 access.log.gz -d ' ' -f 1         # clients with the most requests
tally top -d ' ' -f 1 --sum 10 access.log       # clients with the most bytes
tail -f access.log | tally top 20 --window 10m  # a table on the terminal, for the last ten minutes
tally top --share 1% --with-error words.txt     # all words above 1%, none missed
tally top -q --save web1.top access.log         # on each machine; then, for all machines together:
tally top 20 --from web1.top web2.top web3.top
)"},
      {"kmers",
       "Print canonical k-mers of FASTA and FASTQ files that occur N times, or write a filter of them",
       "Streams", declare_kmers, R"(
tally kmers -k 31 reads.fq.gz                           # k-mers that occur twice or more
tally kmers -k 31 -L 3 -s 40M -t 4 -o reads.tally *.fq  # a filter file, for 40 million distinct k-mers
jellyfish dump -c other.jf | tally query -d ' ' -f 1 reads.tally  # those of other.jf that are in it
)"},
      {"build", "Build a filter file from keys", "Filter files", declare_build, R"(
tally build -o names.tally names.txt                      # counts the keys first; 1% false positives
tally build -o seen.tally --keys 10M -p 0.1% < keys       # for ten million keys
tally build -o c.tally --kind counting-bloom -n 1M -z     # supports removals; keys end in NUL
tally build -o b.tally --like a.tally more.txt            # can be merged with a.tally
tally build -o s.tally --kind count-min --epsilon 0.001%  # a count for every key
)"},
      {"add", "Add keys to a filter file", "Filter files", declare_add, R"(
tally add seen.tally new-names.txt
tally add --store redis://db1/seen new-names.txt  # on Redis servers
)"},
      {"remove", "Remove keys from a filter file that counts", "Filter files", declare_remove, R"(
tally remove c.tally gone.txt
)"},
      {"query", "Print the keys that a filter may contain, or those that it does not contain", "Filter files",
       declare_query, R"(
tally query names.tally candidates.txt     # keys that may be in it
tally query -v names.tally candidates.txt  # keys that are certainly not in it
tally query -c names.tally < candidates    # the number of keys that may be in it
)"},
      {"count", "Print how often each key was added", "Filter files", declare_count, R"(
tally count c.tally keys.txt | sort -rn | head
tally count --bounds s.tally < keys  # for a count-min sketch: count, lower bound, upper bound, key
)"},
      {"halve", "Halve all counts of a count-min sketch", "Filter files", declare_halve, R"(
tally halve s.tally  # for example every hour, so that old counts fade
)"},
      {"merge", "Merge filter files into one", "Filter files", declare_merge, R"(
tally merge -o week.tally monday.tally tuesday.tally
)"},
      {"info", "Describe a filter file: contents, current false positive rate, problems", "Filter files",
       declare_info, R"(
tally info names.tally
tally info --json names.tally
)"},
      {"diff", "Write the changes between two versions of a filter file", "Summaries", declare_diff, R"(
tally diff new.tally -o full.summary             # everything, for a first copy
tally diff old.tally new.tally -o delta.summary  # the bits that changed, compressed
)"},
      {"patch", "Update a copy of another node's filter to its next version", "Summaries", declare_patch, R"(
tally patch copy.tally full.summary delta.summary
ssh cache1 tally watch cache.tally | tally patch cache1.tally  # keeps the copy up to date
tally query cache1.tally urls.txt                              # the URLs that cache1 may have
)"},
      {"watch", "Write a filter file's summary, and then every change of it, to a pipe", "Summaries",
       declare_watch, R"(
tally watch cache.tally | ssh cache2 tally patch cache1.tally
)"},
      {"squid", "Read, query, write and serve the cache digests of Squid", "Summaries", declare_squid, R"(
tally squid query http://cache1:3128 urls.txt  # the URLs that a running Squid may have
tally squid build -o digest urls.txt           # a digest that Squid can read
tally squid serve digest                       # for Squids that have this machine as a peer
)"},
      {"node", "Share which keys this node holds, over a Redis server, and ask which node may have a key",
       "Summaries", declare_node, R"(
tally node cache1 < changes                  # '+KEY': the key arrived; '-KEY': it left; '?KEY': who may have it?
tally node cache1 --redis redis://:secret@10.0.0.5 --stay < keys  # until SIGTERM
printf '!wait 2\n?KEY\n' | tally node asker  # waits for two peers, asks them, and leaves
)"},
  };
  return table;
}

}  // namespace tally::cli
