/** The uploads of the console: one after the other, also while another page is open, each for the tenant that it was begun for. */
import { notifications } from '@mantine/notifications'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useReducer, useRef } from 'react'
import { problemOf } from '../../api/problem.ts'
import { uploadFile } from '../../api/upload.ts'
import { formatCount } from '../../components/format.ts'
import { visibleText } from '../../components/text/visible-text.ts'
import { BASE_PATH } from '../../url-state/base-path.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { nextUpload, reduceUploads, sayOutcome, type UploadItem } from './upload-list.ts'

export interface Uploads {
  readonly items: readonly UploadItem[]
  add(files: readonly File[]): void
  stop(id: number): void
  clear(): void
}

const PATH = '/upload'

const UploadsContext = createContext<Uploads | undefined>(undefined)

/** The uploads of the tenant that the page looks at. */
export function useUploads(): Uploads {
  const uploads = useContext(UploadsContext)
  if (uploads === undefined) throw new Error('uploads: expected an UploadsProvider around the page, found none')
  const tenant = parseTenant(useSearch())
  return useMemo(() => ({ ...uploads, items: uploads.items.filter(item => item.tenant === tenant) }), [uploads, tenant])
}

export function UploadsProvider({ children }: { readonly children: ReactNode }) {
  const [items, dispatch] = useReducer(reduceUploads, [])
  const files = useRef(new Map<number, File>())
  const underWay = useRef(new Map<number, AbortController>())
  const lastId = useRef(0)

  const next = nextUpload(items)
  useEffect(() => {
    const file = next === undefined ? undefined : files.current.get(next.id)
    if (next === undefined || file === undefined) return
    const { id, name, tenant } = next
    const change = (state: UploadItem['state']) => dispatch({ kind: 'changed', id, state })
    const end = (state: UploadItem['state']) => {
      change(state)
      if (window.location.pathname !== BASE_PATH + PATH) tellEnd(name, state)
    }
    const controller = new AbortController()
    underWay.current.set(id, controller)
    files.current.delete(id)
    change({ kind: 'sending', share: 0 })
    uploadFile(file, { tenant, signal: controller.signal, onProgress: share => change({ kind: 'sending', share }) })
      .then(answer => end({ kind: 'done', answer }))
      .catch(error => (controller.signal.aborted ? change({ kind: 'stopped' }) : end({ kind: 'failed', problem: problemOf(error) })))
      .finally(() => underWay.current.delete(id))
  }, [next])

  useStayUntilDone(items.some(({ state: { kind } }) => kind === 'waiting' || kind === 'sending'))

  const add = useCallback((added: readonly File[]) => {
    const tenant = parseTenant(window.location.search)
    const numbered = added.map(file => ({ id: ++lastId.current, file }))
    for (const { id, file } of numbered) files.current.set(id, file)
    dispatch({ kind: 'added', files: numbered.map(({ id, file }) => ({ id, tenant, name: file.name, bytes: file.size })).reverse() })
  }, [])
  const stop = useCallback((id: number) => {
    const controller = underWay.current.get(id)
    if (controller !== undefined) return controller.abort()
    files.current.delete(id)
    dispatch({ kind: 'changed', id, state: { kind: 'stopped' } })
  }, [])
  const clear = useCallback(() => dispatch({ kind: 'cleared' }), [])
  const uploads = useMemo(() => ({ items, add, stop, clear }), [items, add, stop, clear])
  return <UploadsContext value={uploads}>{children}</UploadsContext>
}

/** The browser asks before it closes a window whose files are not sent yet. */
function useStayUntilDone(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isBusy])
}

/** For readers of another page. */
function tellEnd(fileName: string, state: UploadItem['state']): void {
  const name = visibleText(fileName)
  if (state.kind === 'failed') {
    const { message, whatToDo } = state.problem
    notifications.show({ color: 'red', title: `${name} is not sent`, message: `${message} ${whatToDo}`, autoClose: false })
  } else if (state.kind === 'done') {
    const { accepted, rejected } = state.answer
    const refused = rejected === 0 ? '' : `, ${formatCount(rejected)} refused`
    notifications.show({
      color: sayOutcome(state.answer).tone === 'good' ? 'teal' : 'yellow',
      message: `${name}: ${formatCount(accepted)} ${accepted === 1 ? 'record' : 'records'} taken${refused}`,
      autoClose: rejected === 0 ? 5_000 : 12_000,
    })
  }
}
