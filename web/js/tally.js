const plan = {
  "recommended": "dleft",
  "preference": null,
  "reason": "keys will be removed, and it takes 18 bits per key, and counting-bloom takes 38.4 bits per key; but those never fill up; its side table has room for the 7.99 fingerprints that may have a higher count than a cell can hold; with 2 subtables instead of 4 a lookup reads 2 cache lines instead of 4, and it takes 18.7 bits per key; blocked-counting-bloom takes 13.1% more memory than counting-bloom, and touches one cache line per key instead of 7",
  "warnings": [
    "the plan assumes that every key is in the filter at most 4 times at once, and the side table has 170 entries for fingerprints that such keys share; every key that is in the filter more than 4 times at once also takes an entry, and when all entries are in use, the filter is full: give the number of such keys, or a histogram or a sample of the counts; if no key is ever in the filter twice at once, say so: the filter may then be smaller"
  ],
  "exact_table_bytes": 26666666.666666668,
  "candidates": [
    {
      "kind": "dleft",
      "scheme": "rotation",
      "shape": {
        "kind": "dleft",
        "scheme": "rotation",
        "buckets_per_subtable": 17583,
        "num_subtables": 4,
        "cells_per_bucket": 16,
        "remainder_bits": 13,
        "counter_bits": 3,
        "least_remainder_bits": 13,
        "num_doublings": 0,
        "spill_capacity": 170,
        "moves": "search",
        "grows": false
      },
      "num_positions": 1125312,
      "num_hashes": 4,
      "counter_bits": 3,
      "num_keys": 1000000,
      "memory_bytes": 2254728,
      "bits_per_key": 18.037824,
      "false_positive_rate": 0.00691931717891322,
      "promised_true_count": 0,
      "errors": [
        {
          "true_count": 0,
          "false_positive_rate": 0.00691931717891322,
          "ln_false_positive_rate": -4.973438187788569
        }
      ],
      "error_law": "bound",
      "simple_threshold_rate": null,
      "saturation_probability": 0.0,
      "cache_lines": {
        "insert": 4.0,
        "lookup_absent": 4.0,
        "lookup_present": 4.0
      },
      "operation_costs": {
        "source": "table",
        "insert_ns": 15.639999999999999,
        "remove_ns": 13.11,
        "lookup_present_ns": 10.35,
        "lookup_absent_ns": 10.35,
        "line_read_ns": 2.3
      },
      "rounding_cost": null,
      "dleft": {
        "load": 0.8855644845699717,
        "carried_load": 0.8856145222338132,
        "failure_probability": 9.332106607402687e-07,
        "lifetime_operations": 1000000000,
        "expected_spills": 7.9933299260337405,
        "has_fast_loops": true,
        "sizes": [
          {
            "num_doublings": 0,
            "num_keys": 1000000,
            "memory_bytes": 2254728,
            "false_positive_rate": 0.00691931717891322
          }
        ]
      },
      "summary": "a multiset: keys can be removed and counted without a maximum; 4 cache lines per key; can fill up",
      "source": "1 - (1 - 1/(B R))^n; the load from the fluid limit (Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006)"
    },
    {
      "kind": "dleft",
      "scheme": "rotation",
      "shape": {
        "kind": "dleft",
        "scheme": "rotation",
        "buckets_per_subtable": 18200,
        "num_subtables": 2,
        "cells_per_bucket": 32,
        "remainder_bits": 13,
        "counter_bits": 3,
        "least_remainder_bits": 13,
        "num_doublings": 0,
        "spill_capacity": 170,
        "moves": "search",
        "grows": false
      },
      "num_positions": 1164800,
      "num_hashes": 2,
      "counter_bits": 3,
      "num_keys": 1000000,
      "memory_bytes": 2333704,
      "bits_per_key": 18.669632,
      "false_positive_rate": 0.006685530626835726,
      "promised_true_count": 0,
      "errors": [
        {
          "true_count": 0,
          "false_positive_rate": 0.006685530626835726,
          "ln_false_positive_rate": -5.00780969583625
        }
      ],
      "error_law": "bound",
      "simple_threshold_rate": null,
      "saturation_probability": 0.0,
      "cache_lines": {
        "insert": 2.0,
        "lookup_absent": 2.0,
        "lookup_present": 2.0
      },
      "operation_costs": {
        "source": "table",
        "insert_ns": 9.429999999999998,
        "remove_ns": 10.12,
        "lookup_present_ns": 5.9799999999999995,
        "lookup_absent_ns": 5.9799999999999995,
        "line_read_ns": 2.3
      },
      "rounding_cost": null,
      "dleft": {
        "load": 0.8556434588189286,
        "carried_load": 0.8556526963117509,
        "failure_probability": 9.904829960119813e-07,
        "lifetime_operations": 1000000000,
        "expected_spills": 7.461867957781771,
        "has_fast_loops": true,
        "sizes": [
          {
            "num_doublings": 0,
            "num_keys": 1000000,
            "memory_bytes": 2333704,
            "false_positive_rate": 0.006685530626835726
          }
        ]
      },
      "summary": "a multiset: keys can be removed and counted without a maximum; 2 cache lines per key; can fill up",
      "source": "1 - (1 - 1/(B R))^n; the load from the fluid limit (Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006)"
    },
    {
      "kind": "counting-bloom",
      "scheme": "congruential",
      "shape": {
        "kind": "counting-bloom",
        "scheme": "congruential",
        "num_positions": 9592956,
        "num_hashes": 7,
        "counter_bits": 4,
        "threshold": 1
      },
      "num_positions": 9592956,
      "num_hashes": 7,
      "counter_bits": 4,
      "num_keys": 1000000,
      "memory_bytes": 4796480,
      "bits_per_key": 38.37184,
      "false_positive_rate": 0.009999996120144863,
      "promised_true_count": 0,
      "errors": [
        {
          "true_count": 0,
          "false_positive_rate": 0.009999996120144863,
          "ln_false_positive_rate": -4.60517057397368
        }
      ],
      "error_law": "bound",
      "simple_threshold_rate": null,
      "saturation_probability": 3.2804991916817995e-08,
      "cache_lines": {
        "insert": 6.999719800747253,
        "lookup_absent": 2.0536904588245832,
        "lookup_present": 6.999719800747253
      },
      "operation_costs": {
        "source": "table",
        "insert_ns": 15.87,
        "remove_ns": 17.02,
        "lookup_present_ns": 13.339999999999998,
        "lookup_absent_ns": 16.56,
        "line_read_ns": 2.3
      },
      "rounding_cost": {
        "of": "memory",
        "whole_hashes_percent": 0.08238175924222269,
        "whole_words_percent": 5.507079987587815e-05
      },
      "dleft": null,
      "summary": "a multiset: keys can be removed and counted up to 15",
      "source": "(1 - (1 - 1/m)^(k n))^k; saturation: m Pr(counter >= 2^bits - 1) (Fan, Cao, Almeida, Broder 2000)"
    },
    {
      "kind": "blocked-counting-bloom",
      "scheme": "blocked",
      "shape": {
        "kind": "blocked-counting-bloom",
        "scheme": "blocked",
        "num_positions": 10847360,
        "num_hashes": 6,
        "counter_bits": 4,
        "threshold": 1
      },
      "num_positions": 10847360,
      "num_hashes": 6,
      "counter_bits": 4,
      "num_keys": 1000000,
      "memory_bytes": 5423680,
      "bits_per_key": 43.38944,
      "false_positive_rate": 0.00999980459618818,
      "promised_true_count": 0,
      "errors": [
        {
          "true_count": 0,
          "false_positive_rate": 0.00999980459618818,
          "ln_false_positive_rate": -4.605189726560189
        }
      ],
      "error_law": "bound",
      "simple_threshold_rate": null,
      "saturation_probability": 5.6426459878117894e-08,
      "cache_lines": {
        "insert": 1.0,
        "lookup_absent": 1.0,
        "lookup_present": 1.0
      },
      "operation_costs": {
        "source": "table",
        "insert_ns": 5.06,
        "remove_ns": 5.75,
        "lookup_present_ns": 3.4499999999999997,
        "lookup_absent_ns": 3.4499999999999997,
        "line_read_ns": 2.3
      },
      "rounding_cost": null,
      "dleft": null,
      "summary": "a multiset: keys can be removed and counted up to 15; one cache line per key, for more memory or more false positives than counting-bloom",
      "source": "mixture over lines of the exact law of one line (after Putze, Sanders, Singler 2007); saturation: the union bound of a mixture over lines"
    }
  ]
};
const kindNames = {bloom:'BloomFilter','blocked-bloom':'BlockedBloomFilter','counting-bloom':'CountingBloomFilter','blocked-counting-bloom':'BlockedCountingBloomFilter',dleft:'DLeftCountingBloomFilter','compact-dleft':'CompactDLeftFilter',threshold:'ThresholdFilter','count-min':'CountMinSketch'};
export async function load() {
  return { call(name, args) {
    if (name==='plan') { const p=structuredClone(plan); const f=(args.num_keys??1e6)/1e6; for (const c of p.candidates){c.memory_bytes=Math.round(c.memory_bytes*f);c.num_keys=args.num_keys??1e6;} return p; }
    if (name==='kinds') return Object.entries(kindNames).map(([name,structure])=>({name,structure,can_remove:true,can_count:true,can_fill_up:name.includes('dleft'),has_summary:true,default_scheme:'congruential'}));
    if (name==='version') return {version:'stub'};
    if (name==='error_by_memory') return args.memory_bytes.map((m)=>({false_positive_rate:Math.exp(-m/3e5)}));
    if (name==='error_by_keys') return args.num_keys.map((n)=>({false_positive_rate:Math.min(1,n/1e8),overflow_probability:Math.min(1,n/1e7),law:'exact'}));
    if (name==='plan_sketch') return {candidates:[]};
    if (name==='summary_costs') return {full_bytes:1,deltas_per_hour:2,delta_bytes:3,sent_bytes_per_hour:4,received_bytes_per_hour:5,copies_bytes:6,unknown_share:0.01};
    if (name==='theory') return args.arguments.map((a)=> args.name==='dleft_loads'?{subtables:[[0.5,0.3,0.1,0.01],[0.5,0.3,0.1,0.01]]}: args.name==='count_min_excess'?{factors:[1e-3,1e-2],bounds:[.5,.1],measured:[.2,.05]}:0.1/(a[1]||1));
    if (name==='filter_new') return {handle:1};
    if (name==='filter_dump') return {bits:Array.from({length:64},(_, i)=>i%5===0?1:0)};
    return {};
  } };
}
