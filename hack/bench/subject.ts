/** A server under test: logpipeline standalone, or a peer that is fed and asked the same. */
import type { Protocol, Target } from './load-connection.ts'

export interface Subject {
  readonly name: string
  readonly pid: number
  readonly dataDir: string
  /** Undefined when it does not speak the protocol. */
  target(protocol: Protocol): Target | undefined
  /** Records that a search finds. */
  count(): Promise<number>
  /** Messages of the newest records that hold `word`, at most 500. */
  newestMessages(word: string): Promise<readonly string[]>
  /** The queries to be timed, by name; each resolves once the whole answer is there. `rareWord` stands in one record. */
  queries(rareWord: string): Promise<Readonly<Record<string, () => Promise<unknown>>>>
  /** Ends the process and removes its data. */
  remove(): Promise<void>
}

/** The queries that a log viewer asks, over the last hour, named the same for every subject. */
export const QUERY_NAMES = [
  'newest 50, a word',
  'newest 50, a phrase',
  'a rare word',
  'histogram, 1 h by minute',
  'histogram with a word',
  'level and time range',
  'by id',
] as const
export type QueryName = (typeof QUERY_NAMES)[number]

/** Fails on any answer but 2xx. */
export async function fetchText(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${init?.method ?? 'GET'} ${url} answered ${response.status}: ${text.slice(0, 500)}`)
  return text
}
