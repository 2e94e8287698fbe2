/** Reads objects of other operators, whose status may hold anything, as the types in `foreign-kinds.ts` have them. */
import { isJsonObject } from '../../dataplane/json/is-json-object.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Autoscaler, ExternalSecret, ForeignCondition, KafkaTopic, StrimziKafka, StrimziListener } from './foreign-kinds.ts'

type Fields = Readonly<Record<string, unknown>>

export function readExternalSecret(object: KubernetesObject): ExternalSecret {
  const { spec, status, rest } = parts(object)
  const { conditions, binding } = status
  return {
    ...rest,
    spec: { target: texts(fields(spec['target']), ['name']) },
    status: { conditions: readConditions(conditions), binding: texts(fields(binding), ['name']) },
  }
}

export function readKafka(object: KubernetesObject): StrimziKafka {
  const { status, rest } = parts(object)
  return { ...rest, status: { conditions: readConditions(status['conditions']), listeners: list(status['listeners']).map(readListener) } }
}

export function readKafkaTopic(object: KubernetesObject): KafkaTopic {
  const { spec, status, rest } = parts(object)
  const { observedGeneration } = status
  return {
    ...rest,
    spec: texts(spec, ['topicName']),
    status: { conditions: readConditions(status['conditions']), ...(typeof observedGeneration === 'number' && { observedGeneration }) },
  }
}

export function readAutoscaler(object: KubernetesObject): Autoscaler {
  const { spec: _, ...rest } = object as Autoscaler & { readonly spec?: unknown }
  return { ...rest, status: { conditions: readConditions(fields(object['status'])['conditions']) } }
}

function readListener(value: unknown): StrimziListener {
  const listener = fields(value)
  const certificates = list(listener['certificates']).filter(certificate => typeof certificate === 'string')
  return { ...texts(listener, ['name', 'bootstrapServers']), certificates }
}

function readConditions(value: unknown): readonly ForeignCondition[] {
  return list(value).flatMap(one => {
    const { type, status, ...rest } = texts(fields(one), ['type', 'status', 'reason', 'message', 'lastTransitionTime'])
    return type === undefined || status === undefined ? [] : [{ type, status, ...rest }]
  })
}

function parts({ spec, status, ...rest }: KubernetesObject & { readonly spec?: unknown; readonly status?: unknown }) {
  return { spec: fields(spec), status: fields(status), rest }
}

const fields = (value: unknown): Fields => (isJsonObject(value) ? value : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The named fields that are texts. */
function texts<Name extends string>(of: Fields, names: readonly Name[]): { readonly [Key in Name]?: string } {
  const found = names.flatMap(name => (Object.hasOwn(of, name) && typeof of[name] === 'string' ? [[name, of[name]] as const] : []))
  return Object.fromEntries(found) as { readonly [Key in Name]?: string }
}
