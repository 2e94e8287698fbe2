/** Building blocks of the custom resources' schemas: zod types that carry what a CRD needs beside them. */
import { z } from 'zod'
import { HTTP_URL, type ValueKind } from '../../dataplane/contract/setting.ts'

/** A CEL rule of the CRD (`x-kubernetes-validations`). */
export interface CelRule {
  readonly rule: string
  /** The expectation, for the user whose object is refused. */
  readonly message: string
  /** The field within the object that the message is about, such as `.bus`. */
  readonly fieldPath?: string
}

/** The `.meta()` of a schema; everything beside `description` goes into the CRD as it is. */
export interface SchemaMeta {
  readonly description?: string
  readonly 'x-kubernetes-validations'?: readonly CelRule[]
  readonly 'x-kubernetes-int-or-string'?: true
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

/** The schema with rules and a description; `meta` of zod replaces what was there, this adds to it. */
export function described<T extends z.ZodType>(schema: T, description: string, ...rules: readonly CelRule[]): T {
  return annotated(schema, { description, ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }) })
}

export function annotated<T extends z.ZodType>(schema: T, meta: SchemaMeta): T {
  return schema.meta({ ...schema.meta(), ...meta })
}

interface TextForm {
  readonly maxLength: number
  readonly pattern: RegExp
  /** Completes `expected …`. */
  readonly expected: string
  /** Where not every text of the form will do. The CRD says as much of it as `rule`; the operator looks at the whole when it reads the resource. */
  readonly isUsable?: (value: string) => boolean
  /** CEL, beside the pattern. */
  readonly rule?: string
}

/** A text of a certain form, refused with a sentence that says which instead of a regular expression. */
export function formatted(description: string, { maxLength, pattern, expected, isUsable = () => true, rule }: TextForm) {
  const message = `expected ${expected}`
  const text = z
    .string()
    .max(maxLength)
    .refine(value => pattern.test(value) && isUsable(value), message)
  const matches = `self.matches(r'${pattern.source}')`
  return described(text, description, { rule: rule === undefined ? matches : `${matches} && ${rule}`, message })
}

/** A setting's own check of its text. */
export const isValueOf =
  ({ schema }: ValueKind<unknown>) =>
  (text: string): boolean =>
    schema.safeParse(text).success

/** Regular expression of a port number, 1 to 65535. */
export const PORT_PATTERN = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])'

/** As the settings of roles have them: without user name, query or fragment. */
export function httpUrl(description: string, example: string) {
  return formatted(description, {
    maxLength: 2_048,
    pattern: new RegExp(`^https?:[/][/]([^ /?#@:[\\]]+|[[][0-9A-Fa-f:.]+[\\]])(:${PORT_PATTERN})?([/][^ ?#]*)?$`),
    expected: `a URL such as ${example} (http or https, without user name, query or fragment)`,
    isUsable: isValueOf(HTTP_URL),
  })
}

/** Name of an object in the same namespace. */
export function objectName(description: string, maxLength = 253) {
  return described(
    z
      .string()
      .min(1)
      .max(maxLength)
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
    description,
  )
}

/** A reference to an object of the namespace. */
export function localReference(kind: string) {
  return z.object({ name: objectName(`Name of the ${kind}, in the same namespace.`) })
}

/** Key in a Secret or ConfigMap. */
export function dataKey(description: string) {
  return described(
    z
      .string()
      .min(1)
      .max(253)
      .regex(/^[-._a-zA-Z0-9]+$/),
    description,
  )
}

export function count(min: number, max: number, description: string) {
  return described(z.int().min(min).max(max), description)
}

export function textMap(maxItems: number, maxLength: number, description: string) {
  const map = z.record(z.string(), z.string().max(maxLength))
  return described(map.meta({ maxProperties: maxItems }), description)
}

/** Anything that Kubernetes itself checks when the object made from it is applied. */
export function passedThrough(description: string) {
  return annotated(z.record(z.string(), z.unknown()), { description, 'x-kubernetes-preserve-unknown-fields': true })
}
