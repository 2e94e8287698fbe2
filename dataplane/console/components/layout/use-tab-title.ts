import { useEffect } from 'react'
import { visibleText } from '../text/visible-text.ts'

/** Names the browser's tab for what a page shows: several incidents stand open in tabs at once. Undefined: the page has the name of its kind alone. */
export function useTabTitle(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return
    const ofPage = document.title
    const own = `${visibleText(name)} · ${ofPage}`
    document.title = own
    return () => {
      // Another page has named the tab already.
      if (document.title === own) document.title = ofPage
    }
  }, [name])
}
