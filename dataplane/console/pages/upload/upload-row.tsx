/** One file: how far it is, what was refused of it, and the way to its records. */

import { Button, Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { searchLogs } from '../../api/search.ts'
import type { UploadAnswer } from '../../api/upload.ts'
import { Pill } from '../../components/badges/badges.tsx'
import { formatBytes, formatCount, formatShare } from '../../components/format.ts'
import { ForeignText, VisibleText } from '../../components/text/foreign-text.tsx'
import { visibleText } from '../../components/text/visible-text.ts'
import { useLink } from '../../url-state/links.ts'
import styles from './upload.module.css'
import { sayOutcome, type UploadItem } from './upload-list.ts'

export function UploadRow({ item: { name, bytes, state }, onStop }: { readonly item: UploadItem; readonly onStop: () => void }) {
  return (
    <li className={styles.item}>
      <div className={styles.line}>
        <strong>
          <ForeignText text={name} />
        </strong>
        <span className={styles.faint}>{formatBytes(bytes)}</span>
        <span className={styles.end}>
          <StateOf state={state} />
          {(state.kind === 'waiting' || state.kind === 'sending') && (
            <Button size="compact-xs" variant="default" onClick={onStop} aria-label={visibleText(`Stop ${name}`)}>
              Stop
            </Button>
          )}
        </span>
      </div>
      {state.kind === 'sending' && <Progress value={state.share * 100} aria-label={visibleText(`${name} sent`)} />}
      {state.kind === 'failed' && (
        <p className={styles.bad} role="alert">
          {state.problem.message} {state.problem.whatToDo}
        </p>
      )}
      {state.kind === 'done' && <Result answer={state.answer} />}
    </li>
  )
}

function StateOf({ state }: Pick<UploadItem, 'state'>) {
  switch (state.kind) {
    case 'waiting':
      return <Pill tone="neutral">waits</Pill>
    case 'sending':
      return <Pill tone="info">{state.share < 1 ? `${formatShare(state.share)} sent` : 'being read'}</Pill>
    case 'failed':
      return <Pill tone="bad">not sent</Pill>
    case 'stopped':
      return <Pill tone="warn">stopped</Pill>
    case 'done': {
      const { tone, text } = sayOutcome(state.answer)
      return <Pill tone={tone}>{text}</Pill>
    }
  }
}

const POLL_MS = 1_000
const MAX_POLLS = 60

/** The first and last time of the batch, asked until all its records can be found. */
function useBatch({ batchId, accepted }: UploadAnswer) {
  return useQuery({
    queryKey: ['batch', batchId],
    meta: { quiet: true },
    async queryFn({ signal }) {
      const aggs = { first: { min: { field: 'timestamp' } }, last: { max: { field: 'timestamp' } } }
      const answer = await searchLogs({ size: 0, track_total_hits: true, query: { term: { batch_id: batchId } }, aggs }, signal)
      const timeOf = (name: 'first' | 'last') =>
        (answer.aggregations?.[name] as { readonly value: number | null } | undefined)?.value ?? null
      return { found: answer.hits.total.value, firstMs: timeOf('first'), lastMs: timeOf('last') }
    },
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      (data?.found ?? 0) >= accepted || dataUpdateCount > MAX_POLLS ? false : POLL_MS,
  })
}

function Result({ answer }: { readonly answer: UploadAnswer }) {
  const { batchId, accepted, rejected, errors } = answer
  const { data } = useBatch(answer)
  const link = useLink()
  const iso = (ms: number) => new Date(ms).toISOString()
  return (
    <>
      <p className={styles.faint}>
        {formatCount(accepted)} {accepted === 1 ? 'record' : 'records'} taken
        {rejected > 0 && `, ${formatCount(rejected)} refused`}
        {accepted > 0 &&
          (data?.firstMs == null || data.lastMs == null ? (
            '. They are on their way to the store …'
          ) : (
            <>
              {'. '}
              <Link
                href={link('/logs', { q: `batch_id:${batchId}`, range: undefined, from: iso(data.firstMs), to: iso(data.lastMs + 1_000) })}
              >
                {data.found < accepted ? `See the first ${formatCount(data.found)}` : accepted === 1 ? 'See it' : 'See them'}
              </Link>
            </>
          ))}
      </p>
      {errors.length > 0 && (
        <ol className={styles.errors} aria-label="Refused lines">
          {errors.map(({ line, error }) => (
            <li key={`${line} ${error}`}>
              <span>line {formatCount(line)}</span> <VisibleText text={error} />
            </li>
          ))}
          {rejected > errors.length && <li>and {formatCount(rejected - errors.length)} more</li>}
        </ol>
      )}
    </>
  )
}
