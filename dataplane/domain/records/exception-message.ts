import type { FlatAttributes } from './flatten.ts'

/** Attributes by which OpenTelemetry records an exception; SDKs that are given one and no text send these and no body. */
export const EXCEPTION_KEYS = ['exception.type', 'exception.message'] as const
/** UTF-16 units; the attributes have the whole. */
export const MAX_EXCEPTION_MESSAGE = 1_024

/** The message of a record without a text that has an exception: `TypeError: x is undefined`; empty without one (Decisions 3). */
export function exceptionMessage(attributes: FlatAttributes): string {
  return joinException(EXCEPTION_KEYS.map(key => textOf(attributes.get(key))))
}

/** The message of an exception from what it has of the texts of `EXCEPTION_KEYS`; empty without any. */
export function joinException(texts: readonly string[]): string {
  const told = texts.filter(text => text !== '')
  return told.join(': ').slice(0, MAX_EXCEPTION_MESSAGE).toWellFormed()
}

/** The text of a JSON string; empty for other values. */
function textOf(json: string | undefined): string {
  return json?.startsWith('"') ? JSON.parse(json) : ''
}
