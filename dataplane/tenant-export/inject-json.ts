import { acceptJson } from '../otlp/accept-json.ts'
import { EditedText } from '../otlp/edited-text.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import type { Injection } from './attribute-names.ts'
import { LostWay, TenantEdits } from './tenant-edits.ts'

/** Puts the tenant into OTLP JSON. Takes the way that the brackets show; the collector checks the rest. Throws `MalformedPayload` or `OversizedPayload` where they show none. */
export function injectJson(body: Buffer, injection: Injection): Buffer {
  try {
    const { buffer, byteOffset, length } = new EditedText(body, new TenantEdits(body, injection).ofRequest()).bytes(0, body.length)
    return Buffer.from(buffer, byteOffset, length)
  } catch (error) {
    if (!(error instanceof LostWay)) throw error
    // It is said in the collector's words.
    acceptJson(body, { observedTimeUnixNano: '0' })
    throw new MalformedPayload('request body: expected OTLP logs in JSON', { cause: error })
  }
}
