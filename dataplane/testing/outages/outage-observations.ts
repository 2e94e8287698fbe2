/** Records of an outage as the search for a root cause sees them: read as the product reads them, without a store between. */
import { hash } from 'node:crypto'
import { buildPattern } from '../../domain/records/pattern.ts'
import { chooseChanges, chooseErrors, messageKey, type ReadError, withErrorTexts } from '../../domain/root-cause/errors/error-texts.ts'
import type { Observation } from '../../domain/root-cause/observed/observation.ts'
import { ObservationBuilder } from '../../pipeline/root-cause/build-observations.ts'
import { finish } from '../root-cause-fixture.ts'
import type { RawRecord } from './outage-system.ts'

export function observe(records: readonly RawRecord[], atMs: number): readonly Observation[] {
  const builder = new ObservationBuilder()
  const read = new Map<string, ReadError>()
  const observations = records.map((record, at) => {
    const { id, text } = buildPattern(record.message)
    const stored = {
      ...{
        time_unix_nano: `${Math.round(record.timeMs * 1e6)}`,
        service: record.service,
        trace_id: record.traceId,
        span_id: record.spanId,
      },
      ...{ log_id: hash('sha1', `${record.timeMs} ${record.traceId} ${at}`, 'hex'), pattern_id: id, pattern: text },
      ...(record.level !== undefined && { level: record.level }),
    }
    const built = builder.build(stored, { 'k8s.pod.name': [record.pod], 'k8s.node.name': [record.node] })
    read.set(messageKey(built), { message: record.message, exception: '', called: undefined })
    return built
  })
  const chosen = [...chooseErrors(observations, atMs), ...finish(chooseChanges(observations, atMs))]
  return finish(withErrorTexts(observations, new Map(chosen.map(each => [messageKey(each), read.get(messageKey(each))!]))))
}
