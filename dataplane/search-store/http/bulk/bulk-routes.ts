/** `_bulk`: many writes in one request, grouped by index, each with an answer of its own. */

import { IDS_TELL_TIMES, IDS_TELL_TIMES_HEADER } from '../../../bulk-port/ids-tell-times.ts'
import { unsupported } from '../../api-error.ts'
import { words } from '../../json/json-reader.ts'
import { parseFilterPath } from '../answer/filter-path.ts'
import { noRoomForAnswer } from '../answer/held-answers.ts'
import type { Reply } from '../answer/reply.ts'
import { isForcedRefresh } from '../documents/write-request.ts'
import { booleanParameter, NODE_PARAMETERS, tookSince } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'
import { applyBulk } from './apply-bulk.ts'
import { BulkAnswer } from './bulk-answer.ts'
import { BulkReader, readBulk } from './bulk-request.ts'

const PARAMETERS = [
  ...NODE_PARAMETERS,
  ...words('refresh require_alias _source _source_includes _source_excludes pipeline batch_size type'),
]

export const BULK_ROUTES: readonly Route[] = routes(['POST', 'PUT'], ['/_bulk', '/:index/_bulk'], PARAMETERS, bulk, 'documents')

/** Size of an item in the answer to a large bulk, bytes, about. */
const ANSWER_ITEM_BYTES = 256

async function bulk(call: Call): Promise<Reply> {
  const startMs = performance.now()
  if (call.query.has('pipeline')) throw unsupported('parameter [pipeline]')
  const forcedRefresh = isForcedRefresh(call.query)
  const filter = parseFilterPath(call.query.get('filter_path'))
  const defaults = {
    index: call.path['index'],
    requireAlias: booleanParameter(call.query, 'require_alias'),
    idsTellTimes: call.headers[IDS_TELL_TIMES_HEADER] === IDS_TELL_TIMES,
  }
  const reader = new BulkReader(call.body, defaults)
  const { portion, count } = await readBulk(reader, call.memory)
  const answer = new BulkAnswer(filter, forcedRefresh)
  const isLarge = count > portion.length
  // Before anything is written: afterwards no answer is refused.
  if (isLarge && !call.answerMemory.take(count * ANSWER_ITEM_BYTES)) throw noRoomForAnswer()
  for (let items = portion; items.length > 0; items = await reader.next())
    await answer.add(items, await applyBulk(call.deps.catalog, items))
  if (isLarge) call.answerMemory.giveBack(Math.max(0, count * ANSWER_ITEM_BYTES - answer.bytes))
  return answer.reply(tookSince(startMs))
}
