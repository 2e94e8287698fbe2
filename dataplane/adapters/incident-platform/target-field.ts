import type { FieldValue, Target } from '../../domain/tickets/target.ts'

/** The field as text without white space around it; undefined when it is absent or empty. */
export function field(target: Target, name: string): string | undefined {
  const value = fieldValue(target, name)
  const text = Array.isArray(value) ? value.join(', ') : value === undefined ? '' : String(value).trim()
  return text === '' ? undefined : text
}

/** The field as a list; a text is divided at commas. */
export function listField(target: Target, name: string): readonly string[] {
  const value = fieldValue(target, name)
  const parts: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : String(value).split(',')
  return parts.map(part => String(part).trim()).filter(part => part !== '')
}

function fieldValue({ fields }: Target, name: string): FieldValue | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}
