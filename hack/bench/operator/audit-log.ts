/** The API server's own word on what the operator asked of it. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

export interface AuditedRequest {
  readonly verb: string
  /** With its subresource: `logpipelines/status`. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly status: number
  /** When it was answered, ms since the epoch. */
  readonly atMs: number
  /** From its arrival at the API server to the answer. */
  readonly durationMs: number
}

export interface AuditLog {
  /** Requests answered since the last call. */
  take(): readonly AuditedRequest[]
}

interface AuditLine {
  readonly stage: string
  readonly verb: string
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly requestURI: string
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
  readonly responseStatus?: { readonly code?: number }
}

const LINE_END = 10

export function readAuditLog(file: string): AuditLog {
  let offset = 0
  return {
    take() {
      const { text, bytes } = readLines(file, offset)
      offset += bytes
      const lines = text.split('\n').filter(line => line !== '')
      return lines.map(line => JSON.parse(line) as AuditLine).flatMap(requestOf)
    },
  }
}

/** A watch counts when it begins, everything else when it has been answered. */
function requestOf(line: AuditLine): readonly AuditedRequest[] {
  const { stage, verb, requestReceivedTimestamp, stageTimestamp, requestURI, objectRef = {}, responseStatus } = line
  if (stage !== (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) return []
  const { resource = requestURI, subresource, namespace, name } = objectRef
  return [
    {
      verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      ...{ namespace, name },
      status: responseStatus?.code ?? 0,
      atMs: Date.parse(stageTimestamp),
      durationMs: Date.parse(stageTimestamp) - Date.parse(requestReceivedTimestamp),
    },
  ]
}

/** Whole lines only: the last one may be still on its way. */
function readLines(file: string, offset: number): { readonly text: string; readonly bytes: number } {
  if (!existsSync(file)) return { text: '', bytes: 0 }
  const opened = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(opened).size - offset))
    const read = buffer.subarray(0, readSync(opened, buffer, 0, buffer.length, offset))
    const bytes = read.lastIndexOf(LINE_END) + 1
    return { text: read.toString('utf8', 0, bytes), bytes }
  } finally {
    closeSync(opened)
  }
}
