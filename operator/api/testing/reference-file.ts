import { readFileSync } from 'node:fs'
import { KINDS } from '../crd.ts'
import { fieldReference } from '../field-reference.ts'

export const REFERENCE_FILE = new URL('../../README.md', import.meta.url)

/** The operator's README with the tables of fields as they are now. */
export function referenceText(): string {
  return KINDS.reduce(
    (text, kind) => {
      const marked = new RegExp(`(<!-- fields ${kind.kind} -->\n)[\\s\\S]*?(<!-- /fields -->)`)
      if (!marked.test(text)) throw new Error(`operator/README.md has no <!-- fields ${kind.kind} --> … <!-- /fields -->`)
      return text.replace(marked, (_all, begin: string, end: string) => `${begin}${fieldReference(kind)}\n${end}`)
    },
    readFileSync(REFERENCE_FILE, 'utf8'),
  )
}
