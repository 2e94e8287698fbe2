/** Makes observations of stored records. Equal texts are kept once: JSON gives each record copies of its own, and an analysis holds tens of thousands of records. */

import { readErrorWords, tellsKernelKill, tellsLastingState } from '../../domain/root-cause/errors/read-error-words.ts'
import { entryOf } from '../../domain/root-cause/observed/entry-of.ts'
import { levelInText } from '../../domain/root-cause/observed/level-in-text.ts'
import type { Observation } from '../../domain/root-cause/observed/observation.ts'
import { buildTemplate, statementWords } from '../../domain/root-cause/observed/template.ts'

export interface StoredRecord {
  readonly time_unix_nano: string
  readonly service: string
  readonly trace_id?: string
  readonly span_id?: string
  readonly level?: string
  readonly log_id: string
  readonly pattern_id: string
  readonly pattern?: string
}

const isText = (value: unknown) => typeof value === 'string'
const isTextOrNone = (value: unknown) => value === undefined || typeof value === 'string'

/** Whether the indexer wrote it: another writer's document in a daily index may have a list of texts, or none. */
export function isStoredRecord(source: StoredRecord): boolean {
  return (
    isText(source.time_unix_nano) &&
    Number.isFinite(Number(source.time_unix_nano)) &&
    isText(source.service) &&
    isText(source.log_id) &&
    isText(source.pattern_id) &&
    isTextOrNone(source.pattern) &&
    isTextOrNone(source.trace_id) &&
    isTextOrNone(source.span_id) &&
    isTextOrNone(source.level)
  )
}

/** Doc values by attribute key. */
export type Fields = Readonly<Record<string, readonly unknown[]>>

/** Which of the replicas of a service wrote a record: the first of these that it has. */
const POD_KEY = 'k8s.pod.name'
const HOST_KEY = 'host'
export const INSTANCE_KEYS: readonly string[] = [POD_KEY, HOST_KEY]

/** The node that it was written on; without Kubernetes the host, which several services share. */
export const NODE_KEY = 'k8s.node.name'

/** A pattern, kept once for all its records, and the words of its statement. */
interface SharedPattern {
  readonly id: string
  readonly text: string
  readonly words: string
  /** The text itself says that it is an error, or a warning that names a reason. */
  readonly textIsError: boolean
  /** The text itself says that it is for those who look for mistakes. */
  readonly textIsDebug: boolean
  /** The text itself says that it is a warning. */
  readonly textIsWarning: boolean
  /** The text names a reason that lies where it is written: no space left. A warning of that tells more than the errors that follow from it. */
  readonly namesReason: boolean
}

/** For the records of one analysis. */
export class ObservationBuilder {
  /** By id. */
  readonly #patterns = new Map<string, SharedPattern>()
  /** Services, traces, statements, by themselves. */
  readonly #texts = new Map<string, string>()

  get patternCount(): number {
    return this.#patterns.size
  }

  knowsPattern(id: string): boolean {
    return this.#patterns.has(id)
  }

  /** The first text of an id counts. */
  learnPattern(id: string, text: string): void {
    this.#pattern(id, text)
  }

  /** The record's own pattern counts where that of its id is not known. */
  build(record: StoredRecord, fields: Fields | undefined): Observation {
    const { time_unix_nano: time, trace_id: traceId = '', span_id: spanId = '', level } = record
    const { id, text, words, textIsError, textIsDebug, textIsWarning, namesReason } = this.#pattern(record.pattern_id, record.pattern ?? '')
    const node = (fields?.[NODE_KEY] ?? (fields?.[POD_KEY] === undefined ? fields?.[HOST_KEY] : undefined))?.[0]
    const isDebug = level === 'DEBUG' || level === 'TRACE' || ((level ?? 'INFO') === 'INFO' && textIsDebug)
    const template = fields === undefined ? words : buildTemplate(words, key => fields[key]?.[0])
    const instance = INSTANCE_KEYS.map(key => fields?.[key]?.[0]).find(value => typeof value === 'string')
    return {
      timeMs: Number(time) / 1e6,
      service: this.#shared(record.service),
      traceId: this.#shared(traceId),
      spanId,
      // Words of a pattern may be all masked, and its level left out: statements of two levels are two.
      template: isDebug || fields !== undefined ? this.#shared(`${isDebug ? 'DEBUG ' : ''}${template}`) : words,
      isError: level === 'ERROR' || level === 'FATAL' || (level === 'WARN' && namesReason) || ((level ?? 'INFO') === 'INFO' && textIsError),
      ...(isDebug && { isDebug }),
      ...((level === 'WARN' || ((level ?? 'INFO') === 'INFO' && textIsWarning)) && { isWarning: true }),
      ...(instance !== undefined && { instance: this.#shared(String(instance)) }),
      ...(typeof node === 'string' && { node: this.#shared(node) }),
      logId: record.log_id,
      patternId: id,
      pattern: text,
    }
  }

  #pattern(id: string, text: string): SharedPattern {
    return entryOf(this.#patterns, id, () => {
      const isKill = tellsKernelKill(text)
      const namesReason = isKill || readErrorWords(text).sense === 'own'
      const level = levelInText(text)
      const textIsError = level === 'error' || isKill || (namesReason && (level === 'warning' || tellsLastingState(text)))
      return {
        id,
        text,
        words: statementWords(text),
        textIsError,
        textIsDebug: level === 'debug',
        textIsWarning: level === 'warning',
        namesReason,
      }
    })
  }

  #shared(text: string): string {
    return entryOf(this.#texts, text, () => text)
  }
}
