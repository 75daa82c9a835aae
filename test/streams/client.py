"""Streams with a pod as programs in Python do. Says what worked, and ends at the first fault."""
import hashlib
import os
import socket
import sys
import threading

from kubernetes import client, config
from kubernetes.stream import portforward, stream

# This client collects what comes, and copies it again with each message.
LARGE = 8 << 20
CONNECTIONS = 20
config.load_kube_config(sys.argv[1])
api = client.CoreV1Api()
folder = sys.argv[2]


def execute(command, **options):
    options = {"stderr": True, "stdin": False, "stdout": True, "tty": False, **options}
    return stream(client.CoreV1Api().connect_get_namespaced_pod_exec, "pod", "default", command=command, **options)


assert execute(["echo", "hi"]) == "hi\n"
shell = execute(["sh"], stdin=True, _preload_content=False)
shell.write_stdin("echo out; echo err >&2\n")
assert shell.readline_stdout(timeout=20) == "out"
assert shell.readline_stderr(timeout=20) == "err"
shell.write_stdin("exit 3\n")
shell.run_forever(timeout=20)
assert shell.returncode == 3, shell.returncode
print("ok exec")

terminal = execute(["sh"], stdin=True, tty=True, _preload_content=False)
terminal.write_channel(4, '{"Width":81,"Height":25}')
text = ""
while "25 81" not in text:
    terminal.write_stdin("stty size\n")
    terminal.update(timeout=1)
    text += terminal.read_stdout(timeout=1)
terminal.close()
print("ok terminal")

data = os.urandom(LARGE)
digest = hashlib.sha256(data).hexdigest()
sink = execute(["sh", "-c", f"head -c {LARGE} | sha256sum"], stdin=True, _preload_content=False, binary=True)
for at in range(0, LARGE, 1 << 20):
    sink.write_stdin(data[at : at + (1 << 20)])
assert sink.readline_stdout(timeout=60).decode().startswith(digest)
sink.close()
with open(f"{folder}/python", "wb") as file:
    file.write(data)
source = execute(["cat", f"{folder}/python"], _preload_content=False, binary=True)
back = hashlib.sha256()
while source.is_open() or source.peek_stdout():
    source.update(timeout=1)
    back.update(source.read_stdout() if source.peek_stdout() else b"")
assert back.hexdigest() == digest
print("ok large")

attached = stream(
    client.CoreV1Api().connect_get_namespaced_pod_attach, "pod", "default", container="main", stdin=True, stdout=True,
    stderr=False, tty=False, _preload_content=False,
)
assert attached.readline_stdout(timeout=20) == "attached"
attached.write_stdin("typed\n")
assert attached.readline_stdout(timeout=20) == "typed"
attached.close()
print("ok attach")

echo = socket.create_server(("127.0.0.1", 0))


def give_back(peer):
    for part in iter(lambda: peer.recv(65536), b""):
        peer.sendall(part)
    peer.close()


def serve():
    while True:
        peer, _ = echo.accept()
        threading.Thread(target=give_back, args=(peer,), daemon=True).start()


threading.Thread(target=serve, daemon=True).start()
port = echo.getsockname()[1]
faults = []


def converse(i):
    forward = portforward(client.CoreV1Api().connect_get_namespaced_pod_portforward, "pod", "default", ports=str(port))
    peer = forward.socket(port)
    peer.setblocking(True)
    sent = bytes([i]) * 100_000
    threading.Thread(target=lambda: peer.sendall(sent)).start()
    back = b""
    while len(back) < len(sent):
        part = peer.recv(65536)
        if not part:
            break
        back += part
    if back != sent:
        faults.append(f"connection {i} got {len(back)} bytes: {forward.error(port)}")
    peer.close()


threads = [threading.Thread(target=converse, args=(i,)) for i in range(CONNECTIONS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not faults, faults
print("ok port-forward")

log = api.read_namespaced_pod_log("pod", "default", follow=True, _preload_content=False)
lines = []
for line in log:
    lines.append(line)
    if b"line 5" in line:
        break
log.close()
print("ok logs")
try:
    execute(["ls"], container="absent")
    raise AssertionError("a container that is not there")
except client.exceptions.ApiException as error:
    assert error.status == 400 or "400" in str(error), error
print("ok refusal")
