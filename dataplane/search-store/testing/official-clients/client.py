"""The script of the official clients in Python: client.py URL prints a JSON list of [step, answer]."""
import json
import sys

from opensearchpy import OpenSearch, TransportError, helpers

INDEX = "clients-logs"
COPY = "clients-copy"
ALIAS = "clients-alias"
LEVELS = ["INFO", "WARN", "ERROR"]

client = OpenSearch([sys.argv[1]], http_compress=True, max_retries=0)
steps = []


def step(name, call):
    try:
        answer = call()
    except TransportError as refusal:
        answer = {"status": refusal.status_code, "error": refusal.error}
    steps.append([name, answer])
    return answer


def document(number):
    return {
        "@timestamp": f"2026-11-21T10:{number % 60:02d}:00.000Z",
        "level": LEVELS[number % 3],
        "message": f"request {number} took long" if number % 2 else f"request {number} refused",
        "duration_ms": number * 1.5,
    }


def documents(total):
    for number in range(total):
        yield {"_index": INDEX, "_id": f"d{number:03d}", **document(number)}


def ids(hits):
    return [hit["_id"] for hit in hits]


def read_by_point_in_time():
    pit = client.create_pit(index=INDEX, params={"keep_alive": "1m"})["pit_id"]
    found, after = [], None
    while True:
        body = {"size": 40, "pit": {"id": pit, "keep_alive": "1m"}, "sort": [{"duration_ms": "desc"}]}
        hits = client.search(body={**body, "search_after": after} if after else body)["hits"]["hits"]
        if not hits:
            break
        found += ids(hits)
        after = hits[-1]["sort"]
    deleted = client.delete_pit(body={"pit_id": [pit]})["pits"]
    return {"ids": found, "deleted": [one["successful"] for one in deleted]}


def scanned(**options):
    return sorted(ids(helpers.scan(client, index=INDEX, size=30, **options)))


template = {
    "index_patterns": ["clients-*"],
    "template": {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"properties": {"@timestamp": {"type": "date"}, "level": {"type": "keyword"}, "duration_ms": {"type": "double"}}},
    },
}
by_level = {
    "size": 0,
    "aggs": {
        "levels": {"terms": {"field": "level"}, "aggs": {"mean": {"avg": {"field": "duration_ms"}}}},
        "hours": {"date_histogram": {"field": "@timestamp", "fixed_interval": "1h"}},
    },
}
refused = {"query": {"match": {"message": "refused"}}, "sort": ["duration_ms"], "size": 3, "highlight": {"fields": {"message": {}}}}

step("ping", client.ping)
step("version", lambda: client.info()["version"]["distribution"])
step("put template", lambda: client.indices.put_index_template(name="clients", body=template))
step("has template", lambda: client.indices.exists_index_template(name="clients"))
step("get template", lambda: client.indices.get_index_template(name="clients"))
step("bulk", lambda: helpers.bulk(client, documents(100), chunk_size=30, refresh=True))
step("bulk in threads", lambda: sorted(ok for ok, _ in helpers.parallel_bulk(client, documents(20), chunk_size=5)))
step("bulk of operations", lambda: client.bulk(body=[
    {"create": {"_index": INDEX, "_id": "d001"}}, document(1),
    {"index": {"_index": INDEX, "_id": "d100"}}, document(100),
    {"update": {"_index": INDEX, "_id": "d100"}}, {"doc": {"level": "FATAL"}},
    {"delete": {"_index": INDEX, "_id": "no one"}},
    {"index": {"_index": INDEX, "_id": "bad"}}, {"@timestamp": "yesterday"},
], refresh="wait_for"))
step("refresh", lambda: client.indices.refresh(index=INDEX))
step("mapping", lambda: client.indices.get_mapping(index=INDEX))
step("count", lambda: client.count(index=INDEX, body={"query": {"term": {"level": "WARN"}}}))
step("search", lambda: client.search(index=INDEX, body=refused))
step("search by parameters", lambda: client.search(index=INDEX, q="level:ERROR", size=2, sort="duration_ms:desc", _source_includes="level"))
step("search malformed", lambda: client.search(index=INDEX, body={"query": {"nothing": {}}}))
step("search of no index", lambda: client.search(index="clients-nobody", body={}))
step("several searches", lambda: client.msearch(body=[{"index": INDEX}, refused, {"index": "clients-nobody"}, {}]))
step("aggregate", lambda: client.search(index=INDEX, body=by_level))
step("scan", lambda: scanned())
step("scan of a query", lambda: scanned(query={"query": {"term": {"level": "ERROR"}}}, preserve_order=True))
step("point in time", read_by_point_in_time)
step("get", lambda: client.get(index=INDEX, id="d007"))
step("get of nothing", lambda: client.get(index=INDEX, id="nobody"))
step("exists", lambda: [client.exists(index=INDEX, id="d007"), client.exists(index=INDEX, id="nobody")])
step("get source", lambda: client.get_source(index=INDEX, id="d007"))
step("mget", lambda: client.mget(index=INDEX, body={"ids": ["d001", "nobody"]}))
step("index", lambda: client.index(index=INDEX, id="own", body=document(7), refresh=True))
step("create again", lambda: client.create(index=INDEX, id="own", body=document(7)))
step("update", lambda: client.update(index=INDEX, id="own", body={"doc": {"level": "ERROR"}}))
step("update to the same", lambda: client.update(index=INDEX, id="own", body={"doc": {"level": "ERROR"}}))
step("upsert", lambda: client.update(index=INDEX, id="new", body={"doc": {"level": "ERROR"}, "doc_as_upsert": True}))
step("update of nothing", lambda: client.update(index=INDEX, id="nobody", body={"doc": {}}))
step("refresh after the updates", lambda: client.indices.refresh(index=INDEX))
step("put alias", lambda: client.indices.put_alias(index=INDEX, name=ALIAS))
step("get alias", lambda: client.indices.get_alias(name=ALIAS))
step("count by alias", lambda: client.count(index=ALIAS))
step("move alias", lambda: client.indices.update_aliases(body={"actions": [
    {"remove": {"index": INDEX, "alias": ALIAS}}, {"add": {"index": INDEX, "alias": ALIAS, "filter": {"term": {"level": "ERROR"}}}},
]}))
step("reindex", lambda: helpers.reindex(client, INDEX, COPY, bulk_kwargs={"refresh": True}))
step("count of the copy", lambda: client.count(index=COPY))
step("delete by query", lambda: client.delete_by_query(index=COPY, body={"query": {"term": {"level": "INFO"}}}, refresh=True))
step("delete", lambda: client.delete(index=INDEX, id="own"))
step("delete of nothing", lambda: client.delete(index=INDEX, id="nobody"))
step("refresh after the deletions", lambda: client.indices.refresh(index="clients-*"))
step("indices", lambda: client.cat.indices(index="clients-*", format="json", h="index,docs.count", s="index"))
step("settings", lambda: client.indices.get_settings(index=INDEX, name="index.number_of_shards"))
step("health", lambda: client.cluster.health(index=INDEX, wait_for_status="yellow")["status"])
step("delete alias", lambda: client.indices.delete_alias(index=INDEX, name=ALIAS))
step("delete indices", lambda: [client.indices.delete(index=name) for name in (INDEX, COPY)])
step("delete template", lambda: client.indices.delete_index_template(name="clients"))
step("get of no template", lambda: client.indices.get_index_template(name="clients"))
json.dump(steps, sys.stdout)
