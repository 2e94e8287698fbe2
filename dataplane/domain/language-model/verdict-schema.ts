/** The JSON schema of a verdict, in what OpenAI's strict mode and Anthropic's both take: no lengths, all fields required, no others. */

export const NO_SERVICE = 'unknown'
export const CONFIDENCES = ['low', 'medium', 'high'] as const

const TEXT = { type: 'string' } as const
const TEXTS = { type: 'array', items: TEXT } as const

export function verdictSchema(services: readonly string[], evidenceIds: readonly string[]): object {
  return record({
    summary: TEXT,
    rootCause: record({
      service: { type: 'string', enum: [...new Set([...services, NO_SERVICE])] },
      evidenceIds: { type: 'array', items: evidenceIds.length === 0 ? TEXT : { type: 'string', enum: evidenceIds } },
    }),
    hypotheses: TEXTS,
    confidence: { type: 'string', enum: CONFIDENCES },
    nextSteps: TEXTS,
  })
}

function record(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
