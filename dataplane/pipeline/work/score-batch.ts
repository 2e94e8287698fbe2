/** Scores a batch of flat records, and sends the anomalies among them: the part that `anomaly` and the direct lane have in common. */
import type { AnomalyFlags } from '../../domain/documents/document.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { decodeAnomalyEvent, encodeSmallAnomalyEvent } from '../anomaly-event.ts'
import type { Output } from '../runners/work.ts'
import { sendFitting } from '../send-fitting.ts'
import type { Detection, Detector, DetectorInput } from '../steps/detect.ts'
import { flagsOf } from '../steps/index-documents.ts'

/**
 * A flat record that is an anomaly, and the anomaly's event. It lives until the documents of its batch are written, which the anomaly itself need not:
 * the collector of garbage would move all its texts by then.
 */
export interface Found<R> {
  readonly record: R
  /** For `anomaly-events`. */
  readonly event: BusRecord
  readonly flags: AnomalyFlags
  /** The record came with an earlier batch: its service has fallen silent since. */
  readonly isEarlier: boolean
}

/** The anomalies of a batch. */
export interface Scored<R> {
  readonly found: readonly Found<R>[]
  /** Anomalies that the Z-score engine and its signals saw. */
  readonly byZscore: number
}

/** Takes a record that a step gives up, with the reason. */
export type GiveUp<R> = (record: R, reason: string) => void

export function scoreBatch<R extends DetectorInput>(detector: Detector, records: readonly R[], giveUp: GiveUp<R>): Scored<R> {
  const found: Found<R>[] = []
  let byZscore = 0
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!
    const outcome = detector.process(record)
    if (outcome.kind === 'emit') {
      found.push(foundIn(record, outcome.value, false))
      if (outcome.value.anomaly.detectors.includes('zscore')) byZscore++
    } else if (outcome.kind === 'deadLetter') {
      giveUp(record, outcome.reason)
    }
    const silenced = detector.takeSilent()
    if (silenced.length === 0) continue
    for (const { input, ...silent } of silenced) {
      found.push(foundIn({ ...record, ...input }, silent, true))
      byZscore++
    }
  }
  return { found, byZscore }
}

function foundIn<R>(record: R, { anomaly, event }: Detection, isEarlier: boolean): Found<R> {
  return { record, event, flags: flagsOf(anomaly), isEarlier }
}

/** An event that the bus takes for too large goes without the attributes of its record; the log document has them. */
export async function sendEvents<R extends DetectorInput>(
  found: readonly Found<R>[],
  output: Output,
  topic: string,
  giveUp: GiveUp<R>,
): Promise<void> {
  if (found.length === 0) return
  const refused = await sendFitting(
    output,
    topic,
    found.map(({ event }) => event),
  )
  for (const { record, event } of refused.map(position => found[position]!)) {
    const anomaly = decodeAnomalyEvent({ ...event, headers: event.headers ?? {} })?.anomaly
    const small = anomaly && encodeSmallAnomalyEvent(anomaly, record)
    const isSent = small !== undefined && (await sendFitting(output, topic, [small])).length === 0
    if (!isSent) giveUp(record, 'anomaly event: larger than the bus takes')
  }
}
