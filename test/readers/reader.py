"""Lists every kind of the server of a kubeconfig as programs in Python do: strict JSON, and the official client's classes.

Prints the lines of main.go beside this file.
"""
import hashlib
import json
import math
import struct
import sys

from kubernetes import client, config

api = config.new_client_from_config(sys.argv[1])
failed = False


def get(path):
    asked = api.param_serialize("GET", path, header_params={"Accept": "application/json"}, auth_settings=["BearerToken"])
    answer = api.call_api(*asked)
    answer.read()
    if answer.status != 200:
        raise ValueError(f"{path} answered {answer.status}")
    return answer.data.decode("utf-8")


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def strict(text):
    return json.loads(text, parse_constant=refuse, parse_float=finite)


def finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond all doubles")
    return number


def add(total, value):
    if value is None:
        total.update(b"n")
    elif value is True or value is False:
        total.update(b"t" if value else b"f")
    elif isinstance(value, str):
        data = value.encode("utf-8")
        total.update(b"s%d:" % len(data) + data)
    elif isinstance(value, (int, float)):
        if value == math.trunc(value) and -(2**63) <= value < 2**63:
            total.update(b"i%d;" % int(value))
        else:
            total.update(b"d" + struct.pack(">d", float(value)).hex().encode() + b";")
    elif isinstance(value, list):
        total.update(b"[")
        for item in value:
            add(total, item)
        total.update(b"]")
    else:
        total.update(b"{")
        for key in sorted(value, key=lambda name: name.encode("utf-8")):
            add(total, key)
            add(total, value[key])
        total.update(b"}")


def hash_of(item):
    total = hashlib.sha256()
    add(total, {key: value for key, value in item.items() if key not in ("kind", "apiVersion")})
    return total.hexdigest()[:24]


def class_of(group, version, kind):
    short = group.removesuffix(".k8s.io").split(".")[0].capitalize() or "Core"
    prefix = version.capitalize()
    for name in (f"{prefix}{kind}List", f"{short}{prefix}{kind}List"):
        if hasattr(client, name):
            return name
    return None


def read(group, version, resource):
    global failed
    name = f"{group}/{version}/{resource['name']}"
    try:
        text = get(f"/api/{version}/{resource['name']}" if group == "" else f"/apis/{name}")
        for item in strict(text)["items"]:
            metadata = item["metadata"]
            if "uid" not in metadata:
                # It is computed, and has no state to compare.
                continue
            print("python", name, f"{metadata['uid']}@{metadata['resourceVersion']}", hash_of(item), sep="\t")
        known = class_of(group, version, resource["kind"])
        # This client refuses every event without eventTime, of any server: those of controllers have none.
        if known is not None and resource["kind"] != "Event":
            api.deserialize(text, known, "application/json")
    except Exception as error:
        # Python has no year 0, which the API has. This client refuses the null of an empty required list of any server.
        if "year 0 is out of range" in str(error) or "input_value=None" in str(error):
            return
        failed = True
        print("FAILED", "python", name, repr(error).replace("\n", " ")[:500], sep="\t")


def versions():
    yield "", "v1", "/api/v1"
    for group in strict(get("/apis"))["groups"]:
        for served in group["versions"]:
            yield group["name"], served["version"], f"/apis/{served['groupVersion']}"


for group, version, path in versions():
    for resource in strict(get(path))["resources"]:
        if "/" not in resource["name"] and "list" in resource["verbs"]:
            read(group, version, resource)
sys.exit(1 if failed else 0)
