/** Marks the words of a hit that the query asked for. */
import { tokens } from '../analysis/standard-analyzer.ts'
import type { IndexMapping } from '../mapping/field-types.ts'
import type { Condition } from './condition.ts'
import { classOf, eachText, type Field, findField } from './field.ts'
import type { HighlightField, HighlightSpec } from './highlight-spec.ts'
import { passagesOf, type Span } from './passages.ts'
import { phrasePlaces } from './phrase-places.ts'
import { wildcardPattern } from './term-pattern.ts'

type Marker = Extract<Condition, { op: 'terms' | 'phrase' | 'pattern' }>

/** Field → fragments, for the fields where something is to be marked. */
export function highlightDocument(
  spec: HighlightSpec,
  condition: Condition,
  mapping: IndexMapping,
  source: unknown,
): Record<string, readonly string[]> {
  const markers = [...markersOf(condition)]
  const shown = new Map<string, readonly string[]>()
  for (const wanted of spec)
    for (const field of fieldsFor(wanted, markers, mapping)) {
      const own = wanted.requireFieldMatch ? markers.filter(marker => marker.field.path === field.path) : markers
      const fragments = fragmentsOf(field, own, wanted, source)
      if (fragments.length > 0) shown.set(field.path, fragments)
    }
  return Object.fromEntries(shown)
}

/** What the condition asks for; not what it excludes. */
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

function fieldsFor({ pattern, requireFieldMatch }: HighlightField, markers: readonly Marker[], mapping: IndexMapping): readonly Field[] {
  const names = wildcardPattern(pattern, false)
  const named = (): Iterable<string> => (requireFieldMatch ? markers.map(marker => marker.field.path) : mapping.paths())
  const paths = pattern.includes('*') ? new Set([...named()].filter(path => names.test(path))) : [pattern]
  return [...paths].flatMap(path => {
    const field = findField(mapping, path)
    return field !== undefined && (classOf(field) === 'text' || classOf(field) === 'keyword') ? [field] : []
  })
}

function fragmentsOf(field: Field, markers: readonly Marker[], wanted: HighlightField, source: unknown): readonly string[] {
  const fragments: string[] = []
  eachText(field, source, text => {
    if (text === '') return
    const spans = classOf(field) === 'text' ? spansInText(text, markers) : wholeValueSpans(text, field, markers)
    if (spans.length === 0) return
    for (const part of partsOf(text, spans, wanted)) fragments.push(marked(text, part, spans, wanted))
  })
  return wanted.fragments === 0 ? fragments : fragments.slice(0, wanted.fragments)
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
  for (const marker of markers) {
    if (marker.op === 'phrase') {
      for (const places of phrasePlaces(terms, marker.words, marker.slop, marker.lastIsPrefix))
        for (const place of places) chosen.add(place)
    } else
      list.forEach((token, at) => {
        if (marker.op === 'terms' ? marker.terms.has(token.term) : marker.pattern.test(token.term)) chosen.add(at)
      })
  }
  return [...chosen].sort((a, b) => a - b).map(at => list[at]!)
}

function partsOf(text: string, spans: readonly Span[], wanted: HighlightField): readonly Span[] {
  if (wanted.fragments === 0) return [{ start: 0, end: text.length }]
  return passagesOf(
    text,
    spans.map(span => span.start),
    wanted.fragmentSize,
  )
}

function marked(text: string, part: Span, spans: readonly Span[], wanted: HighlightField): string {
  let result = ''
  let at = part.start
  for (const span of spans) {
    if (span.start < part.start || span.end > part.end) continue
    result += text.slice(at, span.start) + wanted.preTag + text.slice(span.start, span.end) + wanted.postTag
    at = span.end
  }
  return (result + text.slice(at, part.end)).trim()
}
