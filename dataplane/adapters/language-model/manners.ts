/** Fields that models refuse, learnt from their 400s, so that each model is asked in its way the next time (README: Decisions). */
import type { LlmConfig } from '../../ports/language-model.ts'
import type { LimitName, Manners } from './wire-format.ts'

/** Models whose manners are remembered. */
const MAX_KNOWN_MODELS = 1_000

const LESS_JSON: Readonly<Record<Manners['json'], Manners['json']>> = { schema: 'object', object: 'words', words: 'words' }
const OTHER_LIMIT: Readonly<Record<LimitName, LimitName>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
}

/** Without what a 400 complains of; undefined where nothing is left to give up. */
export function withoutRefused(manners: Manners, complaint: string): Manners | undefined {
  if (manners.hasTemperature && /temperature/i.test(complaint)) return { ...manners, hasTemperature: false }
  if (
    /max_(?:completion_)?tokens/i.test(complaint) &&
    /unsupported|not supported|unrecognized|unknown|unexpected|extra|instead|not permitted/i.test(complaint)
  )
    return { ...manners, limitName: OTHER_LIMIT[manners.limitName] }
  if (manners.json === 'words') return undefined
  return { ...manners, json: LESS_JSON[manners.json] }
}

export interface KnownManners {
  of(config: LlmConfig, limitName: LimitName): Manners
  learn(config: LlmConfig, manners: Manners): void
}

export function createKnownManners(): KnownManners {
  const known = new Map<string, Manners>()
  const keyOf = ({ provider, baseUrl = '', model }: LlmConfig) => JSON.stringify([provider, baseUrl, model])
  return {
    of: (config, limitName) => known.get(keyOf(config)) ?? { json: 'schema', hasTemperature: true, limitName, isOtherwise: false },
    learn(config, manners) {
      const key = keyOf(config)
      known.delete(key)
      known.set(key, manners)
      if (known.size > MAX_KNOWN_MODELS) known.delete(known.keys().next().value!)
    },
  }
}
