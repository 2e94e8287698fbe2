"""What a user of the Feast SDK does against an online feature server: defines the view, pushes, asks.

Arguments: an empty directory, the server's URL. Prints one JSON object.
"""
import json
import sys
from datetime import datetime, timezone

import pandas
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, PushSource, RepoConfig, ValueType
from feast.data_source import PushMode
from feast.types import Float64, Int64

directory, url = sys.argv[1:3]
FEATURES = {
    "ml_error_rate_1h": Float64,
    "ml_p99_latency_1h": Float64,
    "ml_request_rate_1h": Float64,
    "ml_anomaly_history_count": Int64,
}

now = datetime.now(timezone.utc)
rows = pandas.DataFrame(
    {
        "tenant_id": ["acme", "globex"],
        "service": ["checkout", "checkout"],
        "ml_error_rate_1h": [0.3, 0.0],
        "ml_p99_latency_1h": [2500.5, 10.0],
        "ml_request_rate_1h": [1.25, 2.0],
        "ml_anomaly_history_count": [4, 0],
        "event_timestamp": [now, now],
        "created": [now, now],
    }
)
rows.to_parquet(f"{directory}/batch.parquet")

store = FeatureStore(
    config=RepoConfig(
        project="logs",
        registry=f"{directory}/registry.db",
        provider="local",
        online_store={"type": "remote", "path": url},
        entity_key_serialization_version=3,
    )
)
tenant = Entity(name="tenant", join_keys=["tenant_id"], value_type=ValueType.STRING)
service = Entity(name="service", join_keys=["service"], value_type=ValueType.STRING)
batch = FileSource(
    name="batch", path=f"{directory}/batch.parquet", timestamp_field="event_timestamp", created_timestamp_column="created"
)
source = PushSource(name="service_stats", batch_source=batch)
schema = [Field(name=name, dtype=dtype) for name, dtype in FEATURES.items()]
view = FeatureView(name="service_stats", entities=[tenant, service], schema=schema, source=source)
store.apply([tenant, service, batch, source, view])


def ask(full_feature_names=False):
    return store.get_online_features(
        features=[f"service_stats:{name}" for name in FEATURES],
        entity_rows=[
            {"tenant_id": "acme", "service": "checkout"},
            {"tenant_id": "globex", "service": "checkout"},
            {"tenant_id": "acme", "service": "unknown"},
        ],
        full_feature_names=full_feature_names,
    ).to_dict()


before = ask()
store.push("service_stats", rows, to=PushMode.ONLINE)
print(json.dumps({"before": before, "after": ask(), "full": sorted(ask(full_feature_names=True))}))
