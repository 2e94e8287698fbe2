import { isUtf8 } from 'node:buffer'
import { Fault } from '../json/fault.ts'
import { pathAt, seenAt } from '../json/path.ts'
import { JsonScanner } from './json-scanner.ts'
import type { RequestLayout } from './layout.ts'
import { MalformedPayload } from './malformed.ts'
import { allSteps, type Steps } from './steps.ts'

export interface AcceptOptions {
  /** Decimal string; given to records that carry neither time (Decisions 3). */
  readonly observedTimeUnixNano: string
}

/** Checks an `ExportLogsServiceRequest` in JSON and finds its parts. Throws `MalformedPayload` or `OversizedPayload`. The bytes are kept, not copied. */
export function acceptJson(text: Uint8Array, options: AcceptOptions): RequestLayout {
  return allSteps(acceptingSteps(text, options))
}

/** The same, with rests. */
export function* acceptingSteps(text: Uint8Array, options: AcceptOptions): Steps<RequestLayout> {
  if (!isUtf8(text)) throw new MalformedPayload('request body: expected UTF-8, saw bytes that are not')
  try {
    return yield* new JsonScanner(text, options.observedTimeUnixNano).scan()
  } catch (error) {
    if (error instanceof Fault) throw new MalformedPayload(describe(text, error))
    throw error
  }
}

function describe(text: Uint8Array, fault: Fault): string {
  const path = pathAt(text, fault.offset)
  return `${path === '' ? 'request body' : path}: expected ${fault.expected}, saw ${seenAt(text, fault.offset)} (at byte ${fault.offset})`
}
