import type { AcceptOptions } from './accept-json.ts'
import type { RequestLayout } from './layout.ts'
import { Fault, MalformedPayload } from './malformed.ts'
import { ProtobufTranscoder } from './protobuf-transcoder.ts'

/** Writes an `ExportLogsServiceRequest` in protobuf as OTLP JSON and finds its parts. Throws `MalformedPayload`. */
export function transcodeProtobuf(request: Uint8Array, options: AcceptOptions): RequestLayout {
  try {
    return new ProtobufTranscoder(request, options.observedTimeUnixNano).transcode()
  } catch (error) {
    if (error instanceof Fault)
      throw new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`)
    throw error
  }
}
