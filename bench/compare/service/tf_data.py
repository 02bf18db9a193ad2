# SPDX-License-Identifier: Apache-2.0
"""The service of tf.data with one worker, each in a process of its own, for bench/service_bench.py.

  tf_data.py serve                                  prints the dispatcher's address, and runs until its standard input ends
  tf_data.py read ADDRESS numbers N                 range(N)
  tf_data.py read ADDRESS records BYTES FILE…       the files' records of a fixed length
Prints {"count": …, "sum": …, "seconds": …} for a read: the sum of the numbers, or of the records' lengths.
"""
import json
import os
import subprocess
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf   # noqa: E402

SERVICE = tf.data.experimental.service


def serve():
    dispatcher = SERVICE.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = subprocess.Popen([sys.executable, __file__, "worker", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    worker.stdout.readline()
    print(address, flush=True)
    sys.stdin.read()
    worker.communicate("")


def work(address):
    worker = SERVICE.WorkerServer(SERVICE.WorkerConfig(dispatcher_address=address))
    print("ready", flush=True)
    sys.stdin.read()
    del worker


def read(address, what, size, *files):
    if what == "numbers":
        dataset = tf.data.Dataset.range(int(size))
    else:
        dataset = tf.data.Dataset.from_tensor_slices(list(files)).flat_map(lambda f: tf.data.FixedLengthRecordDataset(f, int(size)))
    dataset = dataset.apply(SERVICE.distribute(SERVICE.ShardingPolicy.DYNAMIC, f"grpc://{address}"))

    def add(total, element):
        value = element if what == "numbers" else tf.cast(tf.strings.length(element), tf.int64)
        return total[0] + 1, total[1] + value

    began = time.monotonic()
    count, total = dataset.reduce((tf.constant(0, tf.int64), tf.constant(0, tf.int64)), add)
    answer = {"count": int(count), "sum": int(total)}
    print(json.dumps({**answer, "seconds": time.monotonic() - began}))


{"serve": serve, "worker": work, "read": read}[sys.argv[1]](*sys.argv[2:])
