/** Building blocks of the custom resources' schemas: zod types that carry what a CRD needs beside them. */
import { z } from 'zod'

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

/** A text of a certain form, refused with a sentence that says which instead of a regular expression. `expected` completes `expected …`. */
export function formatted(description: string, { maxLength, pattern, expected }: { maxLength: number; pattern: RegExp; expected: string }) {
  const message = `expected ${expected}`
  const text = z
    .string()
    .max(maxLength)
    .refine(value => pattern.test(value), message)
  return described(text, description, { rule: `self.matches(r'${pattern.source}')`, message })
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
