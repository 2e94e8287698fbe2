import { Fault } from '../json/fault.ts'
import type { AcceptOptions } from './accept-json.ts'
import type { RequestLayout } from './layout.ts'
import { MalformedPayload } from './malformed.ts'
import { ProtobufTranscoder } from './protobuf-transcoder.ts'

export interface TranscodeOptions extends AcceptOptions {
  /** Limit of the JSON form, which may be several times larger than the request. */
  readonly maxTextBytes?: number
}

const MAX_TEXT_BYTES = 512 * 1024 * 1024

/** Writes an `ExportLogsServiceRequest` in protobuf as OTLP JSON and finds its parts. Throws `MalformedPayload` or `OversizedPayload`. */
export function transcodeProtobuf(
  request: Uint8Array,
  { observedTimeUnixNano, maxTextBytes = MAX_TEXT_BYTES }: TranscodeOptions,
): RequestLayout {
  try {
    return new ProtobufTranscoder(request, observedTimeUnixNano, maxTextBytes).transcode()
  } catch (error) {
    if (error instanceof Fault)
      throw new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`)
    throw error
  }
}
