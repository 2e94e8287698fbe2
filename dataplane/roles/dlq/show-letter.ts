import type { Letter } from '../../pipeline/dead-letters/letter.ts'
import type { LetterReplayTally } from '../../pipeline/dead-letters/replay-letters.ts'

const MAX_REASON_LENGTH = 200

export const LIST_HEAD =
  'TIME                      LETTER      STAGE      FROM                      KEY                       BYTES  REASON'

/** One line for people. */
export function letterLine(letter: Letter): string {
  const { id, time, stage, topic, origin, key, value } = letter
  const from = `${topic}/${origin}`
  const cells = [time.padEnd(24), id.padEnd(10), stage.padEnd(9), from.padEnd(24), key.padEnd(22), String(value.length).padStart(8)]
  return `${cells.map(oneLine).join('  ')}  ${oneLine(shownReason(letter))}`
}

function shownReason({ reason, replayed, wholeBytes }: Letter): string {
  const notes = [
    ...(replayed === undefined ? [] : [`replayed ${replayed} and came back`]),
    ...(wholeBytes === undefined ? [] : [`cut, the original had ${wholeBytes} bytes`]),
  ]
  return `${notes.length === 0 ? '' : `[${notes.join('; ')}] `}${reason.slice(0, MAX_REASON_LENGTH)}`
}

/**
 * One line for programs: the original bytes as `value`, or as `valueBase64` when they are no UTF-8; `replayed` where it came back from a replay,
 * `wholeBytes` where the original was larger than a letter can be.
 */
export function letterJson({ value, receivedMs: _received, ...fields }: Letter): string {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const text = bytes.toString()
  return JSON.stringify({ ...fields, ...(Buffer.from(text).equals(bytes) ? { value: text } : { valueBase64: bytes.toString('base64') }) })
}

export function tallyLines(
  { sent, repeated, cut, strange }: LetterReplayTally,
  { dryRun }: { readonly dryRun: boolean },
): readonly string[] {
  const total = [...sent.values()].reduce((sum, count) => sum + count, 0)
  const where = [...sent].map(([topic, count]) => `${count} to ${topic}`).join(', ')
  const head = `${dryRun ? 'would replay' : 'replayed'} ${counted(total)}${where === '' ? '' : `: ${where}`}`
  return [
    head,
    ...(repeated > 0 ? [`not sent: ${counted(repeated)} with the same bytes as one before`] : []),
    ...(cut > 0 ? [`not sent: ${counted(cut)} cut to the beginning of the original`] : []),
    ...[...strange].map(
      ([topic, count]) =>
        `not sent: ${counted(count)} from ${topic}: the settings name no such topic (RAW_TOPIC, ENRICHED_TOPIC, ANOMALY_TOPIC)`,
    ),
  ]
}

export function counted(letters: number): string {
  return `${letters} ${letters === 1 ? 'letter' : 'letters'}`
}

/** Nothing from a log record may move a terminal's cursor. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
