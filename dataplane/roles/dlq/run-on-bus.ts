/** The three actions of `logpipeline dlq` on an open bus. */
import type { SettingsOf } from '../../contract/env.ts'
import type { LetterFilter } from '../../pipeline/dead-letters/letter.ts'
import { readLetters } from '../../pipeline/dead-letters/read-letters.ts'
import { replayLetters } from '../../pipeline/dead-letters/replay-letters.ts'
import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DlqConfig } from './dlq-options.ts'
import { type Print, printLines } from './print-lines.ts'
import { counted, LIST_HEAD, letterJson, letterLine, tallyLines } from './show-letter.ts'

/** Where a command works, and where it speaks. */
export interface DlqPlace {
  readonly bus: Bus
  readonly settings: Pick<SettingsOf<'bridge'>, 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC'>
  /** Takes letters, and what was done. */
  readonly print: Print
  /** Takes what is said about a listing. */
  readonly stderr: { write(text: string): unknown }
  readonly clock: Clock
}

const ACTIONS: Readonly<Record<DlqConfig['action'], (config: DlqConfig, place: DlqPlace) => Promise<void>>> = { list, replay, purge }

/** Does what the command says; rejects when the bus fails. */
export function runOnBus(config: DlqConfig, place: DlqPlace): Promise<void> {
  return ACTIONS[config.action](config, place)
}

async function list({ filter, limit, json }: DlqConfig, { bus, settings, print, stderr }: DlqPlace): Promise<void> {
  let shown = 0
  const lines = async function* () {
    for await (const letter of readLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, filter, limit })) {
      if (shown++ === 0 && !json) yield LIST_HEAD
      yield json ? letterJson(letter) : letterLine(letter)
    }
  }
  const isRead = await printLines(lines(), print)
  if (!isRead) return
  stderr.write(`${counted(shown)}${shown === limit ? ' (--limit)' : ''}\n`)
  if (shown === 0) stderr.write(unknownTopic(filter, settings))
}

async function replay({ filter, limit, dryRun }: DlqConfig, { bus, settings, print, stderr, clock }: DlqPlace): Promise<void> {
  const letters = readLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, filter, limit })
  const tally = await replayLetters(letters, { bus: dryRun ? undefined : bus, topics: new Set(originsOf(settings)), clock })
  await print(`${tallyLines(tally, { dryRun }).join('\n')}\n`)
  if (tally.sent.size + tally.cut + tally.strange.size === 0) stderr.write(unknownTopic(filter, settings))
}

function originsOf({ RAW_TOPIC, ENRICHED_TOPIC, ANOMALY_TOPIC }: DlqPlace['settings']): readonly string[] {
  return [RAW_TOPIC, ENRICHED_TOPIC, ANOMALY_TOPIC]
}

/** A topic of former settings may have letters, so only a search that found none says that the topic is unknown. */
function unknownTopic({ topic }: LetterFilter, settings: DlqPlace['settings']): string {
  const origins = originsOf(settings)
  if (topic === undefined || origins.includes(topic)) return ''
  return `--topic: letters come from ${origins.join(', ')}, seen ${JSON.stringify(topic)}\n`
}

async function purge({ dryRun }: DlqConfig, { bus, settings, print }: DlqPlace): Promise<void> {
  const { partitions } = await bus.describe()
  const own = partitions.filter(({ topic }) => topic === settings.DEAD_LETTER_TOPIC)
  const letters = own.reduce((sum, { startOffset, endOffset }) => sum + endOffset - startOffset, 0)
  if (!dryRun) await bus.purge(settings.DEAD_LETTER_TOPIC)
  await print(`${dryRun ? 'would purge' : 'purged'} ${counted(letters)}\n`)
}
