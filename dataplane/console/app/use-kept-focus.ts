/** Keeps the focus near where it was: the row of a key that was revoked goes from the page, and Tab would begin at the top of it again. */
import { useEffect } from 'react'

/** Parts of a page that may take it, the closest first. */
const PLACES = 'section, article, form, aside, main, [role=dialog]'
/** Dialogs and menus that close give the focus back by themselves within that time. */
const PATIENCE_MS = 60

interface Focused {
  readonly element: Element
  /** Around the element, the closest first. */
  readonly places: readonly HTMLElement[]
}

/** Listens on the whole page; called once, by the shell. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Focused | undefined
    let inPage: readonly HTMLElement[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const remember = ({ target }: FocusEvent) => {
      clearTimeout(timer)
      if (!(target instanceof Element)) return
      const places = placesAround(target)
      if (target.closest('main') !== null) inPage = places
      // Dialogs stand beside the page: they were opened from the place before.
      last = { element: target, places: places === inPage ? places : [...places, ...inPage] }
    }
    // An element that is left on purpose is still there a moment later.
    const leave = () =>
      queueMicrotask(() => {
        if (isNowhere() && last?.element.isConnected === true) last = undefined
      })
    const look = () => {
      if (last === undefined || last.element.isConnected || !isNowhere()) return
      const { places } = last
      last = undefined
      timer = setTimeout(() => isNowhere() && focusOn(places.find(place => place.isConnected)), PATIENCE_MS)
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', remember)
    document.addEventListener('focusout', leave)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
      document.removeEventListener('focusin', remember)
      document.removeEventListener('focusout', leave)
    }
  }, [])
}

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body

function placesAround(element: Element): readonly HTMLElement[] {
  const places: HTMLElement[] = []
  for (let at = element.parentElement?.closest(PLACES); at != null; at = at.parentElement?.closest(PLACES)) places.push(at as HTMLElement)
  return places
}

/** Elements that take no focus by themselves take it this once. */
function focusOn(place: HTMLElement | undefined): void {
  if (place === undefined) return
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true })
  }
  place.focus({ preventScroll: true })
}
