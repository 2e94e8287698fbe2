/** Marks the words of a hit that the query asked for. */
import { type Token, tokens } from '../analysis/standard-analyzer.ts'
import type { IndexMapping } from '../mapping/field-types.ts'
import type { Condition } from './condition.ts'
import { classOf, eachText, type Field, findField } from './field.ts'
import type { HighlightField, HighlightSpec } from './highlight-spec.ts'
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
  const shown: Record<string, readonly string[]> = {}
  for (const wanted of spec)
    for (const field of fieldsFor(wanted.pattern, markers, mapping)) {
      const own = wanted.requireFieldMatch ? markers.filter(marker => marker.field.path === field.path) : markers
      const fragments = fragmentsOf(field, own, wanted, source)
      if (fragments.length > 0) shown[field.path] = fragments
    }
  return shown
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

function fieldsFor(pattern: string, markers: readonly Marker[], mapping: IndexMapping): readonly Field[] {
  const names = wildcardPattern(pattern, false)
  const paths = pattern.includes('*') ? new Set(markers.map(marker => marker.field.path).filter(path => names.test(path))) : [pattern]
  return [...paths].flatMap(path => {
    const field = findField(mapping, path)
    return field !== undefined && (classOf(field) === 'text' || classOf(field) === 'keyword') ? [field] : []
  })
}

interface Span {
  readonly start: number
  readonly end: number
}

function fragmentsOf(field: Field, markers: readonly Marker[], wanted: HighlightField, source: unknown): readonly string[] {
  const fragments: string[] = []
  eachText(field, source, text => {
    const spans = classOf(field) === 'text' ? spansInText(text, markers) : wholeValueSpans(text, markers)
    if (spans.length === 0) return
    for (const part of partsOf(text, spans, wanted)) fragments.push(marked(text, part, spans, wanted))
  })
  return wanted.fragments === 0 ? fragments : fragments.slice(0, wanted.fragments)
}

function wholeValueSpans(text: string, markers: readonly Marker[]): readonly Span[] {
  const isMarked = markers.some(marker =>
    marker.op === 'terms' ? marker.terms.has(text) : marker.op === 'pattern' && marker.pattern.test(text),
  )
  return isMarked ? [{ start: 0, end: text.length }] : []
}

function spansInText(text: string, markers: readonly Marker[]): readonly Span[] {
  const list = [...tokens(text)]
  const chosen = new Set<number>()
  for (const marker of markers) {
    if (marker.op === 'phrase') choosePhrase(list, marker, chosen)
    else
      list.forEach((token, at) => {
        if (marker.op === 'terms' ? marker.terms.has(token.term) : marker.pattern.test(token.term)) chosen.add(at)
      })
  }
  return [...chosen].sort((a, b) => a - b).map(at => list[at]!)
}

function choosePhrase(list: readonly Token[], marker: Extract<Marker, { op: 'phrase' }>, chosen: Set<number>): void {
  const { words, slop, lastIsPrefix } = marker
  const fits = (at: number, word: number): boolean => {
    const term = list[at]?.term
    return term !== undefined && (lastIsPrefix && word === words.length - 1 ? term.startsWith(words[word]!) : term === words[word])
  }
  list.forEach((_token, start) => {
    if (slop > 0) {
      if (words.some((_word, word) => fits(start, word))) chosen.add(start)
    } else if (words.every((_word, word) => fits(start + word, word))) for (const word of words.keys()) chosen.add(start + word)
  })
}

/** Stretches of the text that hold spans, cut at words, of about the wanted size. */
function partsOf(text: string, spans: readonly Span[], wanted: HighlightField): readonly Span[] {
  if (wanted.fragments === 0 || text.length <= wanted.fragmentSize) return [{ start: 0, end: text.length }]
  const parts: Span[] = []
  let covered = 0
  for (const span of spans) {
    if (span.start < covered) continue
    const slack = Math.max(0, wanted.fragmentSize - (span.end - span.start))
    const start = wordStart(text, Math.max(covered, span.start - Math.floor(slack / 2)), span.start)
    const end = wordEnd(text, Math.min(text.length, start + wanted.fragmentSize), span.end)
    parts.push({ start, end })
    covered = end
  }
  return parts
}

function wordStart(text: string, from: number, limit: number): number {
  if (from === 0 || from >= limit) return from
  const space = text.indexOf(' ', from - 1)
  return space < 0 || space >= limit ? from : space + 1
}

function wordEnd(text: string, to: number, limit: number): number {
  if (to >= text.length) return text.length
  const space = text.lastIndexOf(' ', to)
  return space < limit ? Math.max(to, limit) : space
}

function marked(text: string, part: Span, spans: readonly Span[], wanted: HighlightField): string {
  let result = ''
  let at = part.start
  for (const span of spans) {
    if (span.start < part.start || span.end > part.end) continue
    result += text.slice(at, span.start) + wanted.preTag + text.slice(span.start, span.end) + wanted.postTag
    at = span.end
  }
  return result + text.slice(at, part.end)
}
