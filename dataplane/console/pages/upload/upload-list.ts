/** The files of the upload page and how far each is: a reducer, without the sending itself. */
import type { Problem } from '../../api/problem.ts'
import type { UploadAnswer } from '../../api/upload.ts'

export interface ChosenFile {
  readonly id: number
  /** Whose records they become; undefined: those of the collector's own tenant. */
  readonly tenant: string | undefined
  readonly name: string
  readonly bytes: number
}

export interface UploadItem extends ChosenFile {
  readonly state:
    | { readonly kind: 'waiting' }
    | { readonly kind: 'sending'; readonly share: number }
    | { readonly kind: 'done'; readonly answer: UploadAnswer }
    | { readonly kind: 'failed'; readonly problem: Problem }
    | { readonly kind: 'stopped' }
}

export type UploadEvent =
  | { readonly kind: 'added'; readonly files: readonly ChosenFile[] }
  | { readonly kind: 'changed'; readonly id: number; readonly state: UploadItem['state'] }
  | { readonly kind: 'cleared' }

/** The newest first. */
export function reduceUploads(items: readonly UploadItem[], event: UploadEvent): readonly UploadItem[] {
  switch (event.kind) {
    case 'added':
      return [...event.files.map(file => ({ ...file, state: { kind: 'waiting' } as const })), ...items]
    case 'changed':
      return items.map(item => (item.id === event.id ? { ...item, state: event.state } : item))
    case 'cleared':
      return items.filter(({ state }) => state.kind === 'waiting' || state.kind === 'sending')
  }
}

/** The one to send now: the oldest that waits, once nothing is under way. */
export function nextUpload(items: readonly UploadItem[]): UploadItem | undefined {
  return items.some(({ state }) => state.kind === 'sending') ? undefined : items.findLast(({ state }) => state.kind === 'waiting')
}

/** How a file ended that was read to its end. */
export function sayOutcome({ accepted, rejected }: UploadAnswer): { readonly tone: 'good' | 'warn' | 'bad'; readonly text: string } {
  if (rejected === 0) return { tone: 'good', text: 'sent' }
  return accepted > 0 ? { tone: 'warn', text: 'sent in part' } : { tone: 'bad', text: 'refused' }
}
