import { z } from 'zod'
import type { DetectorConfig } from '../../pipeline/steps/detect.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'

export interface BridgeConfigDeps {
  /** URL of the bridge; undefined: the initial values stay. */
  readonly endpoint: string | undefined
  readonly initial: DetectorConfig
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

export interface BridgeConfig {
  read(): DetectorConfig
}

const POLL_MS = 1_000
const ANSWER_WITHIN_MS = 2_000

/** The part of the answer to `GET /config` that the Z-score engine needs. */
const Answer = z.object({ anomalyThreshold: z.number().positive(), windowSize: z.number().int().positive() })

/** The Z-score engine's two settings as the bridge has them, so that its `PATCH /config` takes effect here too, within a second. */
export function followBridgeConfig({ endpoint, initial, clock, log, signal }: BridgeConfigDeps): BridgeConfig {
  let config = initial
  let isFailing = false

  const look = async (url: string) => {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]) })
    if (!answer.ok) throw new Error(`${url} answers ${answer.status}`)
    const next = Answer.parse(await answer.json())
    if (next.anomalyThreshold !== config.anomalyThreshold || next.windowSize !== config.windowSize)
      log.info({ before: config, after: next }, 'configuration of the bridge taken over')
    config = next
  }
  const follow = async (url: string) => {
    while (!signal.aborted) {
      try {
        await look(url)
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted) log.warn({ error, ...config }, 'the bridge does not tell its configuration: the last one stays')
        isFailing = true
      }
      await clock.sleep(POLL_MS, signal)
    }
  }
  if (endpoint !== undefined) void follow(`${endpoint.replace(/\/$/, '')}/config`)
  return { read: () => config }
}
