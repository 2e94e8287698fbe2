/** The published OTLP messages for logs, and a general protobuf library that reads and writes them: the oracle of the tests. */
import protobuf from 'protobufjs'

const LOGS_PROTO = `
syntax = "proto3";
package opentelemetry;
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
  ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message LogRecord { fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2; string severity_text = 3;
  AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7; fixed32 flags = 8; bytes trace_id = 9;
  bytes span_id = 10; string event_name = 12; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
message Any { string type_url = 1; bytes value = 2; }
message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message RetryInfo { Duration retry_delay = 1; }
`
const root = protobuf.parse(LOGS_PROTO).root
const PLAIN = { longs: String, bytes: String, json: true } as const

type MessageName = 'ExportLogsServiceRequest' | 'ExportLogsServiceResponse' | 'Status' | 'RetryInfo' | 'AnyValue'

/** 64-bit integers as decimal strings, bytes as base64. */
export function encodeMessage(name: MessageName, message: object): Buffer {
  const type = root.lookupType(`opentelemetry.${name}`)
  return Buffer.from(type.encode(type.fromObject(message)).finish())
}

export function decodeMessage(name: MessageName, wire: Uint8Array): Record<string, unknown> {
  const type = root.lookupType(`opentelemetry.${name}`)
  return type.toObject(type.decode(wire), PLAIN)
}
