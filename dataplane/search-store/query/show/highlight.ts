/** Marks the words of a hit that the query asked for. */

import { normalized } from '../../analysis/normalizers.ts'
import { tokens } from '../../analysis/standard-analyzer.ts'
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument } from '../../api-error.ts'
import { firstAtLeast } from '../../first-at-least.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Condition } from '../bind/condition.ts'
import { aliasesOf, classOf, eachText, type Field, findField } from '../bind/field.ts'
import type { QueryMemory } from '../budget/query-memory.ts'
import { spendWork } from '../budget/work-in-hand.ts'
import type { HighlightField, HighlightSpec } from '../parse/highlight-spec.ts'
import { phrasePlaces } from '../run/phrase-places.ts'
import { passagesOf, type Span } from './passages.ts'

type Marker = Extract<Condition, { op: 'terms' | 'phrase' | 'pattern' }>

/** Field → fragments, for the fields where something is to be marked. */
export function highlightDocument(
  spec: HighlightSpec,
  condition: Condition,
  mapping: IndexMapping,
  source: unknown,
  memory: QueryMemory,
): Record<string, readonly string[]> {
  const markers = [...markersOf(condition)]
  const shown = new Map<string, readonly string[]>()
  for (const wanted of spec)
    for (const { path, field } of fieldsFor(wanted, markers, mapping)) {
      const own = wanted.requireFieldMatch ? markers.filter(marker => marker.field.path === field.path) : markers
      const fragments = fragmentsOf(field, own, wanted, source, memory)
      if (fragments.length > 0) shown.set(path, fragments)
    }
  return Object.fromEntries(shown)
}

/** The words that the condition asks for, without those that it excludes. */
function* markersOf(condition: Condition): Generator<Marker> {
  switch (condition.op) {
    case 'and':
    case 'or':
      for (const each of condition.of) yield* markersOf(each)
      break
    case 'scored':
      yield* markersOf(condition.of)
      break
    case 'terms':
    case 'phrase':
    case 'pattern':
      yield condition
      break
    default:
  }
}

/** A field under the name that was asked for. */
interface NamedField {
  readonly path: string
  readonly field: Field
}

function fieldsFor(
  { pattern, requireFieldMatch }: HighlightField,
  markers: readonly Marker[],
  mapping: IndexMapping,
): readonly NamedField[] {
  const names = wildcardPattern(pattern)
  const named = (): Iterable<string> => {
    if (!requireFieldMatch) return mapping.paths()
    const marked = new Set(markers.map(marker => marker.field.path))
    return [...marked, ...aliasesOf(mapping).filter(path => marked.has(findField(mapping, path)!.path))]
  }
  const paths = pattern.includes('*') ? new Set([...named()].filter(path => names.test(path))) : [pattern]
  return [...paths].flatMap(path => {
    const field = findField(mapping, path)
    return field !== undefined && (classOf(field) === 'text' || classOf(field) === 'keyword') ? [{ path, field }] : []
  })
}

/** Longest text whose words are marked (`index.highlight.max_analyzer_offset`), UTF-16 units. */
const MAX_ANALYZED_OFFSET = 1_000_000

function checkOffset(field: Field, text: string): void {
  if (text.length > MAX_ANALYZED_OFFSET)
    throw illegalArgument(
      `The length [${text.length}] of field [${field.path}] in a document has exceeded [${MAX_ANALYZED_OFFSET}] - maximum allowed to be analyzed for highlighting. ` +
        'This maximum can be set by changing the [index.highlight.max_analyzer_offset] index level setting.',
    )
}

function fragmentsOf(
  field: Field,
  markers: readonly Marker[],
  wanted: HighlightField,
  source: unknown,
  memory: QueryMemory,
): readonly string[] {
  const fragments: string[] = []
  eachText(field, source, given => {
    const text = normalized(given, field.normalizer)
    if (text === '' || markers.length === 0 || isEnough(fragments, wanted)) return
    checkOffset(field, text)
    const spans = classOf(field) === 'text' ? spansInText(text, markers) : wholeValueSpans(text, field, markers)
    if (spans.length === 0) return
    const starts = spans.map(span => span.start)
    const parts = wanted.fragments === 0 ? [{ start: 0, end: text.length }] : passagesOf(text, starts, wanted.fragmentSize)
    for (const part of parts) {
      if (isEnough(fragments, wanted)) return
      fragments.push(marked(text, part, spans, starts, wanted, memory))
    }
  })
  return fragments
}

function isEnough(fragments: readonly string[], wanted: HighlightField): boolean {
  return wanted.fragments > 0 && fragments.length >= wanted.fragments
}

function wholeValueSpans(text: string, { ignoreAbove }: Field, markers: readonly Marker[]): readonly Span[] {
  if (text.length > ignoreAbove) return []
  const isMarked = markers.some(marker =>
    marker.op === 'terms' ? marker.terms.has(text) : marker.op === 'pattern' && marker.pattern.test(text),
  )
  return isMarked ? [{ start: 0, end: text.length }] : []
}

function spansInText(text: string, markers: readonly Marker[]): readonly Span[] {
  const list = [...tokens(text)]
  const terms = list.map(token => token.term)
  const chosen = new Set<number>()
  const words = new Set(markers.flatMap(marker => (marker.op === 'terms' ? [...marker.terms] : [])))
  for (const [at, term] of terms.entries()) if (words.has(term)) chosen.add(at)
  spendWork(text.length)
  for (const marker of markers) {
    if (marker.op === 'phrase') {
      for (const places of phrasePlaces(terms, marker.words, marker.slop, marker.lastIsPrefix))
        for (const place of places) chosen.add(place)
    } else if (marker.op === 'pattern') for (const [at, term] of terms.entries()) if (marker.pattern.test(term)) chosen.add(at)
  }
  return [...chosen].sort((a, b) => a - b).map(at => list[at]!)
}

function marked(
  text: string,
  part: Span,
  spans: readonly Span[],
  starts: readonly number[],
  wanted: HighlightField,
  memory: QueryMemory,
): string {
  let result = ''
  memory.charge(2 * (part.end - part.start), 'fewer highlights')
  let at = part.start
  for (let k = firstAtLeast(starts, part.start); k < spans.length; k++) {
    const span = spans[k]!
    if (span.start >= part.end) break
    // The last one may reach beyond the passage: it is shown whole.
    memory.charge(2 * (wanted.preTag.length + wanted.postTag.length), 'fewer highlights, or shorter tags')
    result += text.slice(at, span.start) + wanted.preTag + text.slice(span.start, span.end) + wanted.postTag
    at = span.end
  }
  return (result + text.slice(at, part.end)).trim()
}
