/** Single steps of the pipeline, fed from memory with the generator's mix in messages of 100 records. */

import { scoreRecord } from '../../dataplane/domain/anomalies/scoring.ts'
import { DEFAULT_ZSCORE_CONFIG, ServiceWindows } from '../../dataplane/domain/anomalies/zscore.ts'
import { acceptJson } from '../../dataplane/otlp/json/accept-json.ts'
import { transcodeProtobuf } from '../../dataplane/otlp/protobuf/transcode-protobuf.ts'
import { decodeFlatRecord } from '../../dataplane/pipeline/flat-record-layout.ts'
import { createDetector } from '../../dataplane/pipeline/steps/detect.ts'
import { createDocumentBuilder } from '../../dataplane/pipeline/steps/index-documents.ts'
import { prepareEngine, prepareRest } from './index-stages.ts'
import { ACCEPT_OPTIONS, enrichedRecords, freshBodies, logOperations, newEtl, rawMessages, toMessage } from './sample-records.ts'
import type { Pass, Stage } from './stage.ts'

const PURE_STAGES: Readonly<Record<string, () => Pass>> = {
  'JSON accept': () => {
    const bodies = freshBodies('json')
    return () => sum(bodies, body => toMessage(acceptJson(body.bytes, ACCEPT_OPTIONS)).records)
  },
  'protobuf transcode': () => {
    const bodies = freshBodies('protobuf')
    return () => sum(bodies, body => toMessage(transcodeProtobuf(body.bytes, ACCEPT_OPTIONS)).records)
  },
  etl: () => {
    const messages = rawMessages()
    const etl = newEtl()
    return () => sum(messages, message => etl.process(message, Date.now()).received)
  },
  score: () => {
    const records = enrichedRecords().map(({ value }) => decodeFlatRecord(value)!.canonical)
    return () => {
      let emitted = 0
      for (const record of records) if ((scoreRecord(record) ?? 0) >= 0.5) emitted += 1
      return emitted < 0 ? 0 : records.length
    }
  },
  'z-score': () => {
    const values = enrichedRecords().map(({ key, value }) => ({ key, score: scoreRecord(decodeFlatRecord(value)!.canonical) ?? 0 }))
    const windows = new ServiceWindows(DEFAULT_ZSCORE_CONFIG, 20_000)
    return () => {
      for (const { key, score } of values) windows.observe(key, score)
      return values.length
    }
  },
  'decode, score and z-score': () => {
    const inputs = enrichedRecords()
    return () => {
      const detector = createDetector(DEFAULT_ZSCORE_CONFIG)
      for (const input of inputs) detector.process(input)
      return inputs.length
    }
  },
  'build documents': () => {
    const inputs = enrichedRecords()
    const builder = createDocumentBuilder()
    return () => {
      for (const input of inputs) builder.log(input)
      return inputs.length
    }
  },
}

export const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
  ...Object.fromEntries(Object.entries(PURE_STAGES).map(([name, prepare]) => [name, async () => ({ pass: prepare() })])),
  'index (engine)': () => prepareEngine(logOperations(enrichedRecords())),
  'index over REST (server)': () => prepareRest(logOperations(enrichedRecords())),
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  let total = 0
  for (const item of items) total += count(item)
  return total
}
