import type { FieldMapping } from '../../../mapping/field-types.ts'
import type { Column } from '../../index-storage.ts'

/** The number that a term stands for in a numeric or boolean field; undefined for dates and for terms that are no number. */
function numberOfTerm(mapping: FieldMapping, term: string): number | undefined {
  if (mapping.type === 'date') return undefined
  if (mapping.type === 'boolean') return term === 'true' ? 1 : term === 'false' ? 0 : Number.NaN
  const value = term.trim() === '' ? Number.NaN : Number(term)
  return mapping.type === 'float' ? Math.fround(value) : value
}

/** Documents of a number column that hold the term; undefined when the column cannot tell. */
export function numberPostings(mapping: FieldMapping, column: Column | undefined, term: string): Uint32Array | undefined {
  const wanted = numberOfTerm(mapping, term)
  if (wanted === undefined || column?.kind !== 'number') return undefined
  const { values } = column
  const found = new Uint32Array(values.length)
  let count = 0
  for (let doc = 0; doc < values.length; doc++) if (values[doc] === wanted) found[count++] = doc
  return found.slice(0, count)
}

/** The column of a field that no document has. */
export function emptyColumn(kind: 'number' | 'keyword', size: number): Column {
  if (kind === 'number') return { kind, values: new Float64Array(size).fill(Number.NaN) }
  return { kind, codes: new Uint8Array(size), dictionary: [''] }
}
