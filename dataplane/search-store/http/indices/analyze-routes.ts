/** `_analyze`: what the standard analyzer makes of a text. */
import { tokens } from '../../analysis/standard-analyzer.ts'
import { ApiError, illegalArgument, unsupported, validationError } from '../../api-error.ts'
import { readString, readStrings, refuseUnknown } from '../../json/json-reader.ts'
import { classOf, findField } from '../../query/bind/field.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { type Call, type Route, routes } from '../route.ts'

const PARAMETERS = ['text', 'analyzer', 'field']

export const ANALYZE_ROUTES: readonly Route[] = routes(['GET', 'POST'], ['/_analyze', '/:index/_analyze'], PARAMETERS, analyze)

interface ShownToken {
  readonly token: string
  readonly start_offset: number
  readonly end_offset: number
  readonly type: string
  readonly position: number
}

/** Tokens of one answer, as in OpenSearch. */
const MAX_TOKENS = 10_000

const illegalState = (reason: string): ApiError => new ApiError(400, 'illegal_state_exception', reason)

/** Positions of several texts stand this far apart, as in a field with several values. */
const POSITION_GAP = 100

function analyze(call: Call): Reply {
  const body = call.json()
  refuseUnknown(body, '_analyze', ['text', 'analyzer', 'field', 'explain'])
  if (body['explain'] === true) throw unsupported('_analyze parameter [explain]')
  const given = body['text'] ?? call.query.get('text') ?? undefined
  if (given === undefined) throw validationError('text is missing')
  const texts = readStrings(given, 'text')
  if (texts.length > MAX_TOKENS) throw illegalArgument(`[text] may hold at most ${MAX_TOKENS} texts, found ${texts.length}`)
  if (isWhole(call, body['analyzer'] ?? call.query.get('analyzer'), body['field'] ?? call.query.get('field')))
    return ok({
      tokens: texts.map((text, position) => ({ token: text, start_offset: 0, end_offset: text.length, type: 'word', position })),
    })
  const shown: ShownToken[] = []
  let position = 0
  let offset = 0
  for (const text of texts) {
    for (const { term, start, end } of tokens(text)) {
      if (shown.length === MAX_TOKENS)
        throw illegalState(
          `The number of tokens produced by calling _analyze has exceeded the allowed maximum of [${MAX_TOKENS}]. ` +
            'This limit can be set by changing the [index.analyze.max_token_count] index level setting.',
        )
      shown.push({
        token: term,
        start_offset: offset + start,
        end_offset: offset + end,
        type: typeOfToken(term),
        position: position++,
      })
    }
    offset += text.length + 1
    position += POSITION_GAP
  }
  return ok({ tokens: shown })
}

/** Types of tokens of one script, and of those without letters, as the standard tokenizer names them. */
const TOKEN_TYPES: readonly (readonly [type: string, RegExp])[] = [
  ['<IDEOGRAPHIC>', /^\p{Script=Han}/u],
  ['<HIRAGANA>', /^\p{Script=Hiragana}/u],
  ['<KATAKANA>', /^[\p{Script=Katakana}ー]+$/u],
  ['<HANGUL>', /^\p{Script=Hangul}+$/u],
  ['<SOUTHEAST_ASIAN>', /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u],
  ['<EMOJI>', /^\p{Extended_Pictographic}/u],
  ['<NUM>', /^\P{Letter}+$/u],
]

const typeOfToken = (term: string): string => TOKEN_TYPES.find(([, form]) => form.test(term))?.[0] ?? '<ALPHANUM>'

/** Whether the text stays one token: the keyword analyzer, or a field that is not text. */
function isWhole(call: Call, analyzer: unknown, field: unknown): boolean {
  if (analyzer !== undefined && analyzer !== null) {
    const name = readString(analyzer, 'analyzer')
    if (name !== 'standard' && name !== 'default' && name !== 'keyword') throw unsupported(`analyzer [${name}]`)
    return name === 'keyword'
  }
  if (field === undefined || field === null || call.path['index'] === undefined) return false
  const found = findField(call.deps.catalog.readTarget(call.path['index']).storage.mapping, readString(field, 'field'))
  return found !== undefined && classOf(found) !== 'text'
}
