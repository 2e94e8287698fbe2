import { bufferOf } from '../memory/buffer-of.ts'
import { EditedText } from '../otlp/edited-text.ts'
import { acceptJson, acceptJsonSteps } from '../otlp/json/accept-json.ts'
import type { Edit } from '../otlp/layout.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import type { Steps } from '../otlp/steps.ts'
import type { Injection } from './attribute-names.ts'
import { LostWay, TenantEdits } from './tenant-edits.ts'

const NO_TIME = { observedTimeUnixNano: '0' }

/** Puts the tenant into OTLP JSON. Takes the way that the brackets show; the collector checks the rest. Throws `MalformedPayload` or `OversizedPayload` where they show none. */
export function injectJson(body: Buffer, injection: Injection): Buffer {
  try {
    return edited(body, new TenantEdits(body, injection).ofRequest())
  } catch (error) {
    if (!(error instanceof LostWay)) throw error
    // It is said in the collector's words.
    acceptJson(body, NO_TIME)
    throw new MalformedPayload('request body: expected OTLP logs in JSON', { cause: error })
  }
}

/** The same, with rests. Resources and records of more than `maxPartBytes`, which go nowhere, stay as they are. */
export function* injectJsonSteps(body: Buffer, injection: Injection, maxPartBytes: number): Steps<Buffer> {
  const layout = yield* acceptJsonSteps(body, { ...NO_TIME, maxPartBytes })
  return edited(body, yield* new TenantEdits(body, injection).ofLayout(layout, maxPartBytes))
}

function edited(body: Buffer, edits: readonly Edit[]): Buffer {
  return bufferOf(new EditedText(body, edits).bytes(0, body.length))
}
