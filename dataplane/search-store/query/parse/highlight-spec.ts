/** The `highlight` member of a search. */
import { refusedByShards, unsupported } from '../../api-error.ts'
import {
  type JsonObject,
  readBoolean,
  readInteger,
  readObject,
  readString,
  readStrings,
  refuseUnknown,
  words,
} from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'

export interface HighlightField {
  /** A field name, or a pattern with `*`. */
  readonly pattern: string
  readonly preTag: string
  readonly postTag: string
  /** In characters; at most about. */
  readonly fragmentSize: number
  /** 0: the whole value. */
  readonly fragments: number
  /** Mark words of queries on this field alone. */
  readonly requireFieldMatch: boolean
}

export type HighlightSpec = readonly HighlightField[]

const OPTIONS = words(`
  pre_tags post_tags fragment_size number_of_fragments require_field_match type order encoder no_match_size fragmenter
  boundary_scanner boundary_max_scan boundary_chars boundary_scanner_locale max_analyzer_offset phrase_limit
`)

export function parseHighlight(value: unknown): HighlightSpec {
  const content = readObject(value, 'highlight')
  refuseUnknown(content, 'highlight', [...OPTIONS, 'fields', 'tags_schema'])
  if (content['tags_schema'] !== undefined && content['tags_schema'] !== 'default') throw unsupported('[highlight] parameter [tags_schema]')
  const given = content['fields'] ?? []
  const fields = Array.isArray(given) ? given : [given]
  return fields.flatMap(item =>
    Object.entries(readObject(item, 'highlight.fields')).map(([pattern, options]) => {
      const own = readObject(options, `highlight.fields.${pattern}`)
      refuseUnknown(own, `highlight.fields.${pattern}`, OPTIONS)
      return fieldOf(pattern, { ...content, ...own })
    }),
  )
}

const HIGHLIGHTERS = new Set(['unified', 'plain', 'fvh'])

function fieldOf(pattern: string, options: JsonObject): HighlightField {
  if (options['encoder'] !== undefined && options['encoder'] !== 'default') throw unsupported('[highlight] parameter [encoder]')
  if (Number(textOf(options['no_match_size'] ?? 0)) !== 0) throw unsupported('[highlight] parameter [no_match_size]')
  const tag = (key: string, otherwise: string): string =>
    options[key] === undefined ? otherwise : (readStrings(options[key], `highlight.${key}`)[0] ?? otherwise)
  const type = options['type'] === undefined ? 'unified' : readString(options['type'], 'highlight.type')
  if (!HIGHLIGHTERS.has(type)) throw refusedByShards(`unknown highlighter type [${type}] for the field [${pattern}]`)
  return {
    pattern,
    preTag: tag('pre_tags', '<em>'),
    postTag: tag('post_tags', '</em>'),
    fragmentSize:
      options['fragment_size'] === undefined
        ? 100
        : Math.min(1_000_000, readInteger(options['fragment_size'], 'highlight.fragment_size', 0, 2 ** 31 - 1)),
    fragments:
      options['number_of_fragments'] === undefined
        ? 5
        : readInteger(options['number_of_fragments'], 'highlight.number_of_fragments', 0, 1000),
    requireFieldMatch:
      options['require_field_match'] === undefined || readBoolean(options['require_field_match'], 'highlight.require_field_match'),
  }
}
