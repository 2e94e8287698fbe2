/** `_rollover`: an alias or a data stream goes on in a new index once the one that is written to is old or large enough. */
import { ApiError, illegalArgument } from '../../api-error.ts'
import type { AliasConfig } from '../../catalog/alias.ts'
import type { Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { backingIndexName, type DataStream } from '../../catalog/data-stream.ts'
import { checkIndexName } from '../../catalog/index-name.ts'
import { type IndexBlueprint, parseBlueprint } from '../../catalog/template.ts'
import { parseDurationMs } from '../../dates/time-value.ts'
import { type JsonObject, readInteger, readObject, refuseUnknown } from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { showBytes } from '../answer/show-bytes.ts'
import { didYouMean } from '../request/did-you-mean.ts'
import { booleanParameter, NODE_PARAMETERS } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

export const ROLLOVER_ROUTES: readonly Route[] = routes(
  ['POST'],
  ['/:index/_rollover', '/:index/_rollover/:new'],
  [...NODE_PARAMETERS, 'dry_run'],
  rollOver,
)

/** The index that is written to, the name of the next one, and how that is made. */
interface Rollover {
  readonly from: CatalogIndex
  readonly to: string
  make(asked: IndexBlueprint): Promise<unknown>
}

async function rollOver(call: Call): Promise<Reply> {
  const { catalog, clock } = call.deps
  const body = call.json()
  refuseUnknown(body, 'rollover', ['conditions', 'settings', 'mappings', 'aliases'])
  const asked = parseBlueprint(body)
  const name = call.path['index']!
  const stream = catalog.stream(name)
  const { from, to, make } =
    stream === undefined ? aliasRollover(catalog, name, call.path['new']) : streamRollover(catalog, stream, body, call.path['new'])
  const conditions = conditionsOf(readObject(body['conditions'] ?? {}, 'conditions'), from, clock.nowMs())
  const isDryRun = booleanParameter(call.query, 'dry_run')
  const isMet = [...conditions.values()]
  const isDone = !isDryRun && (isMet.length === 0 || isMet.includes(true))
  if (isDone) await make(asked)
  return ok({
    acknowledged: isDone,
    shards_acknowledged: isDone,
    old_index: from.name,
    new_index: to,
    rolled_over: isDone,
    dry_run: isDryRun,
    conditions: Object.fromEntries(conditions),
  })
}

function streamRollover(catalog: Catalog, { name, indices, generation }: DataStream, body: JsonObject, to: string | undefined): Rollover {
  if (to !== undefined) throw illegalArgument('new index name may not be specified when rolling over a data stream')
  if (['settings', 'mappings', 'aliases'].some(key => body[key] !== undefined))
    throw illegalArgument('aliases, mappings, and index settings may not be specified when rolling over a data stream')
  return {
    from: catalog.find(indices.at(-1)!)!,
    to: backingIndexName(name, generation + 1),
    make: () => catalog.rollOverStream(name),
  }
}

function aliasRollover(catalog: Catalog, alias: string, given: string | undefined): Rollover {
  if (!catalog.isAlias(alias))
    throw illegalArgument(
      catalog.find(alias) === undefined
        ? `rollover target [${alias}] does not exist`
        : 'rollover target is a [concrete index] but one of [alias,data_stream] was expected',
    )
  const from = catalog.writeIndexOf(alias)
  if (from === undefined) throw illegalArgument(`rollover target [${alias}] does not point to a write index`)
  const to = catalog.dated(given ?? nextName(from))
  checkIndexName(to)
  if (catalog.has(to)) throw catalog.isTaken(to)
  const config = from.aliases.get(alias)!
  return {
    from,
    to,
    async make(asked) {
      await catalog.create(given ?? nextName(from), asked)
      await moveAlias(catalog, alias, config, from.name, to)
    },
  }
}

/** An alias that says which index it writes to keeps the old ones for reading; any other goes over to the new index alone. */
function moveAlias(catalog: Catalog, alias: string, config: AliasConfig, from: string, to: string): void | Promise<void> {
  const { is_write_index: isExplicit, ...plain } = config
  return catalog.changeAliases([
    isExplicit === true
      ? { action: 'add', index: from, alias, config: { ...plain, is_write_index: false } }
      : { action: 'remove', index: from, alias, config },
    { action: 'add', index: to, alias, config },
  ])
}

const NUMBERED = /^(.*-)(\d+)(>?)$/
const DIGITS = 6

/** The name as it was given, with date math, and the number after it. */
function nextName({ providedName, name }: CatalogIndex): string {
  const given = providedName ?? name
  const [, start, number, end] = NUMBERED.exec(given) ?? []
  if (number === undefined) throw illegalArgument(`index name [${given}] does not match pattern '^.*-\\d+$'`)
  return `${start}${String(Number(number) + 1).padStart(DIGITS, '0')}${end}`
}

interface Condition {
  /** How the answer shows the value. */
  readonly shown: string
  readonly isMet: boolean
}

const CONDITIONS: ReadonlyMap<string, (value: unknown, index: CatalogIndex, nowMs: number) => Condition> = new Map([
  [
    'max_docs',
    (value, { storage }) => {
      const count = readInteger(value, 'max_docs', 0)
      return { shown: String(count), isMet: storage.docCount >= count }
    },
  ],
  [
    'max_age',
    (value, { createdAtMs }, nowMs) => ({ shown: textOf(value).trim(), isMet: nowMs - createdAtMs >= parseDurationMs(value, 'max_age') }),
  ],
  [
    'max_size',
    (value, { storage }) => {
      const bytes = parseBytes(value, 'max_size')
      return { shown: showBytes(bytes, NO_PARAMETERS), isMet: storage.sizeBytes >= bytes }
    },
  ],
])

const NO_PARAMETERS = new URLSearchParams()

const SIZE = /^(\d{1,15})(b|k|kb|m|mb|g|gb|t|tb|p|pb)$/
const UNITS = 'bkmgtp'

function parseBytes(value: unknown, where: string): number {
  const [, count, unit] = SIZE.exec(textOf(value).trim().toLowerCase()) ?? []
  if (count === undefined)
    throw illegalArgument(
      `failed to parse setting [${where}] with value [${textOf(value)}] as a size in bytes: unit is missing or unrecognized`,
    )
  return Number(count) * 1024 ** UNITS.indexOf(unit![0]!)
}

/** By their names as the answer has them, in brackets with their values. */
function conditionsOf(given: JsonObject, index: CatalogIndex, nowMs: number): ReadonlyMap<string, boolean> {
  return new Map(
    Object.entries(given).map(([name, value]) => {
      const condition = CONDITIONS.get(name)
      if (condition === undefined)
        throw new ApiError(
          400,
          'x_content_parse_exception',
          `[conditions] unknown field [${name}]${didYouMean(name, [...CONDITIONS.keys()])}`,
        )
      const { shown, isMet } = condition(value, index, nowMs)
      return [`[${name}: ${shown}]`, isMet]
    }),
  )
}
