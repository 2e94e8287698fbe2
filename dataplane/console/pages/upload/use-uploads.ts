import { useCallback, useEffect, useReducer, useRef } from 'react'
import { problemOf } from '../../api/problem.ts'
import { uploadFile } from '../../api/upload.ts'
import { nextUpload, reduceUploads, type UploadItem } from './upload-list.ts'

export interface Uploads {
  readonly items: readonly UploadItem[]
  add(files: readonly File[]): void
  stop(id: number): void
  clear(): void
}

/** Sends files one after the other; what is under way ends with the page. */
export function useUploads(): Uploads {
  const [items, dispatch] = useReducer(reduceUploads, [])
  const files = useRef(new Map<number, File>())
  const underWay = useRef(new Map<number, AbortController>())
  const lastId = useRef(0)

  const next = nextUpload(items)
  useEffect(() => {
    const file = next === undefined ? undefined : files.current.get(next.id)
    if (next === undefined || file === undefined) return
    const { id } = next
    const change = (state: UploadItem['state']) => dispatch({ kind: 'changed', id, state })
    const controller = new AbortController()
    underWay.current.set(id, controller)
    files.current.delete(id)
    change({ kind: 'sending', share: 0 })
    uploadFile(file, { signal: controller.signal, onProgress: share => change({ kind: 'sending', share }) })
      .then(answer => change({ kind: 'done', answer }))
      .catch(error => change(controller.signal.aborted ? { kind: 'stopped' } : { kind: 'failed', problem: problemOf(error) }))
      .finally(() => underWay.current.delete(id))
  }, [next])

  const add = useCallback((added: readonly File[]) => {
    const numbered = added.map(file => ({ id: ++lastId.current, file }))
    for (const { id, file } of numbered) files.current.set(id, file)
    dispatch({ kind: 'added', files: numbered.map(({ id, file }) => ({ id, name: file.name, bytes: file.size })).reverse() })
  }, [])
  const stop = useCallback((id: number) => {
    const controller = underWay.current.get(id)
    if (controller !== undefined) return controller.abort()
    files.current.delete(id)
    dispatch({ kind: 'changed', id, state: { kind: 'stopped' } })
  }, [])
  const clear = useCallback(() => dispatch({ kind: 'cleared' }), [])
  return { items, add, stop, clear }
}
