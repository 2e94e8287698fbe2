/** Data streams: `_data_stream` makes, shows and deletes them. */
import { indexNotFound, unsupported } from '../../api-error.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { DataStream } from '../../catalog/data-stream.ts'
import { bestTemplate } from '../../catalog/template.ts'
import { acknowledged, ok, type Reply } from '../answer/reply.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS } from '../request/index-parameters.ts'
import { createNameMatcher } from '../request/name-matcher.ts'
import { type Call, type Route, routes } from '../route.ts'
import { statusOf } from './index-health.ts'

const PARAMETERS = [...INDEX_PARAMETERS, ...NODE_PARAMETERS]

export const DATA_STREAM_ROUTES: readonly Route[] = [
  ...routes(['GET'], ['/_data_stream/_stats', '/_data_stream/:name/_stats'], PARAMETERS, () => {
    throw unsupported('[_data_stream/_stats]')
  }),
  ...routes(['GET'], ['/_data_stream', '/_data_stream/:name'], PARAMETERS, show),
  ...routes(['PUT'], ['/_data_stream/:name'], PARAMETERS, create),
  ...routes(['DELETE'], ['/_data_stream/:name'], PARAMETERS, remove),
]

async function create({ path, deps }: Call): Promise<Reply> {
  await deps.catalog.createStream(path['name']!)
  return acknowledged()
}

/** Names have to be there, patterns may match nothing. */
function matching(catalog: Catalog, expression = '*'): readonly DataStream[] {
  const names = expression.split(',')
  const missing = names.find(name => !name.includes('*') && catalog.stream(name) === undefined)
  if (missing !== undefined) throw indexNotFound(missing)
  return catalog.streams.filter(({ name }) => createNameMatcher(names)(name))
}

function show({ path, deps: { catalog } }: Call): Reply {
  const shown = (stream: DataStream) => {
    const indices = stream.indices.map(name => catalog.find(name)!)
    return {
      name: stream.name,
      timestamp_field: { name: stream.timestampField },
      indices: indices.map(({ name, uuid }) => ({ index_name: name, index_uuid: uuid })),
      generation: stream.generation,
      status: statusOf(indices).toUpperCase(),
      template: bestTemplate(stream.name, catalog.templates)?.[0],
    }
  }
  return ok({ data_streams: matching(catalog, path['name']).map(shown) })
}

/** A name that is not there is deleted already. */
async function remove({ path, deps: { catalog } }: Call): Promise<Reply> {
  const isNamed = createNameMatcher(path['name']!.split(','))
  await catalog.deleteStreams(catalog.streams.map(({ name }) => name).filter(isNamed))
  return acknowledged()
}
