"""A flow through Debian's python3-redis, whose commands nobody here wrote. Argument: the server's socket."""

import sys

import redis

server = redis.Redis(unix_socket_path=sys.argv[1])

# r.bf()
bloom = server.bf()
assert bloom.create("bloom", 0.001, 1000)
assert bloom.add("bloom", "a") == 1
assert bloom.add("bloom", "a") == 0
assert bloom.madd("bloom", "b", "c", "b") == [1, 1, 0]
assert bloom.insert("inserted", ["x", "y"], capacity=50, error=0.01, expansion=4) == [1, 1]
assert bloom.insert("inserted", ["x", "z"], noCreate=True) == [0, 1]
assert bloom.exists("bloom", "a") == 1
assert bloom.mexists("bloom", "a", "no", "c") == [1, 0, 1]
info = bloom.info("bloom")
assert (info.capacity, info.filterNum, info.insertedNum, info.expansionRate) == (1000, 1, 3, 2), info.__dict__
position, pieces = 0, []
while True:
    position, data = bloom.scandump("bloom", position)
    if position == 0:
        break
    pieces.append((position, data))
for position, data in pieces:
    assert bloom.loadchunk("bloom2", position, data)
assert bloom.mexists("bloom2", "a", "b", "c", "no") == [1, 1, 1, 0]

# r.cf()
cuckoo = server.cf()
assert cuckoo.create("cuckoo", 1000, expansion=2, bucket_size=4, max_iterations=30)
assert cuckoo.add("cuckoo", "a")
assert cuckoo.addnx("cuckoo", "a") == 0
assert cuckoo.insert("cuckoo", ["a", "b"]) == [1, 1]
assert cuckoo.insertnx("cuckoo", ["b", "c"]) == [0, 1]
assert cuckoo.count("cuckoo", "a") == 2
assert cuckoo.delete("cuckoo", "a")
assert cuckoo.count("cuckoo", "a") == 1
assert cuckoo.exists("cuckoo", "a") == 1
assert cuckoo.delete("cuckoo", "never there") == 0
info = cuckoo.info("cuckoo")
assert (info.insertedNum, info.deletedNum, info.bucketSize, info.maxIteration) == (3, 1, 4, 30), info.__dict__

# r.cms()
sketch = server.cms()
assert sketch.initbydim("sketch", 1000, 5)
assert sketch.initbyprob("other", 0.001, 0.01)
assert sketch.incrby("sketch", ["a", "b"], [5, 7]) == [5, 7]
assert sketch.query("sketch", "a", "b", "c") == [5, 7, 0]
assert sketch.initbydim("sum", 1000, 5)
assert sketch.merge("sum", 2, ["sketch", "sketch"], weights=[1, 2])
assert sketch.query("sum", "a", "b") == [15, 21]
info = sketch.info("sum")
assert (info.width, info.depth, info.count) == (1000, 5, 36), info.__dict__

# r.topk()
top = server.topk()
assert top.reserve("top", 2, 50, 4, 0.9)
assert top.add("top", "a", "b") == [None, None]
assert top.incrby("top", ["a", "b"], [10, 5]) == [None, None]
assert top.query("top", "a", "no") == [1, 0]
assert top.list("top") == ["a", "b"], top.list("top")
info = top.info("top")
assert (info.k, info.width, info.depth) == (2, 50, 4), info.__dict__

# A pipeline: one round trip, the replies in order.
pipe = server.pipeline()
pipe.bf().add("piped", "a")
pipe.bf().add("piped", "a")
pipe.bf().exists("piped", "a")
assert pipe.execute() == [1, 0, 1]

print("every reply as expected")
