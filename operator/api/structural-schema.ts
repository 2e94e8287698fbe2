import { z } from 'zod'

export interface StructuralSchema {
  readonly [keyword: string]: unknown
}

type Keywords = Record<string, unknown>

/** Keywords of JSON Schema that a structural schema does not know, or that say nothing there. */
const DROPPED = ['$schema', 'propertyNames', 'id']

/** The OpenAPI v3 schema that Kubernetes demands of a CRD ("structural"), from a zod schema. Throws on what cannot be said there. */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return structural(z.toJSONSchema(schema, { io: 'input', reused: 'inline', unrepresentable: 'throw' }) as Keywords)
}

function structural(node: Keywords): StructuralSchema {
  const kept: Keywords = Object.fromEntries(Object.entries(node).filter(([keyword]) => !DROPPED.includes(keyword)))
  if (node['x-kubernetes-int-or-string'] === true) return intOrString(kept)
  if (Array.isArray(kept['type']) || ['allOf', 'anyOf', 'oneOf'].some(keyword => kept[keyword] !== undefined))
    throw new Error(`a structural schema holds no alternatives: ${JSON.stringify(node)}`)
  if (node['x-kubernetes-preserve-unknown-fields'] === true) delete kept['additionalProperties']
  return withBounds({ ...kept, ...children(kept) })
}

/** The pattern of the text counts for the whole; a number has none. */
function intOrString({ description, anyOf, ...rest }: Keywords): StructuralSchema {
  const pattern = (anyOf as readonly Keywords[]).map(one => one['pattern']).find(one => one !== undefined)
  return {
    ...(description === undefined ? {} : { description }),
    ...rest,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...(pattern === undefined ? {} : { pattern }),
  }
}

function children({ properties, items, additionalProperties }: Keywords): Keywords {
  return {
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Keywords).map(([name, child]) => [name, structural(child as Keywords)]),
          ),
        }),
    ...(items === undefined ? {} : { items: structural(items as Keywords) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: structural(additionalProperties as Keywords) }),
  }
}

/** Draft 4, as OpenAPI 3.0 has it: an exclusive bound is a flag; bounds that only say "a safe integer" go, and the format says 64 bits. */
function withBounds({ minimum, maximum, exclusiveMinimum, ...rest }: Keywords): StructuralSchema {
  return {
    ...rest,
    ...(typeof minimum === 'number' && minimum !== Number.MIN_SAFE_INTEGER ? { minimum } : {}),
    ...(typeof exclusiveMinimum === 'number' ? { minimum: exclusiveMinimum, exclusiveMinimum: true } : {}),
    ...(typeof maximum === 'number' && maximum !== Number.MAX_SAFE_INTEGER ? { maximum } : {}),
    ...(rest['type'] === 'integer' ? { format: 'int64' } : {}),
  }
}
