/** The clipboard, also where the console is served over plain HTTP: browsers have none for scripts there. */
import { notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'

/** Rejects where the browser refuses. */
export async function copyText(text: string): Promise<void> {
  // Types say that it is always there.
  const clipboard = navigator.clipboard as Clipboard | undefined
  try {
    if (clipboard !== undefined) return await clipboard.writeText(text)
  } catch {
    // The page has no permission; the command needs none.
  }
  if (!copyByCommand(text)) throw new Error('the browser refuses to copy')
}

/** The command of old, which is all that a page without TLS has. Copies a selection: an element that is there for this moment. */
function copyByCommand(text: string): boolean {
  const element = document.createElement('span')
  element.textContent = text
  element.style.cssText = 'position:fixed;white-space:pre;clip-path:inset(50%);user-select:text'
  const onCopy = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
  }
  document.body.append(element)
  document.addEventListener('copy', onCopy)
  const selection = window.getSelection()
  try {
    selection?.selectAllChildren(element)
    return document.execCommand('copy')
  } finally {
    selection?.removeAllRanges()
    document.removeEventListener('copy', onCopy)
    element.remove()
  }
}

/** How long a button says that it has copied. */
const COPIED_MS = 2_000

export interface Copying {
  readonly isCopied: boolean
  copy(text: string): void
}

/** Says so where nothing was copied. */
export function useCopy(): Copying {
  const [copies, setCopies] = useState(0)
  useEffect(() => {
    if (copies === 0) return
    const timer = setTimeout(() => setCopies(0), COPIED_MS)
    return () => clearTimeout(timer)
  }, [copies])
  const copy = (text: string) =>
    void copyText(text).then(
      () => setCopies(count => count + 1),
      () =>
        notifications.show({ color: 'red', title: 'Not copied', message: 'The browser refuses. Select the text and copy it by its menu.' }),
    )
  return { isCopied: copies > 0, copy }
}
